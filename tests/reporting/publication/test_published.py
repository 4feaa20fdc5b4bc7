"""What is published is what the definitions make of the published runs, number by number."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.pages.guides import files
from workflow.commands.latex import latex_of
from workflow.definitions.claims import claim_runs
from workflow.definitions.paper import Paper
from workflow.files import read_json, read_sidecar
from workflow.reporting.cells import read_table
from workflow.reporting.claims.judged import read_claims
from workflow.reporting.claims.judging import judge
from workflow.reporting.measures import Measures
from workflow.reporting.publication.differing import differing
from workflow.reporting.publication.places import page_of
from workflow.reporting.publication.results import published
from workflow.reporting.statistics.decisions import DECIDED as DECISIVE
from workflow.reporting.tables.corpus_tables import describe
from workflow.reporting.tables.tabulating import tabulate

DOCS = Path(__file__).resolve().parents[3] / "docs" / "reproduction"
SCALES = [path.parent for path in sorted(DOCS.glob("*/index.json")) if "+" not in path.parent.name]
TABLES = [path for scale in SCALES for path in sorted(scale.glob("tables/*/*.csv"))]
CLAIMS = [path for scale in SCALES for path in sorted(scale.glob("claims/*.json"))]
DECIDED = ("verdict", "reason", "n", "seeds", "runs")
COMPUTED = ("estimate", "ci_low", "ci_high")
"""Another CPU adds up in another order: the last digits may be others."""


def runs(folder: Path) -> Measures:
    """Return the published runs of a scale that count."""
    return Measures(it.measure for it in published(folder).values() if not it.stale)


def lines(text: str) -> list[str]:
    """Return the lines of a table in Markdown, without its title, caption and notes."""
    return [line for line in text.splitlines() if line.startswith("|")]


def cell(*asked: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the guide."""
    script = [sys.executable, "-c", files(DOCS.parent / "results.md")["cell.py"], *asked]
    folder = DOCS.parents[1]
    return subprocess.run(script, cwd=folder, capture_output=True, text=True, check=False)


def test_the_script_of_the_guide_finds_the_runs_behind_a_row() -> None:
    said = cell("explicit_sparse/table_4", "Multi30k: Transformer").stdout
    (bleu,) = (line for line in said.splitlines() if " scores.bleu " in line)
    file, _, key = bleu.split()[-1].partition("#")
    assert Path(file).name == "sparse_translation.jsonl" and "softmax/seed-" in key
    assert f'"key":"{key}"' in (DOCS.parents[1] / file).read_text(encoding="utf-8")
    odd = cell("explicit_sparse/table_4", "Multi30k: Transfromer")
    assert odd.returncode == 1 and "Multi30k: Transformer" in odd.stderr


def test_a_row_may_be_named_to_the_script_without_its_group() -> None:
    table = "discrete_transformer/mechanism_stack"
    whole = cell(table, "stack language: softmax").stdout
    assert whole and cell(table, "softmax").stdout == whole
    two = cell("discrete_transformer/table_6_1", "SST")
    assert two.returncode == 1 and not two.stdout
    assert "more than one row is named" in two.stderr and "gradient norm: SST" in two.stderr


@pytest.mark.parametrize("asked", [(), ("explicit_sparse/table_4",)])
def test_the_script_says_what_to_name(asked: tuple[str, ...]) -> None:
    (line,) = cell(*asked).stderr.splitlines()
    assert line.startswith("error: name a table and a row: ")


@pytest.mark.parametrize("folder", SCALES, ids=lambda folder: folder.name)
def test_each_number_that_differs_has_its_cause(folder: Path) -> None:
    """Or it is said that none is known, and what was tried."""
    numbers = differing(folder)
    assert [*numbers.loc[numbers["because"] == "", "row"]] == []


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "/".join(path.parts[-4:]))
def test_tables(path: Path, tmp_path: Path) -> None:
    folder, paper = path.parents[2], Paper(path.parent.name)
    if path.stem in paper.corpora["tables"]:
        facts = read_sidecar(path)["corpora"]
        describe(paper, path.stem, folder.name, facts, tmp_path / path.stem)
    else:
        tabulate(paper, path.stem, folder.name, runs(folder), tmp_path / path.stem)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
    assert latex_of(path) == (tmp_path / f"{path.stem}.tex").read_text().rstrip("\n")
    page, _, name = page_of(path).partition("#")
    _, found, here = (folder / page).read_text().partition(f'<a id="{name}"></a>')
    assert bool(found) == read_table(path).cells["mean"].notna().any()
    if found:
        own = re.split(r"<a id=|\n## ", here)[0]
        assert lines((tmp_path / f"{path.stem}.md").read_text()) == lines(own)


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: "/".join(path.parts[-3:]))
def test_claims(path: Path) -> None:
    folder = path.parents[1]
    now = {one["id"]: one for one in judge(Paper(path.stem), folder.name, runs(folder))["claims"]}
    for claim in read_json(path)["claims"]:
        again = now[claim["id"]]
        assert {name: again[name] for name in DECIDED} == {name: claim[name] for name in DECIDED}
        for name in COMPUTED:
            assert again[name] == (claim[name] and pytest.approx(claim[name], rel=1e-9))
        assert [again[side]["mean"] for side in ("left", "right")] == [
            claim[side]["mean"] for side in ("left", "right")
        ]


@pytest.mark.parametrize("path", CLAIMS, ids=lambda path: "/".join(path.parts[-3:]))
def test_no_claim_is_decided_without_a_seed_that_one_side_has(path: Path) -> None:
    """Sides are compared over shared seeds; one that is left out could turn the verdict."""
    paper, measures = Paper(path.stem), runs(path.parents[1])
    claims = {one["id"]: one for one in paper.claims["claims"]}
    for judged in read_claims(path):
        claim = claims[judged.id]
        if judged.verdict not in DECISIVE or claim["over"] == "proportions":
            continue
        seeds = [
            {
                one.seed
                for one in measures.of(*pair)
                if not one.left_out(claim.get("measure") or claim["left"]["measure"])
            }
            for pair in claim_runs({"claims": [claim]})
        ]
        assert all(one == seeds[0] for one in seeds), judged.id
