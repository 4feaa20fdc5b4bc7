"""How a scale departs from the paper's setting, on made-up and on the papers' own experiments."""

from pathlib import Path
from typing import Any

import pytest

from tests.planning.test_targets import targets
from workflow.definitions.paper import PAPERS
from workflow.planning import departures
from workflow.planning.departures import Departures, Deviation, overlaid
from workflow.planning.experiments import Experiment


def experiment(**scales: Any) -> Experiment:
    """Return an experiment with four variants; `b` is not the paper's."""
    sst = {"dataset": "sst"}
    definition = {
        "data": {"dataset": "imdb"},
        **{part: {} for part in ("model", "objective", "evaluators")},
        "training": {"epochs": 50},
        "variants": {"a": {}, "b": {}, "c": {"data": sst}, "d": {"training": {"updates": 9}}},
        "scales": {"paper": {"only": ["a", "c", "d"]}, **scales},
    }
    return Experiment("made", "paper", Path("experiments.yaml"), definition)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Departures:
    lite = {"only": ["a", "b", "d"], "variants": {"d": {"training": {"updates": 8}}}}
    monkeypatch.setattr(departures, "_experiments", lambda papers: {"made": experiment(lite=lite)})
    return Departures(Path("papers"), "lite")


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ("a", "none"),
        ("d", "shorter"),
        ("b", "other data"),
        ("c", "absent"),
        ("ad", "shorter"),
        ("db", "other data"),
        ("bc", "absent"),
    ],
)
def test_the_largest_departure_counts(made: Departures, variants: str, expected: str) -> None:
    assert made.of("made", variants) == expected


def test_what_there_is_of_the_papers_data(made: Departures) -> None:
    assert made.at_hand("made", "a") == "whole"
    assert made.at_hand("made", "c") == "absent"
    assert made.at_hand("made", "c", [{"dataset": "sst_2"}]) == "part"
    assert made.at_hand("made", "c", [{"dataset": "sstx"}]) == "absent"
    whole = made.experiments["made"].resolve("c", "paper").recipe
    assert made.at_hand("made", "c", [whole]) == "whole"
    assert made.at_hand("made", "c", [{**whole, "max_tokens": 7}]) == "part"


@pytest.mark.parametrize(
    ("name", "variant", "expected", "at_hand"),
    [
        ("classification_learning", "sst_attention", "none", "whole"),
        ("classification_learning", "imdb_attention", "shorter", "whole"),
        ("text_classification", "ag_news_soft", "other data", "part"),
        ("sparse_translation", "de_en_topk", "absent", "part"),
        ("sparse_translation", "en_de_topk", "absent", "absent"),
        ("language_modelling", "enwik8_topk", "absent", "part"),
    ],
)
def test_the_papers_at_lite(name: str, variant: str, expected: Deviation, at_hand: str) -> None:
    lite = Departures(PAPERS, "lite")
    assert (lite.of(name, [variant]), lite.at_hand(name, variant)) == (expected, at_hand)
    assert Departures(PAPERS, "paper").of(name, [variant]) == "none"


def test_changes_are_told_by_setting_and_a_parents_are_its_childs(project):
    plan = targets(project).plan
    assert overlaid(plan, [plan.run("one", "small", 0)]) == {}
    training = {"optimizer": {"lr": 0.5}}
    data = {"dataset": "sms_spam"}
    changes = {"one": {"training": training, "variants": {"small": {"data": data}}}}
    overlay = {"name": "mine", "experiments": changes}
    plan = targets(project, overlay=overlay).plan
    runs = [plan.run("one", "small", seed) for seed in (0, 1)]
    found = overlaid(plan, [*runs, plan.run("one", "large", 0), plan.run("two", "tuned", 0)])
    stated = targets(project).plan.run("one", "small", 0).settings
    lr = [stated.training["optimizer"]["lr"], 0.5]
    mine = {"data": [stated.data, data], "training.optimizer.lr": lr}
    assert found == {
        "one/small": mine,
        "one/large": {"training.optimizer.lr": lr},
        "two/tuned": {f"parents.first.{key}": pair for key, pair in mine.items()},
    }
