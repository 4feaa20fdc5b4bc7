"""The headline: findings stand while claims are decided so, and everything is counted by hand."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tests.reporting.claims.test_claims_table import claim
from workflow.definitions.claims import check_claims
from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.reporting.claims.judged import KINDS, TASK
from workflow.reporting.measures import Measures
from workflow.reporting.publication.cell_settings import GPU, REASONS, UNDONE, CellSettings
from workflow.reporting.publication.counting import comparisons
from workflow.reporting.publication.headline import (
    answer,
    claims_by_kind,
    claims_by_paper,
    findings,
    headline,
    numbers_by_training,
    numbers_not_run,
    sentence,
)
from workflow.reporting.publication.summary import published_claims
from workflow.reporting.statistics.verdict import JUDGED
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[3]


def with_findings(*found: dict[str, object]) -> Paper:
    paper = Paper("discrete_transformer")
    paper.claims = {"claims": [], "findings": list(found)}
    return paper


def test_a_finding_stands_while_all_its_claims_are_decided_so() -> None:
    says = {"source": "kinley2020", "finding": "It works.", "rests_on": {"a": "holds"}}
    fails = {**says, "finding": "It fails.", "rests_on": {"a": "holds", "b": "does not hold"}}
    other = {**says, "source": "discrete2020", "finding": "Nothing of this."}
    paper = with_findings(says, fails, other)
    judged = [claim(id="a", verdict="holds"), claim(id="b"), claim(id="c", check=True)]
    (one,) = findings(paper, judged)
    assert one.reference.key == "kinley2020"
    assert (one.text, one.counted) == ("It works.", "2 claims: 1 holds, 1 undecided.")
    judged[1] = claim(id="b", verdict="does not hold")
    (one,) = findings(paper, judged)
    assert (one.text, one.counted) == ("It works. It fails.", "2 claims: 1 holds, 1 does not.")
    judged[0] = claim(id="a")
    (one,) = findings(paper, [*judged, claim(verdict="does not hold")])
    assert (one.text, one.counted) == ("", "3 claims: 2 do not, 1 undecided.")


def test_a_finding_says_over_how_many_pairs_a_claim_is() -> None:
    says = {"source": "kinley2020", "finding": "Worse ({a}).", "rests_on": {"a": "undecided"}}
    for seeds, said in (([0], "one pair"), ([0, 1], "2 pairs")):
        (one,) = findings(with_findings(says), [claim(id="a", seeds=seeds)])
        assert one.text == f"Worse ({said})."


def test_a_finding_may_rest_on_what_points_against_a_claim() -> None:
    says = {"source": "kinley2020", "finding": "So far not.", "rests_on": {"a": "points against"}}
    paper = with_findings(says)
    against = claim(id="a", ci_low=-3.0, ci_high=-1.0)
    assert findings(paper, [against])[0].text == "So far not."
    assert findings(paper, [claim(id="a")])[0].text == ""
    assert findings(paper, [replace(against, verdict="does not hold")])[0].text == ""


def test_a_finding_may_rest_on_a_verdict_that_does_not_stand_after_a_correction() -> None:
    rests_on = {"a": "does not hold, not after Benjamini-Hochberg"}
    paper = with_findings({"source": "kinley2020", "finding": "Barely.", "rests_on": rests_on})
    one = claim(id="a", verdict="does not hold", p=0.04)
    assert findings(paper, [one, claim(id="b", p=0.9)])[0].text == "Barely."
    assert findings(paper, [one])[0].text == ""
    assert findings(paper, [replace(one, verdict="holds"), claim(id="b", p=0.9)])[0].text == ""
    paper.claims["findings"][0]["rests_on"] = {"a": "does not hold"}
    assert findings(paper, [one])[0].text == "Barely."
    assert findings(paper, [one, claim(id="b", p=0.9)])[0].text == ""


def test_a_paper_is_headed_by_its_own_numbers_of_trainings() -> None:
    lite = ROOT / "docs/reproduction/lite"
    tables = lite / "tables/discrete_transformer"
    shown = [tables / "stack_language.csv", tables / "table_6_4.csv"]
    found = headline("lite", shown, [lite / "claims/discrete_transformer.json"]).findings
    numbers = {one.reference.key: sorted(one.numbers) for one in found}
    assert numbers["kinley2020"] == numbers["discrete2020"] == ["differs", "near"]


def test_the_numbers_of_papers_add_up_to_those_that_are_counted() -> None:
    """What several papers print counts with each of them, and once in all."""
    lite = ROOT / "docs/reproduction/lite"
    tables = sorted(lite.glob("tables/*/*.csv"))
    found = headline("lite", tables, sorted(lite.glob("claims/*.json")))
    compared = comparisons(tables, CellSettings("lite", tables))
    judged = compared[compared["trained"].astype(bool) & compared["verdict"].isin(JUDGED)]
    papers = judged.groupby("measurement")["source"].agg(lambda it: len({*map(key_of, it)}))
    (_, *rows) = found.tables[1].rows
    total = sum(int(row[1]) for row in rows if row[0].startswith("trained"))
    assert total == len(papers) and (papers > 1).any()
    assert sum(len(one.numbers) for one in found.findings) == papers.sum()


def test_the_answer_counts_claims_and_numbers_trained_in_full() -> None:
    judged = [
        *(claim(id=name, verdict="holds") for name in "ab"),
        *(claim(id="c", verdict="does not hold"), claim(id="d"), claim(id="e", verdict="not run")),
        *(claim(id=name, verdict="holds", kind=TASK) for name in "gh"),
        claim(id="i", verdict="does not hold", kind="smaller or other data"),
        claim(id="f", verdict="holds", check=True),
    ]
    verdicts = {"a": "reproduced", "b": "reproduced", "c": "near", "d": "not run", "e": "differs"}
    compared = pd.DataFrame(
        [
            {"verdict": word, "measurement": name, "trained": True, "shorter": name == "e"}
            for name, word in verdicts.items()
        ],
        dtype=object,
    )
    assert answer(judged, compared) == (
        "Of 8 claims of 1 paper, 7 were tried: 2 hold, 1 does not, 2 hold on other data or another "
        "task, 1 does not on other data or another task and 1 is undecided. "
        "Of 3 numbers trained as long as the paper's, 2 agree and 1 is near."
    )


def test_a_finding_rests_on_claims_that_there_are() -> None:
    said = Paper("discrete_transformer").claims
    finding = {"source": "kinley2020", "finding": "It works.", "rests_on": {"tau_ss": "holds"}}
    with pytest.raises(InputError, match='"tau_ss"'):
        check_claims({**said, "findings": [finding]}, "claims.yaml")


def test_every_paper_has_a_finding_today() -> None:
    for paper in Paper.all():
        sources = [one["source"] for one in paper.claims["findings"]]
        assert sources == [reference.key for reference in paper.about.references]


def test_what_is_published_bears_every_finding_out_in_thirty_words() -> None:
    judged = published_claims(ROOT / "docs/reproduction/lite")
    for paper in Paper.all():
        for reference in paper.about.references:
            found = sentence(paper, reference.key, judged)
            assert found.endswith(".") and len(found.split()) <= 30, (reference.key, found)


def test_claims_of_each_paper_are_counted_under_signs_that_a_sentence_explains() -> None:
    held = [claim(source="zhao2019 section 1", verdict="holds") for _ in range(98)]
    failed = [
        claim(source="zhao2019 section 1", verdict="does not hold", kind=kind)
        for kind in (KINDS[0], KINDS[1], TASK)
    ]
    counts = claims_by_paper([*held, *failed], "there/", {"zhao2019": ["near", "near"]})
    assert "Of the 2 that do not hold, 1 are in the paper's own setting." in counts.about
    assert counts.columns[2:5] == ("✓", "✗", "⊖") and "✓ holds; ✗ does not hold; ⊖ " in counts.about
    assert "*Elsewhere*: on smaller or other data" in counts.about
    assert "*Elsewhere*" not in claims_by_paper([*held, *failed[:2]]).about
    assert ("[Explicit Sparse Transformer](there/zhao2019.md)", *("101", "98", "2", "1"),
            "~\u202f2") in counts.rows  # fmt: skip


def test_claims_by_what_they_were_tried_on() -> None:
    counts = claims_by_kind(
        [
            claim(verdict="holds"),
            claim(verdict="no difference"),
            claim(verdict="undecidable"),
            claim(kind=KINDS[1]),
            claim(kind=KINDS[1], verdict="does not hold"),
            claim(kind=KINDS[2], verdict="holds"),
            claim(kind=KINDS[2], verdict="does not hold"),
            claim(kind=TASK, verdict="holds"),
            claim(kind=KINDS[-1], verdict="not run"),
            claim(verdict="holds", check=True),
        ]
    )
    assert counts.columns[2:] == (
        *("holds", "does not hold", "no difference", "holds elsewhere", "does not hold elsewhere"),
        *("undecided", "undecidable", "not run"),
    )
    assert counts.rows == (
        ("all", *"911121111"),
        (KINDS[0], *"310100010"),
        (KINDS[1], *"201000100"),
        (KINDS[2], *"200011000"),
        (KINDS[3], *"100010000"),
        (KINDS[4], *"000000000"),
        (KINDS[5], *"100000001"),
    )
    header, rule, first, *_ = counts.table.splitlines()
    assert counts.about.startswith("What the papers claim")
    assert header.startswith("| tried on | claims | holds |")
    assert rule == "| --- |" + 9 * " --: |"
    assert first == "| all | 9 | 1 | 1 | 1 | 2 | 1 | 1 | 1 | 1 |"


def test_numbers_by_length_of_training() -> None:
    columns = ["trained", "verdict", "shorter", "lacking"]
    found = pd.DataFrame(
        [
            *[(True, "reproduced", False, "")] * 2,
            (True, "differs", True, ""),
            (False, "reproduced", False, ""),
            (True, "not comparable", False, ""),
            (True, "not run", False, GPU),
            (True, "not run", False, UNDONE),
            (True, "not run", False, GPU),
        ],
        columns=columns,
        dtype=object,
    ).assign(measurement=None)
    counts = numbers_by_training(found)
    right, wrong = (counts.columns.index(word) for word in ("reproduced", "differs"))
    shown = [(row[0], row[1], row[right], row[wrong]) for row in counts.rows]
    assert shown == [
        ("all", "4", "3", "1"),
        ("trained as long as the paper's", "2", "2", "0"),
        ("trained for less", "1", "0", "1"),
        ("not trained: data and baselines", "1", "1", "0"),
    ]
    assert numbers_not_run(found).rows == (
        ("all", "3"),
        (REASONS[0], "0"),
        (REASONS[1], "0"),
        (GPU, "2"),
        (UNDONE, "1"),
    )


@pytest.mark.parametrize(
    ("paper", "table", "reasons"),
    [
        ("explicit_sparse", "table_4", {REASONS[0], REASONS[1], GPU}),
        ("explicit_sparse", "table_2", {REASONS[0]}),
        ("explicit_sparse", "table_3", {REASONS[1]}),
        ("discrete_transformer", "table_6_1", {REASONS[1], UNDONE}),
    ],
)
def test_why_some_were_not_run(paper: str, table: str, reasons: set[str], tmp_path: Path) -> None:
    prefix = tmp_path / table
    tabulate(Paper(paper), table, "lite", Measures([]), prefix)
    tables = [prefix.with_suffix(".csv")]
    found = comparisons(tables, CellSettings("lite", tables))
    assert {*found.loc[found["verdict"] == "not run", "lacking"]} == reasons
