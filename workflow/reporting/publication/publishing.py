"""Publication: results of a scale join those published before, so that seeds add up over days.

A published run is a seed of a variant.  The same identity measured by the same code stays as it is.
What was published with other code, settings or data than today's is marked stale: kept as a file,
but in no table, figure or claim.
"""

import os
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.files import (
    csv_text,
    fold_sidecars,
    read_history,
    read_sidecar,
    write_json,
    write_text,
)
from workflow.planning.corpora import DescribedCorpus
from workflow.planning.plan import Plan
from workflow.reporting.claims import history
from workflow.reporting.publication.costs import COLUMNS, Costs, commands
from workflow.reporting.publication.costs import NAME as COMMANDS
from workflow.reporting.publication.crate import NAME as CRATE
from workflow.reporting.publication.crate import WORKFLOW, write_crate
from workflow.reporting.publication.current import Now
from workflow.reporting.publication.outputs import FactsSource, make_all
from workflow.reporting.publication.paper_pages import FIGURE, paper_pages
from workflow.reporting.publication.published_page import scale_page
from workflow.reporting.publication.results import (
    INDEX,
    RUNS,
    RunResult,
    by_experiment,
    combine,
    given,
    lines_of,
    published,
    published_at,
    with_staleness,
)
from workflow.reporting.publication.summary import headline_of
from workflow.reporting.publication.weights import FOLDER as WEIGHTS
from workflow.reporting.publication.weights import write_weights
from workflow.reporting.statistics import tolerances
from workflow.reporting.tables.corpus_tables import Facts
from workflow.reporting.texts import FOLDER, Texts, put_apart
from workflow.runtime.atomic import unwritable
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import checksums_of
from workflow.runtime.json_lines import write_lines

LIMIT = 1 << 20
"""Largest published file but for weights, and largest line of one that has many, in bytes."""
KEPT = {"tables": ("csv",), "figures": (FIGURE,)}
"""What is published of tables and figures; the rest is made of these on demand."""
MADE = (*KEPT, "claims", FOLDER, WEIGHTS, RUNS)


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


def publish(plan: Plan, to: Path, now: Now) -> dict[str, str]:
    """Publish a plan's results below `to` (docs/reproduction); return which runs are stale and why.

    Without new results, what is published is made anew from its own measures. Everything is made
    aside first, so an error leaves the published files as they were. Tables, figures and claims
    that are no longer made are removed; runs never are.

    Raises ReportingError with its sentence for results that can't be published.
    """
    scale, folder = plan.scale, to / plan.scale
    before = published(folder)
    combined = combine(with_staleness(before, now), given(plan, now))
    results = {
        key: replace(result, path=published_at(folder, key))
        for key, result in with_staleness(combined, now).items()
    }
    if not results:
        where = Path(plan.folder) / "measures"
        raise ReportingError(f"{where}: nothing was measured; run this scale first.")
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".publish-") as name:
        aside = Path(name) / scale
        _write_runs(aside, results)
        write_weights(plan, folder, aside, results)
        make_all(plan, results.values(), facts_told((folder, Path(plan.folder))), to, aside)
        papers = list(Paper.all(plan.mechanisms))
        for kind, kept_of_it in KEPT.items():
            fold_sidecars(aside / kind, kept_of_it)
        _write_histories(folder, aside, {result.identity for result in before.values()})
        stale = {key: result.stale for key, result in results.items() if result.stale}
        again = {key: result.again for key, result in results.items() if result.again}
        runs = [result.run for result in results.values()]
        found = headline_of(aside)
        write_text(aside / COMMANDS, csv_text(COLUMNS, commands(Costs(plan, aside.parent), papers)))
        pages = paper_pages(aside, scale, papers, found)
        titles = {key: page.partition("\n")[0].removeprefix("# ") for key, page in pages.items()}
        pages["README"] = scale_page(aside, scale, found, titles, stale, again, runs)
        for page, text in pages.items():
            write_text(aside / f"{page}.md", text)
        write_crate(folder, aside, results, papers)
        _write_index(aside, results)
        paths = sorted(path for path in aside.rglob("*") if path.is_file())
        made = {folder / path.relative_to(aside): path for path in paths}
        for target, path in made.items():
            if why := unwritable(target):
                raise ReportingError(f"{why}; move it away, then: git restore {to}")
            if path.suffix != ".safetensors" and _largest(path) > LIMIT:
                raise ReportingError(
                    f"{target} would be larger than 1 MiB; keep fewer per-example values in its "
                    "evaluator."
                )
        for target, path in made.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
    kept = (path for kind in MADE for path in (folder / kind).rglob("*") if path.is_file())
    for path in (*kept, *folder.glob("*.md")):
        if path not in made:
            path.unlink()
    return stale


def stale_now(plan: Plan, to: Path, now: Now) -> dict[str, str]:
    """Return the published runs of a scale that count, but no longer would, with the reason."""
    before = published(to / plan.scale)
    after = {key: result.stale for key, result in with_staleness(before, now).items()}
    return {key: why for key, why in after.items() if why and not before[key].stale}


def _write_runs(aside: Path, results: Mapping[str, RunResult]) -> None:
    for experiment, keys in by_experiment(results).items():
        texts: Texts = {}
        runs = {
            line: {**results[key].run, "measures": put_apart(results[key].measures, texts)}
            for line, key in keys.items()
        }
        write_lines(lines_of(aside, RUNS, experiment), runs)
        if texts:
            write_lines(lines_of(aside, FOLDER, experiment), texts)


def _largest(path: Path) -> int:
    """Return the size of a file, of JSON lines and the crate that of the longest line."""
    if path.suffix == ".jsonl" or path.name == CRATE:
        return max(map(len, path.read_bytes().split(b"\n")))
    return path.stat().st_size


def _write_histories(folder: Path, aside: Path, known: Collection[str]) -> None:
    """Write how tolerances and claims changed from what stands in a folder to what was made aside.

    `known` are the runs that were published before.
    """
    today = datetime.now(UTC).date().isoformat()
    rules = tolerances.extended(read_history(folder / tolerances.NAME), tolerances.current(), today)
    changes = history.changes(history.claims_of(folder), history.claims_of(aside), known)
    claims = history.extended(read_history(folder / history.NAME), changes, today)
    for name, entries in ((tolerances.NAME, rules), (history.NAME, claims)):
        write_json(aside / name, {"schema": 1, "history": entries})


def _write_index(aside: Path, results: Mapping[str, RunResult]) -> None:
    runs = {
        key: {"identity": result.identity, "stale": result.stale} for key, result in results.items()
    }
    kinds = ("*.md", "*.jsonl", "*.safetensors", COMMANDS, CRATE, WORKFLOW)
    whole = [path.relative_to(aside).as_posix() for kind in kinds for path in aside.rglob(kind)]
    write_json(aside / INDEX, {"schema": 1, "runs": runs, "files": checksums_of(aside, whole)})


def facts_told(folders: Iterable[Path]) -> FactsSource:
    """Return what knows the facts of the tables made before; those of the last folder count."""

    def known(paper: Paper, name: str, rows: Mapping[str, DescribedCorpus]) -> dict[str, Facts]:
        facts: dict[str, Facts] = {}
        for folder in folders:
            table = folder / "tables" / paper.name / f"{name}.csv"
            described = read_sidecar(table)["corpora"] if table.is_file() else {}
            facts |= {row: told for row, told in described.items() if "missing" not in told}
        return facts

    return known
