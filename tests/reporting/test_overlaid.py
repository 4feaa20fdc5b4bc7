"""What a figure of an overlay says of its data and settings."""

from workflow.reporting.overlaid import EXCHANGED, caption_of_figure

OWN = {"data": [{"dataset": "sst"}, {"dataset": "own"}]}


class Of:
    """A measure of a run."""

    def __init__(self, variant: str) -> None:
        self.run = {"experiment": "e", "variant": variant}


def test_a_figure_of_an_overlay_names_its_data_and_what_it_changes():
    series = {"soft": [Of("a"), Of("a")], "hard": [Of("b")], "other": []}
    assert caption_of_figure("What it shows.", series, {}) == "What it shows."
    clipped = caption_of_figure("What it shows.", series, {"e/b": {"training.clip": [1, None]}})
    said = "The overlay changes training.clip from 1 to nothing in “hard”."
    assert clipped == f"What it shows. {said}"
    exchanged = caption_of_figure("What it shows.", series, {"e/a": OWN})
    assert exchanged.startswith(f"{EXCHANGED}; on other data: “soft” (own). The overlay changes da")
    assert "What it shows" not in exchanged
