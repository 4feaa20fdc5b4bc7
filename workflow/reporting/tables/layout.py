"""A table in its paper's own layout: ours with its spread, the paper's beside it, the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workflow.definitions.cells import cells, format_of, metrics_of, row_name
from workflow.reporting.statistics.cells import UNDEFINED, Record
from workflow.reporting.tables.footnotes import not_run, runs_behind, trained_on, unequal

Kind = Literal["label", "ours", "paper", "verdict"]
MISSING = "–"
NO_ROW = "None of its rows was run; they stand in the CSV, with what the paper prints."
IN_CSV = "What the paper prints there stands in the CSV."


@dataclass(frozen=True)
class Cell:
    """One cell as a reader sees it; `verdicts` are the words behind a verdict cell."""

    text: str
    kind: Kind
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grid:
    """A table's cells: label columns, then per column ours, and where printed the paper's."""

    labels: tuple[str, ...]
    """Headers of the label columns."""
    columns: tuple[tuple[str, tuple[Kind, ...]], ...]
    """(label, kinds of its sub-columns) of each column."""
    rows: tuple[tuple[Cell, ...], ...]
    """Of which anything was run, or that the paper quotes."""
    below: tuple[str, ...]
    """Which rows were not run, how many runs are behind the cells, and how they were trained."""


class Shown:
    """A value in a cell's format string.

    `{tau}` shows it with its spread, or says of how many runs it is the best; `{tau:mean}` shows it
    alone, `{tau:interval}` with its 95 % interval. `{never:star}` is "*" where the value is above
    0, and nothing else.
    """

    def __init__(
        self,
        mean: str,
        std: str,
        digits: int,
        interval: tuple[str, str] = ("", ""),
        best_of: str = "",
    ) -> None:
        """Take all but the digits as text, empty where there is none."""
        self.mean, self.std, self.digits, self.interval = mean, std, digits, interval
        self.best_of = best_of

    def __format__(self, how: str) -> str:
        """Return the rounded mean with what `how` asks for, as far as it is known; – where none."""
        if how == "star":
            return "*" if self.mean not in ("", UNDEFINED) and float(self.mean) > 0 else ""
        try:
            shown = self._rounded(self.mean)
        except ValueError:
            return self.mean or MISSING
        if how == "interval" and all(self.interval):
            return f"{shown} [{', '.join(map(self._rounded, self.interval))}]"
        if how == "mean":
            return shown
        shown += f"±{self._rounded(self.std)}" if self.std else ""
        return shown + (f" (best of {self.best_of})" if self.best_of else "")

    def _rounded(self, number: str) -> str:
        return f"{float(number):.{self.digits}f}"


def grid(
    definitions: Mapping[str, Any],
    name: str,
    records: Sequence[Record],
    sidecar: Mapping[str, Any],
) -> Grid:
    """Lay out a table's records; its sidecar has an overlay's differences and the runs behind.

    Rows of which nothing was run are named below the table, and not laid out.
    """
    table = definitions["tables"][name]
    differences: dict[tuple[str, ...], str] = {
        (cell["row"], cell["column"], cell["metric"]): str(cell["difference"])
        for cell in sidecar["cells"]
        if cell["difference"]
    }
    main: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        if record["spread_over"] == definitions["metrics"][record["metric"]].get(
            "spread_over", "runs"
        ):
            place = (record["row"], record["column"], record["metric"])
            main.setdefault(place, []).append(record)
    printed = {record["column"] for record in records if record["expected"]}
    columns: list[tuple[str, tuple[Kind, ...]]] = [
        (
            str(column["label"]),
            ("ours", "paper", "verdict") if column["label"] in printed else ("ours",),
        )
        for column in table["columns"]
    ]
    existing = {(row_name(row), column["label"]) for row, column in cells(table)}
    absent = {row_name(row) for row in table["rows"]}
    absent -= {record["row"] for record in records if record["verdict"] != "not run"}
    rows = []
    for row in table["rows"]:
        if row_name(row) in absent:
            continue
        line = [Cell(str(row[part]), "label") for part in ("group", "label") if part in row]
        for column, (label, kinds) in zip(table["columns"], columns, strict=True):
            if (row_name(row), label) not in existing:
                line += [Cell("", kind) for kind in kinds]
                continue
            here = {
                metric: main[row_name(row), label, metric] for metric in metrics_of(row, column)
            }
            line += _cells(definitions["metrics"], format_of(row, column), here, kinds, differences)
        rows.append(tuple(line))
    below: list[str] = []
    if "corpora" not in sidecar:  # whose notes say of each what is missing
        if rows:
            missing = (row for row in table["rows"] if row_name(row) in absent)
            named = not_run((str(row.get("group", "")), str(row["label"])) for row in missing)
            printed_too = any(one["expected"] for one in records if one["row"] in absent)
            below.append(f"{named} {IN_CSV}" if printed_too else named)
        said = (runs_behind(records), unequal(records), trained_on(sidecar["runs"]))
        below.append(" ".join(filter(None, said)))
    return Grid(tuple(table["labels"]), tuple(columns), tuple(rows), tuple(filter(None, below)))


def _cells(
    metrics: Mapping[str, Any],
    form: str,
    here: Mapping[str, Sequence[Record]],
    kinds: Sequence[Kind],
    differences: Mapping[tuple[str, ...], str],
) -> list[Cell]:
    """Return the sub-cells of one cell: ours, the paper's, the verdicts."""
    first = {metric: records[0] for metric, records in here.items()}
    digits = {metric: int(metrics[metric]["digits"]) for metric in here}
    best_of = {name: it["n"] if it["statistic"] == "max" else "" for name, it in first.items()}
    ours = form.format_map(
        {
            name: Shown(
                it["mean"],
                _spread(metrics[name], it),
                digits[name],
                (it["ci_low"], it["ci_high"]),
                best_of[name],
            )
            for name, it in first.items()
        }
    )
    if all(record["verdict"] == "not run" for record in first.values()):
        ours = "not run"
    elif all(record["mean"] == UNDEFINED for record in first.values()):
        ours = MISSING
    changes = [differences.get((it["row"], it["column"], name)) for name, it in first.items()]
    if any(changes):
        ours += f" [Δ {', '.join(change for change in changes if change)}]"
    paper = {name: _printed(records) for name, records in here.items()}
    spreads = {name: it["expected_std"] for name, it in first.items()}
    theirs = form.format_map(
        {name: Shown(paper[name], spreads[name], _decimals(paper[name])) for name in first}
    ).replace(f" ({MISSING})", "")
    theirs += "*" if any(it["flag"] == "starred" for it in first.values()) else ""
    judged = {
        name: {record["source"]: record["verdict"] for record in records if record["expected"]}
        for name, records in here.items()
    }
    words = tuple(word for by_source in judged.values() for word in by_source.values())
    said = "; ".join(
        part for name, found in judged.items() for part in _verdicts(metrics[name]["label"], found)
    )
    by_kind: dict[Kind, Cell] = {
        "ours": Cell(ours, "ours"),
        "paper": Cell(theirs if words else "", "paper"),
        "verdict": Cell(words[0] if len(set(words)) == 1 else said, "verdict", words),
    }
    return [by_kind[kind] for kind in kinds]


def _spread(metric: Mapping[str, Any], record: Record) -> str:
    """Return a cell's deviation, but none of 0 where no training changes the metric (a count)."""
    fixed = metric.get("tolerance", {}).get("seed_std") == 0
    return "" if fixed and record["std"] == "0" else record["std"]


def _verdicts(label: str, by_source: Mapping[str, str]) -> list[str]:
    """Return a metric's verdict, or one a text where they differ."""
    words = set(by_source.values())
    if len(words) > 1:
        return [f"{label} ({source}): {word}" for source, word in by_source.items()]
    return [f"{label}: {word}" for word in words]


def _printed(records: Sequence[Record]) -> str:
    """Return what the texts print: one number, or each where they disagree."""
    return " / ".join(dict.fromkeys(it["expected"] for it in records if it["expected"]))


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])


HEADERS: dict[Kind, str] = {"ours": "ours", "paper": "paper", "verdict": "verdict", "label": ""}


def notes(definitions: Mapping[str, Any], name: str, shown: Grid) -> list[str]:
    """Return what stands below a table: what was not run, its runs, spreads and readings."""
    return [*shown.below, *map(str, definitions["tables"][name].get("notes", []))]


def markdown(definitions: Mapping[str, Any], name: str, shown: Grid, scale: str) -> str:
    """Return the table as GitHub Markdown with its title, caption and notes."""
    table = definitions["tables"][name]
    header = list(shown.labels)
    for label, kinds in shown.columns:
        header += [f"{label}, {HEADERS[kind]}" if len(kinds) > 1 else label for kind in kinds]
    lines = [header, ["---"] * len(header)]
    lines += [[cell.text for cell in row] for row in shown.rows]
    body = "\n".join("| " + " | ".join(_pipe(text) for text in line) + " |" for line in lines)
    body = body if shown.rows else NO_ROW
    below = "\n".join(f"- {note}" for note in notes(definitions, name, shown))
    title = f"## {table['title']} (scale {scale})"
    return f"{title}\n\n{table['caption']}\n\n{body}\n\n{below}".rstrip()


def _pipe(text: str) -> str:
    return text.replace("|", "\\|")


WIDE = 10
"""A LaTeX table with more columns is scaled to the width of the text."""
_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "Δ": r"$\Delta$",
    "−": "$-$",
    "τ": r"$\tau$",
    "λ": r"$\lambda$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
}


def tex_escape(text: str) -> str:
    """Return text with LaTeX's special characters written out, and `code` set as code."""
    parts = ["".join(_TEX.get(sign, sign) for sign in part) for part in text.split("`")]
    return "".join(rf"\texttt{{{part}}}" if index % 2 else part for index, part in enumerate(parts))


def latex(definitions: Mapping[str, Any], name: str, shown: Grid, scale: str) -> str:
    """Return the table as a LaTeX float with booktabs rules; its first line names the packages."""
    table = definitions["tables"][name]
    top, rules, below, at = ["" for _ in shown.labels], [], list(shown.labels), len(shown.labels)
    for label, kinds in shown.columns:
        top.append(rf"\multicolumn{{{len(kinds)}}}{{c}}{{{tex_escape(label)}}}")
        below += [HEADERS[kind] if len(kinds) > 1 else "" for kind in kinds]
        if len(kinds) > 1:
            rules.append(rf"\cmidrule(lr){{{at + 1}-{at + len(kinds)}}}")
        at += len(kinds)
    body, group = [], None
    for row in shown.rows:
        texts = [tex_escape(cell.text) for cell in row]
        if len(shown.labels) > 1:
            if group is not None and texts[0] != group:
                body.append(r"\midrule")
            group, texts[0] = texts[0], "" if texts[0] == group else texts[0]
        body.append(" & ".join(texts) + r" \\")
    alignment = "l" * len(shown.labels) + "c" * (at - len(shown.labels))
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(top) + r" \\",
        "".join(rules),
        " & ".join(tex_escape(text) for text in below) + r" \\",
        r"\midrule",
        *(body or [rf"\multicolumn{{{at}}}{{l}}{{{NO_ROW}}} \\"]),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if at > WIDE:
        lines = [r"\resizebox{\textwidth}{!}{%", *lines, "}"]
    if remarks := notes(definitions, name, shown):
        lines.append(rf"\par\medskip\parbox{{\textwidth}}{{{tex_escape(' '.join(remarks))}}}")
    caption = f"{table['title']}. {table['caption']} Scale {scale}."
    lines += [rf"\caption{{{tex_escape(caption)}}}", rf"\label{{tab:{name}}}"]
    text = "\n".join(lines)
    needed = [r"\usepackage{booktabs}"]
    needed += [r"\usepackage{graphicx}"] if at > WIDE else []
    needed += [r"\usepackage[T1]{fontenc}"] if any(sign in text for sign in "‹›") else []
    return "\n".join(
        [
            f"% needs {', '.join(needed)}",
            r"\begin{table}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            text,
            r"\end{table}",
        ]
    )
