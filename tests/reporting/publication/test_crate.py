"""The RO-Crate says of every published cell what the project's own provenance says."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests import equivalent
from tests.workflow.pages.guides import files as written_in
from workflow.commands.publish import check_crate
from workflow.datasets.fetched import sources
from workflow.datasets.kinds.recipe import files
from workflow.reporting.cells import read_table, records, text
from workflow.reporting.publication import crate
from workflow.reporting.publication.results import RunResult, key_at, published
from workflow.runtime.errors import RecipeError, ReportingError

ROOT = Path(__file__).resolve().parents[3]
SCALES = [path.parent for path in sorted((ROOT / "docs/reproduction").glob("*/index.json"))]
SCRIPT = written_in(ROOT / "docs/provenance.md")["provenance.py"]
KINDS = ("runs", "commits", "files", "licences")
Answer = dict[str, set[str]]


@pytest.fixture(scope="module")
def results() -> dict[str, RunResult]:
    return published(SCALES[0])


@pytest.fixture(scope="module")
def graph() -> dict[str, dict[str, Any]]:
    found = json.loads((SCALES[0] / crate.NAME).read_text())["@graph"]
    assert len({one["@id"] for one in found}) == len(found)
    return {one["@id"]: one for one in found}


@cache
def of_recipe(text: str) -> Answer:
    recipe, listed = json.loads(text), sources.load()
    told = [listed[str(recipe["dataset"]), name] for name in files(recipe)["sources"]]
    return {
        "files": {f"{one.sha256 or 'by hand'} {one.name}" for one in told},
        "licences": {one.licence for one in told} or {"Apache License 2.0"},
    }


def own(folder: Path, results: dict[str, RunResult]) -> Iterator[tuple[str, str, Answer]]:
    """Yield table, value and what the project's own files say of every published cell."""
    keys = {result.identity: key for key, result in results.items()}
    for path in sorted(folder.glob("tables/*/*.csv")):
        table = read_table(path)
        corpora = table.about.get("corpora", {}).values()
        recipes = {one.get("digest"): one["recipe"] for one in corpora}
        seen = set()
        for cell in records(table.cells):
            place = (cell["row"], cell["column"], cell["metric"])
            if place in seen or not (cell["measures"] or cell["corpus"]):
                continue
            seen.add(place)
            answer: Answer = {kind: set() for kind in KINDS}
            waiting = [key_at(one) for one in cell["measures"]]
            assert {results[key].identity for key in waiting} == set(cell["runs"])
            while waiting:
                result = results[waiting.pop()]
                answer["runs"].add(result.identity)
                answer["commits"].add(str(result.run["commit"]))
                spec = result.run["spec"]
                for kind, said in of_recipe(json.dumps(spec["run"]["data"])).items():
                    answer[kind] |= said
                waiting += [keys[one] for one in spec["parents"].values()]
            if cell["corpus"]:
                answer |= of_recipe(json.dumps(recipes[cell["corpus"]]))
            yield f"#{path.parent.name}/{path.stem}", text(cell["mean"]), answer


@pytest.mark.parametrize("folder", SCALES, ids=lambda folder: folder.name)
def test_thirty_lines_with_rocrate_answer_as_the_project_does(folder: Path, tmp_path: Path) -> None:
    lines = [line for line in SCRIPT.splitlines() if line and not line.startswith("#")]
    imported = [
        one for one in ast.walk(ast.parse(SCRIPT)) if isinstance(one, ast.Import | ast.ImportFrom)
    ]
    assert len(lines) <= 30
    assert [*map(ast.unparse, imported)] == ["import sys", "from rocrate.rocrate import ROCrate"]
    (tmp_path / "provenance.py").write_text(SCRIPT)
    command = [sys.executable, "provenance.py", str(folder / crate.NAME)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    found = []
    for line in said.splitlines():
        address, value, answer = re.fullmatch(r"(\S+) (.*?) (\{'runs'.*\})", line).groups()  # type: ignore[union-attr]
        told = ast.literal_eval(answer.replace("set()", "()"))
        kinds = {kind: set(told[kind]) for kind in KINDS}
        found.append(("/".join(address.split("/")[:2]), value, kinds))
    expected = list(own(folder, published(folder)))
    assert len(expected) > 1000
    assert sorted(found, key=repr_of) == sorted(expected, key=repr_of)


def repr_of(told: tuple[str, str, Answer]) -> str:
    table, value, answer = told
    return repr((table, value, {kind: sorted(answer[kind]) for kind in KINDS}))


def test_every_published_run_has_its_action(
    graph: dict[str, dict[str, Any]], results: dict[str, RunResult]
) -> None:
    actions = {name: one for name, one in graph.items() if name.startswith("#training/")}
    assert {name.removeprefix("#training/") for name in actions} == set(results)
    for key, result in results.items():
        action = actions[f"#training/{key}"]
        assert graph[action["instrument"]["@id"]]["version"] == result.run["commit"]
        assert action["endTime"] == result.run["finished"]
        assert action["description"].startswith("stale: " if result.stale else "counts")


def test_every_reference_leads_to_an_entity(graph: dict[str, dict[str, Any]]) -> None:
    known = {*graph, "https://w3id.org/ro/crate/1.1", crate.BIOSCHEMAS}

    def check(value: Any) -> None:
        for one in value if isinstance(value, list) else [value]:
            assert not isinstance(one, dict) or one["@id"] in known, one

    for entity in graph.values():
        for value in entity.values():
            check(value)


@pytest.mark.parametrize("folder", SCALES, ids=lambda folder: folder.name)
def test_the_same_results_are_the_same_bytes(folder: Path) -> None:
    check_crate(folder)
    assert (folder / crate.NAME).stat().st_size < 3 << 20


def test_the_date_is_of_the_last_change(tmp_path: Path, results: dict[str, RunResult]) -> None:
    before, first, second, other = (tmp_path / name / "lite" for name in "abcd")
    for folder in (before, first, second, other):
        folder.mkdir(parents=True)
    some = dict([*results.items()][:3])
    crate.write_crate(before, first, some, [])
    old = (first / crate.NAME).read_text()
    aged = old.replace(f'"{crate.dated(first / crate.NAME)}"', '"2026-01-01"')
    (first / crate.NAME).write_text(aged)
    crate.write_crate(first, second, some, [])
    assert (second / crate.NAME).read_text() == aged
    crate.write_crate(first, other, dict([*some.items()][:2]), [])
    assert crate.dated(other / crate.NAME) == datetime.now(UTC).date().isoformat()


def test_what_is_not_known_is_said(
    tmp_path: Path, results: dict[str, RunResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lite"
    folder.mkdir()
    (folder / crate.WORKFLOW).write_text("")
    key = "text_classification/sst_soft/seed-0"

    def gone(recipe: dict[str, Any]) -> None:
        raise RecipeError("gone")

    def entities(*kinds: str) -> list[dict[str, Any]]:
        made = crate.crate_text(folder, {key: results[key]}, [], "2026-01-01")
        return [one for one in json.loads(made)["@graph"] if one["@id"].startswith(kinds)]

    def data() -> list[dict[str, Any]]:
        return entities("#data", "#lic")

    blank = {it: sources.Source(*it, "https://x", (), "f" * 64, 1, "") for it in sources.load()}
    with monkeypatch.context() as patch:
        patch.setattr(sources, "load", lambda: blank)
        (licence,) = [one for one in data() if one["@id"].startswith("#licence/")]
        assert licence["name"] == "unknown"
    code = results[key].run["spec"]["code"]
    equivalent.accept(monkeypatch, equivalent.line(code, "0" * 16, equivalent.ROUNDING))
    results = {key: replace(results[key], run={**results[key].run, "code": code})}
    (one,) = entities("#training")
    assert one["description"] == "counts, by earlier code, same to rounding"
    monkeypatch.setattr(crate, "files", gone)
    (one,) = data()
    assert one["description"].endswith("files and licence unknown") and "license" not in one


def test_a_crate_of_other_licences_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {
        name: sources.Source(*name, one.url, (), one.sha256, one.bytes, "another licence")
        for name, one in sources.load().items()
    }
    monkeypatch.setattr(sources, "load", lambda: changed)
    with pytest.raises(
        ReportingError, match=r"ro-crate-metadata.json is not of what .* `make publish SC"
    ):
        check_crate(SCALES[0])


def test_a_missing_crate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportingError, match="run `make publish SCALE=lite`"):
        check_crate(tmp_path / "lite")


def test_the_pages_of_a_site_are_not_published_files(tmp_path: Path) -> None:
    for name in ("table.csv", "report.html"):
        (tmp_path / name).write_text("a\n")
    assert [one["@id"] for one in crate._files(tmp_path)] == ["table.csv"]
