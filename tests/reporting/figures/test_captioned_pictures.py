"""The figure of captioned pictures: which caption stands beside which picture."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace

import pytest
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from PIL import Image

from tests.reporting.figures.test_translation_figures import EMPTY, run_of, series
from workflow.reporting.figures.captioned_pictures import draw
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.style import grid, rendered, styled
from workflow.reporting.measures import EvaluatedRun

SHADES = (10, 200, 90)
REFERENCES = [f"Reference {n}.\tanother" for n in range(3)]


def picture(shade: int) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), (shade,) * 3).save(buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode()


def captioned(name: str, references: Sequence[str] = REFERENCES) -> EvaluatedRun:
    return run_of("scores", hypotheses=[f"{name} {n}" for n in range(3)], references=references)


def with_pictures(measure: EvaluatedRun, pictures: Sequence[str]) -> EvaluatedRun:
    names = [f"{n}.jpg" for n in range(len(pictures))]
    measure.evaluators["pictures"] = {"arrays": {"names": names, "pictures": pictures}}  # type: ignore[index]
    return measure


def shown(figure: Figure) -> list[tuple[int | None, str]]:
    """Return the shade of every picture and the text to its right, in the order of the picture."""
    axes = figure.axes
    found = []
    for left, right in zip(axes[::2], axes[1::2], strict=True):
        images = left.get_images()
        shade = int(255 * images[0].get_array()[0, 0, 0] + 0.5) if images else None
        texts = [one.get_text() for one in [*left.texts, *right.texts]]
        found.append((shade, " ".join(text for text in texts if text)))
    return found


def test_every_picture_has_the_captions_of_all_models_and_a_reference() -> None:
    softmax = with_pictures(captioned("a dog"), [picture(shade) for shade in SHADES])
    panel = Panel("Flickr8k", [series("softmax", softmax), series("top-k", captioned("a cat"))])
    figure = draw([EMPTY, panel])
    found = shown(figure)
    (part,) = figure.subfigs
    assert part.get_suptitle() == "Flickr8k, seed 0"
    assert "Not run: En-Vi" in " ".join(text.get_text() for text in figure.texts)
    for n, shade in enumerate(SHADES):
        text = f"softmax: a dog {n} top-k: a cat {n} reference: Reference {n}."
        assert found[n] == (shade, text)
    assert found[3] == (None, "")


@pytest.mark.parametrize(
    "text", ["a $5 bill and a $1 bill", "$$", "$\\frac{$", "a\x07\x00b\uffff", "<a & b>", "x_1^2"]
)
def test_texts_are_shown_as_they_are(text: str) -> None:
    softmax = with_pictures(captioned(text), [picture(shade) for shade in SHADES])
    with styled():
        figure = draw([Panel(text, [series("softmax", softmax)])])
        figure.axes[0].set_xticks([0], [text])
        for kind in ("pdf", "png"):
            assert rendered(figure, kind)
        svg = ElementTree.fromstring(rendered(figure, "svg"))
    texts = [one for one in svg.itertext() if one.strip()]
    plain = re.sub("[\x00\x07\uffff]", "\ufffd", text)
    assert f"softmax: {plain} 0" in texts and f"{plain}, seed 0" in texts and plain in texts


def test_numbers_of_logarithmic_axes_are_powers() -> None:
    with styled():
        figure, (axes,) = grid(1, 1, 2)
        axes.plot([1, 1000], [1, 2])
        axes.set_xscale("log")
        figure.colorbar(ScalarMappable(LogNorm(1e-4, 1)), ax=axes)
        svg = ElementTree.fromstring(rendered(figure, "svg"))
    texts = "".join("".join(svg.itertext()).split())
    assert "$" not in texts
    assert "10\N{MINUS SIGN}4" in texts and "102" in texts


def test_the_title_names_the_seeds_whose_captions_are_shown() -> None:
    first, second = (with_pictures(captioned("a dog"), [picture(1)]) for _ in range(2))
    second = replace(second, run={**second.run, "seed": 1})
    three = Series("top-k", "top-k", {}, [first, second], None)
    (part,) = draw([Panel("Flickr8k", [three])]).subfigs
    assert part.get_suptitle() == "Flickr8k, seed 0"
    other = Series("softmax", "softmax", {}, [second], None)
    (part,) = draw([Panel("Flickr8k", [three, other])]).subfigs
    assert part.get_suptitle() == "Flickr8k, seed 0 / 1"


def test_images_of_features_are_named() -> None:
    panel = Panel("COCO", [series("softmax", with_pictures(captioned("a dog"), ["", ""]))])
    found = shown(draw([panel]))
    assert found[0] == (None, "image 0.jpg softmax: a dog 0 reference: Reference 0.")
