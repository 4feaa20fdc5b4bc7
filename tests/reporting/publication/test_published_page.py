"""The page of a published scale: its links exist, and what was not run takes a line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.equivalent import ROUNDING, accept, line
from tests.reporting.claims.test_claims_table import claim
from tests.reporting.synthetic import Results, plan_of
from workflow.definitions.paper import Paper
from workflow.files import read_sidecar, write_json
from workflow.planning.equivalents import STATED
from workflow.reporting.publication import following
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.published_page import FIGURE, scale_page
from workflow.reporting.publication.publishing import publish
from workflow.reporting.publication.summary import ABOUT_CLAIMS
from workflow.reporting.statistics.verdict import RULE
from workflow.runtime.integrity import checksums_of
from workflow.runtime.json_lines import read_lines, write_lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the published folder of two seeds of two models of SST."""
    root = tmp_path_factory.mktemp("page")
    results = Results(root / "results", "lite")
    for variant in ("sst_soft", "sst_two_stream"):
        for seed in (0, 1):
            results.add("text_classification", variant, seed)
    plan = plan_of(root / "results", seeds=[0, 1])
    publish(plan, root / "docs", planned(plan))
    return root / "docs/lite"


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "README.md").read_text()


def part(page: str, title: str) -> str:
    """Return the section of that title."""
    return page.partition(f"\n## {title}\n\n")[2].partition("\n## ")[0]


def test_every_link_leads_to_a_file(folder: Path, page: str) -> None:
    links = re.findall(r"\]\((?!https:)([^)]+)\)", page)
    assert len(links) > 15
    assert [link for link in links if not (folder / link.partition("#")[0]).is_file()] == []


def test_drawn_figures_have_their_caption(folder: Path, page: str) -> None:
    place = f"figures/discrete_transformer/figure_6_1.{FIGURE}"
    figure = read_sidecar(folder / place)
    shown = f"![{figure['title']}]({place})\n\n**{figure['title']}.** {figure['caption']}"
    assert shown in part(page, "Figures")


def test_what_was_not_run_takes_a_line(page: str) -> None:
    for section, ran, absent in (
        (
            "Figures",
            "Figure 6.1 (kinley2020)",
            "Figure 2 (discrete2020): receptive fields on the stack language",
        ),
        ("Tables", "Table 6.1", "Table 6.5: accuracy on multiview arithmetic by depth"),
    ):
        *shown, last = part(page, section).strip().split("\n\n")
        assert last.startswith("Not run at this scale: ") and "\n" not in last
        assert ran in "".join(shown) and ran not in last
        assert absent in last and absent not in "".join(shown)


def test_a_table_has_its_command_and_cost_and_so_have_its_rows(folder: Path, page: str) -> None:
    line = next(it for it in part(page, "Tables").splitlines() if it.startswith("- [Table 6.1"))
    said = r": \d+ runs, (about )?[\d.]+ h, \d\.\d GB, download \d+ MB\. `(.+)`"
    command = re.search(said, line)
    assert command and command[2] == "make run SCALE=lite ONLY=discrete_transformer_table_6_1"
    tables = (folder / "tables/discrete_transformer/README.md").read_text()
    rows = tables.partition('<a id="table_6_1"></a>')[2].partition("<details>")[2]
    sst = next(it for it in rows.splitlines() if it.startswith("- gradient norm: SST; "))
    variants = "{sst_soft,sst_discrete,sst_two_stream}/seed-{0,1}.json"
    assert sst.endswith(f'ONLY="results/lite/measures/text_classification/{variants}"`')


def test_rules_and_names_stand_before_what_they_are_of(page: str) -> None:
    for title, text, first in (("Tables", RULE, "- ["), ("Claims", ABOUT_CLAIMS, "###")):
        section = part(page, title)
        assert 0 <= section.index(text) < section.index(first)
    legend = Paper("attention_learning").about.legend
    of_paper = part(page, "Claims").split("### ")[1]
    assert 0 <= of_paper.index(legend) < of_paper.index("| claim |")


def test_claims_have_a_block_a_paper_with_its_json(page: str) -> None:
    claims = part(page, "Claims")
    heading, _, table, folded, waiting, end = claims.split("### ")[2].split("\n\n")[:6]
    assert heading == "Discrete Transformer ([json](claims/discrete_transformer.json))"
    assert "two-stream discrete model" in table + waiting and "(snell2021" not in table
    assert folded.startswith("<details><summary>") and end.startswith("</details>")
    about = next(line for line in page.splitlines() if line.startswith("- **kinley2020**"))
    other = next(line for line in page.splitlines() if line.startswith("- **discrete2020**"))
    totals = re.findall(r"<summary>(\d+) not run, and (\d+) checks?</summary>", claims)
    named = [int(re.search(r"(\d+) not run\)", line)[1]) for line in (about, other)]
    assert str(sum(named)) in [own for own, _ in totals]


def test_what_came_out_stands_first(page: str) -> None:
    title, first, *_ = page.split("\n\n")
    assert title.startswith("# ") and first.startswith("- **snell2021** (")


def test_that_no_number_differs_is_said(page: str) -> None:
    assert part(page, "Numbers that differ").strip() == "None."


def test_a_number_is_followed_to_its_run(folder: Path, page: str) -> None:
    text = part(page, "Follow one number")
    ((place, name),) = re.findall(r"\]\((tables/[^)]+/)README\.md#(\w+)\)", text)
    table = place + name
    sidecar = read_sidecar(folder / f"{table}.csv")
    (identity,) = re.findall(r"such as `(\w{16})`", text)
    row, column, metric = re.search(r"row “(.+?)”, column “(.+?)”, `(.+?)`", text).groups()
    (cell,) = (
        one
        for one in sidecar["cells"]
        if (one["row"], one["column"], one["metric"], one["runs"][:1])
        == (row, column, metric, [identity])
        and one["spread_over"] == "runs"
    )
    run, *others = re.findall(r"\]\((runs/[^)]+)\)", text)
    named = [at(folder, one)["identity"] for one in (run, *others)]
    assert named == cell["runs"] and len(named) == 2
    assert f"(`{cell['measure']}`)" in text
    record = at(folder, run)
    file, _, key = cell["measures"][0].partition("#")
    assert file.endswith("lite/runs/text_classification.jsonl")
    assert record["measures"]["identity"] == identity and record["key"] == key
    (entry,) = re.findall(r"\]\((tables/[^)]+jsonl#L\d+)\)", text)
    assert table == f"tables/{at(folder, entry)['key']}"
    assert record["identity"] == identity
    assert f"`{record['commit'][:10]}` on AMD EPYC <test> (cpu)" in text
    assert f"`{record['spec']['data']['digest'][:10]}…`" in text
    assert f"over {len(cell['runs'])} runs" in text


def at(folder: Path, link: str) -> dict[str, Any]:
    """Return the line of JSON that a link leads to."""
    file, _, number = link.partition("#L")
    found: dict[str, Any] = json.loads((folder / file).read_text().split("\n")[int(number) - 1])
    return found


def write(folder: Path, name: str, verdict: str, repeats: str = "", **changes: Any) -> None:
    """Write a table of one cell, of which one run is known."""
    path = folder / "tables/p" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"row": name, "column": "c", "metric": "m", "unit": "%", "mean": "1", "expected": "2"}
    record |= {"verdict": verdict, **changes}
    path.with_suffix(".csv").write_text(f"{','.join(record)}\n{','.join(record.values())}\n")
    run = {"commit": "c" * 40, "cpu": "a CPU", "device": "cpu", "data": "d" * 64}
    cell = {"measures": [f"docs/lite/runs/e.jsonl#v/{name}"], "runs": ["i" * 16]}
    cell |= {"measure": "probe.m", "partners": ["e/uniform/1", "e/v/2"] if name == "e" else []}
    sidecar = {"tolerances": {"m": {"seed_std": 1}, "size": {"seed_std": 0}}, "repeats": repeats}
    told = folder / "tables/provenance.jsonl"
    files = checksums_of(path.parent, [f"{name}.csv"])
    line = {**sidecar, "cells": [cell], "runs": {"i" * 16: run}, "files": files}
    write_lines(told, {**(read_lines(told) if told.is_file() else {}), f"p/{name}": line})
    keys = ("uniform/1", "v/2", *(f"v/{one}" for one in ("a", "b", "b2", "c", "d", "e", "f")))
    write_lines(folder / "runs/e.jsonl", {key: {"a": 1} for key in keys})


def test_the_example_is_reproduced_if_any_is(tmp_path: Path) -> None:
    nothing = following.section(tmp_path, {})
    assert nothing.startswith("[`index.json`](index.json) lists the published runs")
    write(tmp_path, "a", "reproduced", expected="")
    write(tmp_path, "b", "reproduced", metric="size")
    write(tmp_path, "b2", "reproduced", repeats="e")
    assert following.section(tmp_path, {}) == nothing
    write(tmp_path, "c", "differs")
    write(tmp_path, "d", "near")
    alone = following.section(tmp_path, {})
    assert "In [c](tables/p/README.md#c), row “c”" in alone and "beside" not in alone
    write(tmp_path, "e", "reproduced")
    write(tmp_path, "f", "reproduced")
    text = following.section(tmp_path, {"p/e": "Table 5"})
    assert "In [Table 5](tables/p/README.md#e), row “e”, column “c”, `m` is 1 % in one run" in text
    assert "is of the runs [e/v/e](runs/e.jsonl#L8), measured beside their `partners`: " in text
    assert "[e/uniform/1](runs/e.jsonl#L1), [e/v/2](runs/e.jsonl#L2). The first" in text


def test_stale_runs_and_overlays_are_told(tmp_path: Path) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    text = scale_page(tmp_path, "lite+mine", {}, {"e/v/seed-0": "of other code"}, {}, {})
    assert "An overlay on `lite`" in text
    assert text.endswith("Kept, but in no table, figure or claim:\n\n- `e/v/seed-0`: of other code")
    assert "Not run" not in text
    plain = scale_page(tmp_path, "lite", {}, {}, {}, {})
    assert "overlay" not in plain and "Stale" not in plain and "Trained again" not in plain


def test_runs_in_the_place_of_others_are_told(tmp_path: Path) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    what = "NVIDIA H200, 2026-11-26, in the place of cpu, 2026-11-21"
    text = scale_page(tmp_path, "lite", {}, {}, {"e/v/seed-0": what}, {})
    assert "## Trained again" in text and "<summary>1 run</summary>" in text
    assert text.endswith(f"- `e/v/seed-0`: {what}\n\n</details>")


def test_runs_by_earlier_code_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    a, b, c, d = (letter * 16 for letter in "abcd")
    accept(monkeypatch, line(d, a, STATED), line(a, b, ROUNDING), line(b, c))
    runs = [{"code": code, "spec": {"code": a}} for code in (a, b, c, a, d)]
    text = scale_page(tmp_path, "lite", {}, {}, {}, {}, runs)
    assert (
        "\n\n3 of 5 runs were trained by earlier code: 2 same to rounding, "
        "1 stated to be the same, not proven.\n\n"
    ) in text
    one_kind = scale_page(tmp_path, "lite", {}, {}, {}, {}, runs[:2])
    assert "1 of 2 runs were trained by earlier code: all same to rounding.\n" in one_kind
    assert "earlier code" not in scale_page(tmp_path, "lite", {}, {}, {}, {}, runs[1:3])
