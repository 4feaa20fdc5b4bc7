"""Publication: results of a scale join those published before, so that seeds add up over days.

A published run is a seed of a variant.  The same identity measured by the same code stays as it is.
Where results of a variant are given anew with other code or settings, what was published of its
other seeds is marked stale: kept as a file, but in no table, figure or claim.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workflow.planning.identity import digest
from workflow.reporting import tolerances
from workflow.reporting.claims import judge
from workflow.reporting.comparability import base_scale
from workflow.reporting.files import ReportingError, read_json, write_json, write_text
from workflow.reporting.measures import Measures, read_measure
from workflow.reporting.paper import Paper
from workflow.reporting.summary import scale_page
from workflow.reporting.tabulating import tabulate

LIMIT = 1 << 20
"""Largest published file, in bytes."""
DIGITS = 4
"""Decimals kept of per-example arrays."""
LABELS = ("run", "identity", "seed", "parents")

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


def given(results: Path) -> dict[str, Entry]:
    """Return the runs of `results/<scale>` by `<experiment>/<variant>/seed-<n>`.

    Raises ReportingError when a run.json is missing or of another run than the measures, when
    nothing was measured, or when the seeds of a variant were not made alike.
    """
    found: dict[str, Entry] = {}
    for path in sorted((results / "measures").glob("*/*/seed-*.json")):
        key = path.relative_to(results / "measures").with_suffix("").as_posix()
        run_path = results / "runs" / key / "run.json"
        entry: Entry = {"measures": read_json(path), "run": read_json(run_path), "stale": None}
        if entry["measures"].get("identity") != entry["run"].get("identity"):
            raise ReportingError(f"{path} and {run_path} are of different runs; run the job again.")
        found[key] = entry
    if not found:
        raise ReportingError(f"{results / 'measures'}: nothing was measured; run this scale first.")
    for variant, keys in by_variant(found).items():
        if len({digest(traits(found[key])) for key in keys}) > 1:
            raise ReportingError(
                f"{results}: the seeds of {variant} were made with different code or settings; run "
                "this scale again, then publish."
            )
    return found


def published(folder: Path) -> dict[str, Entry]:
    """Return the runs published below `docs/reproduction/<scale>`; empty before the first time."""
    if not (folder / "index.json").is_file():
        return {}
    return {
        key: {
            "measures": read_json(folder / "measures" / f"{key}.json"),
            "run": read_json(folder / "runs" / f"{key}.json"),
            "stale": entry["stale"],
        }
        for key, entry in read_json(folder / "index.json")["runs"].items()
    }


def by_variant(keys: Iterable[str]) -> dict[str, list[str]]:
    """Group `<experiment>/<variant>/seed-<n>` by `<experiment>/<variant>`."""
    groups: dict[str, list[str]] = {}
    for key in keys:
        groups.setdefault(key.rpartition("/")[0], []).append(key)
    return groups


def traits(entry: Entry) -> dict[str, Any]:
    """Return what the seeds of a variant must share: code, data and settings, measuring code."""
    spec = entry["run"]["spec"]
    settings = {key: spec[key] for key in spec if key not in (*LABELS, "code", "data")}
    evaluators = entry["measures"]["evaluators"]
    return {
        "code": spec.get("code"),
        "data": {key: value for key, value in spec["data"].items() if key != "recipe"},
        "settings": settings,
        "measuring code": {name: one.get("code") for name, one in evaluators.items()},
    }


def merge(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return what is published once `new` has joined `old`; neither is changed.

    A run that is published already with the same identity and measuring code is kept as it is;
    published seeds of a variant that differ in their traits from the new ones become stale.
    """
    merged = {key: dict(entry) for key, entry in old.items()}
    for key, entry in new.items():
        before = old.get(key)
        same = before is not None and (
            before["measures"]["identity"] == entry["measures"]["identity"]
            and traits(before)["measuring code"] == traits(entry)["measuring code"]
        )
        merged[key] = {**(before if before is not None and same else rounded(entry)), "stale": None}
    current = {variant: traits(new[keys[0]]) for variant, keys in by_variant(new).items()}
    for variant, keys in by_variant(merged).items():
        for key in keys:
            if variant in current and key not in new:
                theirs = traits(merged[key])
                other = [name for name in theirs if theirs[name] != current[variant][name]]
                merged[key]["stale"] = f"of other {' and '.join(other)}" if other else None
    return dict(sorted(merged.items()))


def rounded(entry: Entry) -> Entry:
    """Return an entry with its per-example arrays rounded."""
    measures = dict(entry["measures"])
    measures["evaluators"] = {
        name: {**one, "arrays": _round(one.get("arrays", {}))}
        for name, one in measures["evaluators"].items()
    }
    return {**entry, "measures": measures}


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [_round(item) for item in value]
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return value


def publish(results: Path, scale: str, to: Path) -> list[str]:
    """Publish `results/<scale>` below `to` (docs/reproduction); return the stale runs.

    Everything is made aside first, so an error leaves the published files as they were.
    Raises ReportingError with its sentence for results that can't be published.
    """
    folder = to / scale
    entries = merge(published(folder), given(results / scale))
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".publish-") as name:
        aside = Path(name) / scale
        _write_runs(aside, entries)
        history = tolerances.read_history(folder)
        today = datetime.now(UTC).date().isoformat()
        extended = tolerances.extended(history, tolerances.current(), today)
        write_json(aside / tolerances.NAME, {"schema": 1, "history": extended})
        _write_outputs(aside, folder, scale, entries)
        stale = {key: entry["stale"] for key, entry in entries.items() if entry["stale"]}
        write_text(aside / "README.md", scale_page(aside, scale, _titles(), stale))
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
    return sorted(stale)


def _write_runs(aside: Path, entries: Mapping[str, Entry]) -> None:
    for key, entry in entries.items():
        write_json(aside / "measures" / f"{key}.json", entry["measures"], compact=True)
        write_json(aside / "runs" / f"{key}.json", entry["run"])
    index = {
        key: {"identity": entry["measures"]["identity"], "stale": entry["stale"]}
        for key, entry in entries.items()
    }
    write_json(aside / "index.json", {"schema": 1, "runs": index})


def _write_outputs(aside: Path, folder: Path, scale: str, entries: Mapping[str, Entry]) -> None:
    """Make tables, figures and claims over the runs that are not stale."""
    from workflow.reporting.drawing import plot

    provenance = {entry["run"]["identity"]: entry["run"] for entry in entries.values()}
    measures = Measures(
        replace(
            read_measure(aside / "measures" / f"{key}.json", provenance),
            path=folder / "measures" / f"{key}.json",
        )
        for key, entry in entries.items()
        if not entry["stale"]
    )
    base = folder.parent / base_scale(scale) if base_scale(scale) != scale else None
    for paper in Paper.all():
        for name in paper.tables["tables"]:
            before = base / "tables" / paper.name / f"{name}.csv" if base else None
            prefix = aside / "tables" / paper.name / name
            tabulate(paper, name, scale, measures, prefix, before)
        for name in paper.figures["figures"]:
            plot(paper, name, scale, measures, aside / "figures" / paper.name / name)
        write_json(aside / "claims" / f"{paper.name}.json", judge(paper, scale, measures))


def _titles() -> dict[str, str]:
    return {
        f"{paper.name}/{name}": definition["title"]
        for paper in Paper.all()
        for kind in (paper.tables["tables"], paper.figures["figures"])
        for name, definition in kind.items()
    }
