"""A table made from the data alone: what each corpus holds, beside what the paper says of it.

A corpus is described by facts: its recipe, where its files came from, and what its manifest tells.
Facts stand in the table's sidecar, so that a published table can be made anew without the data.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from workflow.datasets.fetched import origins
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.own_files import OWN
from workflow.datasets.kinds.recipe import Recipe, files
from workflow.definitions.cells import why_different
from workflow.definitions.corpora import CorpusRow, CorpusTable
from workflow.definitions.expected import Expected
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Tables
from workflow.reporting.cells import Facts, LongForm, TableAbout, frame, record
from workflow.reporting.overlaid import Changes
from workflow.reporting.statistics.comparability import hindrances_of_scale
from workflow.reporting.statistics.verdict import Verdict
from workflow.reporting.tables.tabulating import write_table

KEPT = ("digest", "splits", "vocabulary_size", "vocabulary_sizes", "statistics")
"""What a table needs of a manifest; the sizes by side stand in some alone."""


@dataclass(frozen=True)
class CorpusColumn:
    """What is told of every corpus; `label` is the metric's and column's name in expected.csv."""

    label: str
    unit: str
    """`texts` are pairs where the corpus is parallel."""
    value: Callable[[Facts], float | str | None]
    digits: int = 0


def _statistic(*path: str) -> Callable[[Facts], Any]:
    """Return the function that reads a statistic of the manifest, None where there is none."""

    def read(facts: Facts) -> Any:
        value: Any = facts["statistics"]
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        return value

    return read


def _median(*path: str) -> Callable[[Facts], Any]:
    """Return the function that reads a median length of a split, or of one of its sides.

    Of pairs the former is a text with both sides'.
    """
    read = _statistic("median_length", *path)

    def median(facts: Facts) -> Any:
        value = read(facts)
        return _sides(value) if isinstance(value, Mapping) else value

    return median


def _sides(values: Mapping[str, float]) -> str:
    return " / ".join(f"{values[side]:,g}" for side in ("source", "target"))


def _vocabulary(facts: Facts) -> int | str:
    sizes = facts.get("vocabulary_sizes")
    return _sides(sizes) if sizes else int(facts["vocabulary_size"])


def _dropped(facts: Facts) -> str | None:
    counts = _statistic("dropped")(facts)
    if counts is None:
        return None
    return "; ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items())) or "none"


def _size(split: str) -> Callable[[Facts], int]:
    return lambda facts: int(facts["splits"][split]["examples"])


def _duplicates(facts: Facts) -> str | None:
    counts = _statistic("duplicates")(facts)
    return " / ".join(str(counts[split]) for split in ("train", "dev", "test")) if counts else None


def _unknown(facts: Facts) -> float | None:
    counts = _statistic("unknown_tokens")(facts)
    if counts is None:
        return None
    return float(100 * sum(counts.values()) / sum(facts["splits"][s]["tokens"] for s in counts))


COLUMNS: Mapping[str, CorpusColumn] = {
    "train": CorpusColumn("train #", "texts", _size("train")),
    "dev": CorpusColumn("val #", "texts", _size("dev")),
    "test": CorpusColumn("test #", "texts", _size("test")),
    "train_length": CorpusColumn("median train seq len", "tokens", _median("train")),
    "dev_length": CorpusColumn("median val seq len", "tokens", _median("dev")),
    "test_length": CorpusColumn("median test seq len", "tokens", _median("test")),
    **{
        f"{split}_{side}_length": CorpusColumn(
            f"median {name} seq len, {side}", "tokens", _median(split, side)
        )
        for split, name in (("train", "train"), ("dev", "val"))
        for side in ("source", "target")
    },
    "vocabulary": CorpusColumn("vocab size", "entries", _vocabulary),
    "dropped": CorpusColumn("left out of train", "texts", _dropped),
    "duplicates": CorpusColumn("repeated train / val / test", "texts", _duplicates),
    "unknown": CorpusColumn("unknown (%)", "%", _unknown, 2),
    "form": CorpusColumn("source", "", lambda facts: str(facts["form"])),
}


def unit(column: CorpusColumn, facts: Facts) -> str:
    """Return the unit of a column in the row of a corpus; a parallel one has a direction.

    Which kind of corpus it is remains unknown where the scale does not name it.
    """
    if column.unit != "texts":
        return column.unit
    if facts["recipe"] is None:
        return ""
    return "pairs" if "direction" in facts["recipe"] else "texts"


def facts_of(recipe: Recipe, encoded: Path, fetched: Path) -> Facts:
    """Return the facts of a corpus.

    Args:
        recipe: its recipe.
        encoded: folder of its encoded data.
        fetched: folder of its dataset's fetched files, each with a record of its origin.
    """
    manifest = read_manifest(encoded)
    names = files(recipe)["sources"]
    form = str(recipe.get("source", "official")) if names else "generated"
    form = "the user's own" if recipe["dataset"] in OWN else form
    read = [origins.read(fetched / name) for name in names]
    kinds = {origin.kind for origin in read if origin}
    for kind in ("bundle", "manual"):
        form += f", {kind}" if kind in kinds else ""
    kept = {name: value for name, value in manifest.items() if name in KEPT}
    return cast(Facts, {"recipe": dict(recipe), "form": form, **kept})


def with_stated(facts: Facts, stated: Recipe | None) -> Facts:
    """Return facts with the recipe in whose place an overlay puts other data, where it does."""
    return facts if stated is None else {**facts, "stated": stated}


def describe(paper: Paper, name: str, scale: str, facts: Mapping[str, Facts], prefix: Path) -> None:
    """Write a table of corpora as `<prefix>.csv`, `.md`, `.tex` and its sidecar `.json`."""
    made, shown = build(paper, name, scale, facts), as_tables(paper, name, facts)
    write_table(made, shown, name, prefix)


def build(paper: Paper, name: str, scale: str, facts: Mapping[str, Facts]) -> LongForm:
    """Return the table in long form; `facts` are by row id."""
    definition = paper.definition("corpora", name)
    about: TableAbout = {
        "schema": 1,
        "paper": paper.name,
        "table": name,
        "scale": scale,
        "tolerances": {},
        "corpora": dict(facts),
    }
    cells = []
    for row in definition["rows"]:
        described = facts[row["id"]]
        why = _hindrances(paper, scale, described)
        for one in definition["columns"]:
            column = COLUMNS[one]
            value = None if "missing" in described else column.value(described)
            number = printed(paper, definition, row, column)
            verdict = judge(value, described.get("missing", ""), number, why)
            because = why_different(definition, row["id"], one, verdict.word)
            printed_note = number.note if number else ""
            own_note = "" if "stated" in described else row.get("note", "")
            notes = (verdict.reason, *because.values(), printed_note, own_note)
            cell = record(
                paper=paper.name,
                source=number.source if number else definition["source"],
                table=name,
                row=row["label"],
                column=column.label,
                metric=column.label,
                unit=unit(column, described),
                statistic="single",
                spread_over="runs",
                expected=number.printed.text if number else "",
                flag=number.flag if number else "",
                mean=value if isinstance(value, float) else value or None,
                n=None if "missing" in described else 1,
                verdict=verdict.word,
                note="; ".join(filter(None, notes)),
                corpus=described.get("digest"),
                **because,
                **_overlaid(described),
            )
            cells.append(cell)
    return LongForm(frame(cells), about)


def _overlaid(facts: Facts) -> Changes:
    return {"overlaid": {"data": [facts["stated"], facts["recipe"]]}} if "stated" in facts else {}


def printed(
    paper: Paper, definition: CorpusTable, row: CorpusRow, column: CorpusColumn
) -> Expected | None:
    """Return what the paper prints in a cell, if anything."""
    place = row.get("printed", definition.get("printed"))
    if place is None:
        return None
    key = (place["source"], place["table"], row["label"], column.label, column.label)
    return paper.expected.values.get(key)


def judge(
    value: float | str | None, missing: str, number: Expected | None, hindrances: list[str]
) -> Verdict:
    """Return the verdict on a fact: nothing is trained, so only an equal number is reproduced."""
    if missing:
        return Verdict("not run", missing)
    if number is None or not number.printed.text:
        return Verdict("not comparable", "the paper prints no value")
    if number.flag == "misprint":
        hindrances = [*hindrances, "the printed number is a misprint"]
    if hindrances:
        return Verdict("not comparable", "; ".join(hindrances))
    theirs = number.printed.value
    if theirs is None or value is None or isinstance(value, str):
        return Verdict("not comparable", "text is shown, not scored")
    if value == theirs:
        return Verdict("reproduced", "equal")
    return Verdict("differs", f"difference {value - theirs:+.6g}")


def definitions_of(paper: Paper, table: LongForm) -> Tables:
    """Return the definitions that lay out a table that was read, be it of runs or of corpora."""
    facts = table.about.get("corpora")
    return paper.tables if facts is None else as_tables(paper, table.about["table"], facts)


def as_tables(paper: Paper, name: str, facts: Mapping[str, Facts]) -> Tables:
    """Return the table as a definition like those of `tables.yaml`, which the layout reads."""
    definition = paper.definition("corpora", name)
    columns = {one: COLUMNS[one] for one in definition["columns"]}
    metrics = {}
    for column in columns.values():
        values = [column.value(one) for one in facts.values() if "missing" not in one]
        parts = any(isinstance(value, float) and value % 1 for value in values)
        metrics[column.label] = {"label": column.label, "digits": column.digits or int(parts)}
    about = [f"{row['label']}: {row['note']}" for row in definition["rows"] if "note" in row]
    missing: dict[str, list[str]] = {}
    for row in definition["rows"]:
        if "missing" in facts[row["id"]]:
            missing.setdefault(facts[row["id"]]["missing"], []).append(row["label"])
    about += [f"{', '.join(labels)}: not run: {reason}." for reason, labels in missing.items()]
    shown = {
        "title": definition["title"],
        "caption": definition["caption"],
        "source": definition["source"],
        "labels": ["Corpus"],
        "rows": [{"id": row["id"], "label": row["label"]} for row in definition["rows"]],
        "columns": [
            {"id": one, "label": column.label, "metrics": [column.label]}
            for one, column in columns.items()
        ],
        "notes": [*definition.get("notes", []), *about],
    }
    return cast(Tables, {"metrics": metrics, "tables": {name: shown}})


def _hindrances(paper: Paper, scale: str, facts: Facts) -> list[str]:
    reasons = hindrances_of_scale(scale)
    for condition in paper.corpora.get("not_comparable", []):
        recipe = facts.get("recipe")
        if recipe and all(recipe.get(name) == value for name, value in condition["when"].items()):
            reasons.append(str(condition["because"]))
    return reasons
