"""The pages of a published scale: an index, and a page for each paper, whose links all exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.equivalent import ROUNDING, accept, line
from tests.reporting.claims.test_claims_table import claim
from tests.reporting.synthetic import Results, only_papers, plan_of
from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.files import read_csv, read_sidecar, write_json
from workflow.planning.equivalents import STATED
from workflow.reporting.claims.judged import read_claims
from workflow.reporting.page.headline import Counts, Headline
from workflow.reporting.prose import shortened, symbols
from workflow.reporting.publication import following
from workflow.reporting.publication.costs import NAME as COMMANDS
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.paper_pages import FIGURE, WORDS
from workflow.reporting.publication.places import numbered, own_order
from workflow.reporting.publication.published_page import scale_page
from workflow.reporting.publication.publishing import publish
from workflow.runtime.integrity import checksums_of
from workflow.runtime.json_lines import read_lines, write_lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the published folder of two seeds of two models of SST, where there is one paper."""
    root = tmp_path_factory.mktemp("page")
    results = Results(root / "results", "lite")
    for variant in ("sst_soft", "sst_two_stream"):
        for seed in (0, 1):
            results.add("text_classification", variant, seed)
    plan = plan_of(root / "results", seeds=[0, 1])
    with pytest.MonkeyPatch.context() as patch:
        only_papers(patch, "discrete_transformer")
        publish(plan, root / "docs", planned(plan))
        yield root / "docs/lite"


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "README.md").read_text()


@pytest.fixture(scope="module")
def paper(folder: Path) -> str:
    return (folder / "kinley2020.md").read_text()


def folded(page: str, name: str) -> str:
    """Return what is folded below an anchor of the index, with its summary."""
    return page.partition(f'<a id="{name}"></a>\n')[2].partition("\n</details>")[0]


def part(page: str, title: str, level: str = "##") -> str:
    """Return the section of that title."""
    return page.partition(f"\n{level} {title}")[2].partition(f"\n{level} ")[0]


def test_every_link_leads_to_what_exists(folder: Path) -> None:
    """To a file, in it to an anchor, or to a line; the guides are elsewhere."""
    for page in folder.glob("*.md"):
        links = re.findall(r"\]\((?!https:|\.\./)([^) ]+)", page.read_text())
        assert len(links) > 2
        for link in links:
            name, _, anchor = link.partition("#")
            text = (folder / name if name else page).read_text()
            number = re.fullmatch(r"L(\d+)", anchor)
            known = int(number[1]) <= len(text.splitlines()) if number else f'id="{anchor}"' in text
            assert known or not anchor, (page.name, link)


def test_a_paper_has_its_page_and_its_card(folder: Path, page: str) -> None:
    keys = [one.key for paper in Paper.all() for one in paper.about.references]
    assert {one.stem for one in folder.glob("*.md")} == {*keys, "README"}
    cards = re.findall(r"^- \*\*\[(.+?)\]\((\w+)\.md\)\*\*", page, re.M)
    assert [key for _, key in cards] == keys
    for title, key in cards:
        assert (folder / f"{key}.md").read_text().startswith(f"# {title}\n\n")
    (row,) = re.findall(r"^\| \[.+?\]\(kinley2020\.md\) \| (.+) \|$", page, re.M)
    assert row.startswith("30 | ") and page.index(row) < page.index("<details>")


def test_figures_stand_below_their_table_with_a_short_caption(folder: Path, paper: str) -> None:
    place = f"figures/discrete_transformer/figure_6_1.{FIGURE}"
    figure = read_sidecar(folder / place)
    caption, more = shortened(figure["caption"], WORDS)
    shown = f"![{figure['title']}]({place})\n\n**{figure['title']}.** {symbols(caption)}\n"
    table = part(paper, "Table 6.1", "###")
    assert 0 < table.index("| Importance |") < table.index(shown) < table.index("<details>")
    assert symbols(more) in table and "demo" not in paper


def test_tables_stand_in_the_papers_order_and_then_what_is_beyond(paper: str) -> None:
    own, beyond = (part(paper, title) for title in ("Tables and figures of", "Beyond the paper"))
    titles = re.findall(r"\n### (.+)", own)
    assert titles[0].startswith("Table 6.1: ") and [*titles] == sorted(titles, key=own_order)
    last = own.strip().split("\n\n")[-1]
    assert last.startswith("Not run at this scale: ") and "\n" not in last
    assert "Table 6.5: accuracy on multiview arithmetic by depth" in last
    assert not any(map(numbered, re.findall(r"\n### (.+)", beyond)))
    assert sorted(
        ["Table 10", "A", "Section A.8", "Figure 2", "Table 6.2", "Section A.1"], key=own_order
    ) == [*("Table 6.2", "Table 10", "Section A.1", "Section A.8", "Figure 2", "A")]


def test_a_table_has_its_notes_and_runs_folded(folder: Path, paper: str) -> None:
    table = part(paper, "Table 6.1", "###")
    _, _, folded = table.partition("<details><summary>Notes and data</summary>")
    (entry,) = re.findall(r"\[the runs of each cell\]\((.+)\)", folded)
    assert at(folder, entry)["key"] == "discrete_transformer/table_6_1"


def test_notes_of_several_tables_are_on_the_page_once(paper: str) -> None:
    notes = dict(re.findall(r"^(\d+)\. (.+)$", part(paper, "Notes of several tables"), re.M))
    named = re.findall(r"^- \[Notes of several tables\]\(#notes\): (.+)$", paper, re.M)
    assert len(notes) > 1 and {*notes} == {one for line in named for one in line.split(", ")}
    assert all(paper.count(note) == 1 for note in notes.values())


def test_one_file_has_the_command_of_each_table_and_of_its_rows(folder: Path) -> None:
    lines = [one for one in read_csv(folder / COMMANDS) if one["table"] == "table_6_1"]
    whole, *rows = lines
    assert (whole["paper"], whole["rows"]) == ("discrete_transformer", "all")
    assert re.fullmatch(r"\d+ runs, .+ download \d+ MB", whole["cost"])
    assert whole["command"] == "make run SCALE=lite ONLY=discrete_transformer_table_6_1"
    (sst,) = (one for one in rows if one["rows"].startswith("gradient norm: SST; "))
    variants = "{sst_soft,sst_discrete,sst_two_stream}/seed-{0,1}.json"
    assert sst["command"].endswith(f'="results/lite/measures/text_classification/{variants}"')


def test_claims_stand_by_verdict_and_lead_to_their_entries(folder: Path, paper: str) -> None:
    claims = part(paper, "Claims")
    assert "(snell2021" not in claims and "(discrete2020" not in claims
    _, undecided, waiting = re.split(r"\d+ undecided:|<details><summary>\d+ not run", claims)
    assert "\n| | claim | difference [95 %] | paper |\n" in undecided
    assert "*Late*: added or reworded after we saw results. *Looks*: " in claims
    assert "*Fragile (2 of 5)*: " in claims
    assert "[equations](../../equations.md#kinley2020)" in paper and "\nSymbols: τ is " in paper
    other = (folder / "discrete2020.md").read_text()
    assert "*Looks*" not in other and "\nSymbols: " not in other
    assert ". The next look, at 3 seeds, could decide it</details> | " in undecided
    seen = re.sub(r"</summary>.*?</details>|\(claims/.*?\)", "", claims)
    rows = [row for row in seen.splitlines() if row.startswith("| [")]
    assert all(len(row) < 160 for row in rows) and "; 2 seeds" in claims and "; 2 seeds" not in seen
    published = {one.id: one for one in read_claims(folder / "claims/discrete_transformer.json")}
    lines = (folder / "claims/discrete_transformer.json").read_text().splitlines()
    for verdict, section in (("undecided", undecided), ("not run", waiting)):
        for number in re.findall(r"discrete_transformer\.json#L(\d+)", section):
            one = published[lines[int(number) - 1].split('"')[3]]
            assert one.verdict == verdict
            assert (symbols(one.claim) if verdict == "undecided" else one.reason) in section
    own = [one for one in published.values() if key_of(one.source) == "kinley2020"]
    unrun = [one for one in own if one.verdict == "not run" and not one.check]
    several = [int(count) for count in re.findall(r"L\d+\) \((\d+)\)", waiting)]
    assert len(unrun) == sum(several) + len(re.findall(r"L\d+\)(?! \()", waiting))


def test_what_came_out_stands_first(page: str) -> None:
    title, first, *_ = page.split("\n\n")
    assert title.startswith("# ") and re.match(r"Of \d+ claims of \d papers", first)


def test_a_number_is_followed_to_its_run(folder: Path, page: str) -> None:
    text = folded(page, "follow-one-number")
    ((key, name),) = re.findall(r"\]\((\w+)\.md#(\w+)\)", text)
    table = f"tables/discrete_transformer/{name}"
    assert key == "kinley2020"
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


def test_the_example_is_reproduced_if_any_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"source": "snell2021", "title": "A title"}
    monkeypatch.setattr("workflow.reporting.publication.places.definition", lambda table: said)
    assert following.section(tmp_path) == ""
    write(tmp_path, "a", "reproduced", expected="")
    write(tmp_path, "b", "reproduced", metric="size")
    write(tmp_path, "b2", "reproduced", repeats="e")
    assert following.section(tmp_path) == ""
    write(tmp_path, "c", "differs")
    write(tmp_path, "d", "near")
    alone = following.section(tmp_path)
    assert "In [A title](snell2021.md#c), row “c”" in alone and "beside" not in alone
    write(tmp_path, "e", "reproduced")
    write(tmp_path, "f", "reproduced")
    text = following.section(tmp_path)
    assert "In [A title](snell2021.md#e), row “e”, column “c”, `m` is 1 % in one run" in text
    assert "is of the runs [e/v/e](runs/e.jsonl#L8), measured beside their `partners`: " in text
    assert "[e/uniform/1](runs/e.jsonl#L1), [e/v/2](runs/e.jsonl#L2). The first" in text


def index(folder: Path, scale: str = "lite", **more: Any) -> str:
    """Return the index of a scale without papers."""
    return scale_page(
        folder,
        scale,
        Headline("", (), Counts("", (), ()), ()),
        {},
        **{"stale": {}, "again": {}, **more},
    )


def test_stale_runs_and_overlays_are_told(tmp_path: Path) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    text = index(tmp_path, "lite+mine", stale={"e/v/seed-0": "of other code"})
    assert "An overlay on `lite`" in text
    stale = folded(text, "stale")
    assert "no table, figure or claim: 1</summary>\n\n- `e/v/seed-0`: of other code" in stale
    assert "Not run" not in text
    plain = index(tmp_path)
    assert "overlay" not in plain and "Stale" not in plain and "trained again" not in plain


def test_runs_in_the_place_of_others_are_told(tmp_path: Path) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    what = "NVIDIA H200, 2026-11-26, in the place of cpu, 2026-11-21"
    text = index(tmp_path, again={"e/v/seed-0": what})
    assert f"- `e/v/seed-0`: {what}\n" in folded(text, "trained-again")
    assert "1 run was trained again" in text


def test_runs_by_earlier_code_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(tmp_path / "claims/p.json", {"claims": [claim().told()]})
    a, b, c, d = (letter * 16 for letter in "abcd")
    accept(monkeypatch, line(d, a, STATED), line(a, b, ROUNDING), line(b, c))
    runs = [{"code": code, "spec": {"code": a}} for code in (a, b, c, a, d)]
    text = index(tmp_path, runs=runs)
    assert (
        "\n\n3 of 5 runs were trained by earlier code: 2 same to rounding, "
        "1 stated to be the same, not proven."
    ) in text
    one_kind = index(tmp_path, runs=runs[:2])
    assert "1 of 2 runs were trained by earlier code: all same to rounding." in one_kind
    assert "earlier code" not in index(tmp_path, runs=runs[1:3])
