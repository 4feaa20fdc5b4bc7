"""Publication: results of a scale join those published before, so that seeds add up over days.

A published run is a seed of a variant.  The same identity measured by the same code stays as it is.
What was published with other code, settings or data than today's is marked stale: kept as a file,
but in no table, figure or claim.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from model.store.checksums import check_files, listed
from workflow.definitions.paper import Paper
from workflow.errors import ReportingError
from workflow.files import read_json, write_json, write_text
from workflow.planning.corpora import Corpus
from workflow.planning.plan import Plan, named
from workflow.reporting.measures import Measures, read_measure
from workflow.reporting.publication.current import Now, Traits, outdated, traits
from workflow.reporting.publication.outputs import Known, write_corpora, write_outputs
from workflow.reporting.publication.published_page import scale_page
from workflow.reporting.statistics import tolerances
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.texts import FOLDER, put_apart, put_back

LIMIT = 1 << 20
"""Largest published file, in bytes."""
DIGITS = 4
"""Decimals kept of per-example arrays."""
SUMS = ("files", "checkpoints")
"""The checksums of a run's results, which stay with whoever trained it."""
WITHHELD = ("pictures",)
"""Per-example arrays that are published empty: photos belong to those who took them."""
INDEX = "index.json"
"""Tells of each published run, and the checksum of what is not sealed itself."""
MADE = ("tables", "figures", "claims", FOLDER)

Entry = dict[str, Any]
"""A run as published: its `measures`, its `run` (run.json) and why it is `stale`, if it is."""


def refuse_dirty(root: Path) -> None:
    """Raise ReportingError unless `root` is in a git working tree without uncommitted changes."""
    try:
        status = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except FileNotFoundError:
        raise ReportingError("git is not installed; install it to publish.") from None
    except subprocess.CalledProcessError:
        raise ReportingError(f"{root}: not a git working tree; publish from a clone.") from None
    if status.strip():
        first = status.splitlines()[0][3:]
        raise ReportingError(
            f"The working tree has uncommitted changes ({first}, ...); commit or stash them, "
            "so that what is published can be told apart from them."
        )


def given(plan: Plan, now: Now) -> dict[str, Entry]:
    """Return the runs of a plan that were measured, by `<experiment>/<variant>/seed-<n>`.

    Left-overs of other seeds or variants are not looked at.

    Raises ReportingError when the measures of one are broken or don't count.
    """
    found = {key: entry for key in planned_runs(plan) if (entry := measured(plan, key))}
    for key, entry in found.items():
        if reason := outdated(made_of(entry), now(key)):
            raise ReportingError(
                f"{measures_of(plan, key)}: {reason}; run this scale again, then publish."
            )
    return found


def planned_runs(plan: Plan) -> list[str]:
    """Return the runs of a plan, as `<experiment>/<variant>/seed-<n>`."""
    return [run.key for experiment in plan.selected for run in plan.runs(experiment)]


def measures_of(plan: Plan, key: str) -> Path:
    """Return the file of a run's measures, which need not be there."""
    return Path(plan.folder) / "measures" / f"{key}.json"


def measured(plan: Plan, key: str) -> Entry | None:
    """Return a run as it was measured, None where it was not.

    Whether it still counts today is not asked. Raises ReportingError when its run.json is missing
    or of another run than the measures.
    """
    path = measures_of(plan, key)
    run_path = Path(plan.folder) / "runs" / key / "run.json"
    if not path.is_file():
        return None
    entry: Entry = {"measures": read_json(path), "run": read_json(run_path), "stale": None}
    if entry["measures"].get("identity") != entry["run"].get("identity"):
        raise ReportingError(f"{path} and {run_path} are of different runs; run the job again.")
    return entry


def published(folder: Path) -> dict[str, Entry]:
    """Return the runs published below `docs/reproduction/<scale>`; empty before the first time.

    Raises Damaged when a file is not what was published.
    """
    if not (folder / INDEX).is_file():
        return {}
    entries = {}
    index = read_json(folder / INDEX)
    check_files(folder, index["files"])
    for key, entry in index["runs"].items():
        path = folder / "measures" / f"{key}.json"
        entries[key] = {
            "measures": put_back(read_json(path), path),
            "run": read_json(folder / "runs" / f"{key}.json"),
            "stale": entry["stale"],
        }
    return entries


def made_of(entry: Entry) -> Traits:
    """Return the traits of a run as it was made."""
    return traits(entry["run"]["spec"], entry["measures"]["evaluators"])


def merge(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return what is published once `new` has joined `old`; neither is changed.

    A run that is published already with the same identity and measuring code is kept as it is,
    unless its evaluators have read records of more runs now.
    """
    merged = dict(old)
    for key, entry in new.items():
        before = old.get(key)
        same = before is not None and (
            before["measures"]["identity"] == entry["measures"]["identity"]
            and made_of(before)["measuring code"] == made_of(entry)["measuring code"]
            and _read_by(entry) <= _read_by(before)
        )
        if not same:
            merged[key] = publishable(entry)
    return dict(sorted(merged.items()))


def _read_by(entry: Entry) -> set[tuple[str, str]]:
    """Return which runs' records the evaluators of a run read, each with its argument."""
    records = entry["measures"].get("records", {})
    return {(argument, key) for argument, keys in records.items() for key in keys}


def judged(entries: Mapping[str, Entry], now: Now) -> dict[str, Entry]:
    """Return the entries with `stale` as it is today.

    A run is stale when its variant is gone or made of something else today, or when the data of a
    later run of the variant have other contents.
    """
    found = {key: {**it, "stale": outdated(made_of(it), now(key))} for key, it in entries.items()}
    latest: dict[str, tuple[str, str]] = {}
    for key, entry in found.items():
        if not entry["stale"]:
            made = (str(entry["run"].get("finished")), contents(entry))
            latest[variant_of(key)] = max(made, latest.get(variant_of(key), made))
    for key, entry in found.items():
        if not entry["stale"] and contents(entry) != latest[variant_of(key)][1]:
            entry["stale"] = "of data with other contents"
    return found


def variant_of(key: str) -> str:
    """Return `<experiment>/<variant>` of a run."""
    return key.rpartition("/")[0]


def contents(entry: Entry) -> str:
    """Return the digest of the data that a run was trained on."""
    return str(entry["run"]["spec"]["data"]["digest"])


def publishable(entry: Entry) -> Entry:
    """Return an entry with its per-example arrays rounded, those of photos empty."""

    def of(name: str, values: list[Any]) -> Any:
        return [""] * len(values) if name in WITHHELD else _round(values)

    measures = dict(entry["measures"])
    measures["evaluators"] = {
        evaluator: {**one, "arrays": {n: of(n, a) for n, a in one.get("arrays", {}).items()}}
        for evaluator, one in measures["evaluators"].items()
    }
    run = {name: value for name, value in entry["run"].items() if name not in SUMS}
    sums = {name: told for kind in SUMS for name, told in entry["run"][kind].items()}
    return {**entry, "measures": measures, "run": {**run, "results": sums}}


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [_round(item) for item in value]
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return value


def publish(plan: Plan, to: Path, now: Now) -> dict[str, str]:
    """Publish a plan's results below `to` (docs/reproduction); return which runs are stale and why.

    Without new results, what is published is made anew from its own measures. Everything is made
    aside first, so an error leaves the published files as they were. Tables, figures and claims
    that are no longer made are removed; runs never are.

    Raises ReportingError with its sentence for results that can't be published.
    """
    scale, folder = plan.scale, to / plan.scale
    entries = judged(merge(published(folder), given(plan, now)), now)
    entries = {key: with_records(plan, key, entries) for key in entries}
    if not entries:
        where = Path(plan.folder) / "measures"
        raise ReportingError(f"{where}: nothing was measured; run this scale first.")
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".publish-") as name:
        aside = Path(name) / scale
        _write_runs(aside, entries)
        history = tolerances.read_history(folder)
        today = datetime.now(UTC).date().isoformat()
        extended = tolerances.extended(history, tolerances.current(), today)
        write_json(aside / tolerances.NAME, {"schema": 1, "history": extended})
        papers = Paper.all(plan.mechanisms)
        measures = _measures(aside, folder, entries)
        base = to / base_scale(scale) if base_scale(scale) != scale else None
        for paper in papers:
            write_outputs(paper, scale, measures, aside, base)
            facts = _facts(paper, (folder, Path(plan.folder)))
            write_corpora(paper, plan, facts, aside)
        stale = {key: entry["stale"] for key, entry in entries.items() if entry["stale"]}
        write_text(aside / "README.md", scale_page(aside, scale, _titles(papers), stale))
        _write_index(aside, entries)
        made = [path for path in sorted(aside.rglob("*")) if path.is_file()]
        for path in made:
            if path.stat().st_size > LIMIT:
                raise ReportingError(
                    f"{folder / path.relative_to(aside)} would be larger than 1 MiB; keep fewer "
                    "per-example values in its evaluator."
                )
        for path in made:
            target = folder / path.relative_to(aside)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        kept = {folder / path.relative_to(aside) for path in made}
    for path in (p for kind in MADE for p in (folder / kind).rglob("*") if p.is_file()):
        if path not in kept:
            path.unlink()
    return stale


def stale_now(plan: Plan, to: Path, now: Now) -> dict[str, str]:
    """Return the published runs of a scale that count, but no longer would, with the reason."""
    before = published(to / plan.scale)
    after = {key: entry["stale"] for key, entry in judged(before, now).items()}
    return {key: why for key, why in after.items() if why and not before[key]["stale"]}


def with_records(plan: Plan, key: str, entries: Mapping[str, Entry]) -> Entry:
    """Return a run's entry with the published runs whose records its evaluators read.

    Measures made before they named these get them from the plan; a stale run may be in none.
    """
    entry = entries[key]
    if entry["stale"] or "records" in entry["measures"]:
        return entry
    read = plan.records(plan.run(*named(key)))
    if not read:
        return entry
    records = {n: [one.key for one in runs if one.key in entries] for n, runs in read.items()}
    return {**entry, "measures": {**entry["measures"], "records": records}}


def _write_runs(aside: Path, entries: Mapping[str, Entry]) -> None:
    for key, entry in entries.items():
        path = aside / "measures" / f"{key}.json"
        write_json(path, put_apart(entry["measures"], path), compact=True)
        write_json(aside / "runs" / f"{key}.json", entry["run"])


def _write_index(aside: Path, entries: Mapping[str, Entry]) -> None:
    runs = {
        key: {"identity": entry["measures"]["identity"], "stale": entry["stale"]}
        for key, entry in entries.items()
    }
    texts = [f"{FOLDER}/{path.name}" for path in (aside / FOLDER).glob("*")]
    files = listed(aside, ["README.md", *texts])
    write_json(aside / INDEX, {"schema": 1, "runs": runs, "files": files})


def _measures(aside: Path, folder: Path, entries: Mapping[str, Entry]) -> Measures:
    """Return the measures that are not stale, written `aside` and soon to be in `folder`."""
    provenance = {entry["run"]["identity"]: entry["run"] for entry in entries.values()}
    return Measures(
        replace(
            read_measure(aside / "measures" / f"{key}.json", provenance),
            path=folder / "measures" / f"{key}.json",
        )
        for key, entry in entries.items()
        if not entry["stale"]
    )


def _facts(paper: Paper, folders: Iterable[Path]) -> Known:
    """Return what knows the facts of the tables made before; those of the last folder count."""

    def known(name: str, rows: Mapping[str, Corpus]) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for folder in folders:
            sidecar = folder / "tables" / paper.name / f"{name}.json"
            described = read_json(sidecar)["corpora"] if sidecar.is_file() else {}
            facts |= {row: one for row, one in described.items() if "missing" not in one}
        return facts

    return known


def _titles(papers: Iterable[Paper]) -> dict[str, str]:
    papers = list(papers)
    return {paper.name: paper.about.title for paper in papers} | {
        f"{paper.name}/{name}": definition["title"]
        for paper in papers
        for kind in map(paper.items, ("tables", "corpora", "figures"))
        for name, definition in kind.items()
    }
