"""What a table says below itself of the runs behind it: which, how many, and how trained."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import pandas as pd

from workflow.reporting.cells import Cell, LongForm, OtherDevice, RunOrigin, records
from workflow.reporting.measures import CPU

NAMED = 8
"""So many rows with other numbers of runs are named; more are counted."""
MARK, ON_GPU = "† ", "‡"
"""At values of runs that diverged, and before the sentence about them; at those of a GPU."""
TWO_DEVICES, TURNED_TWO_DEVICES = (
    f"{ON_GPU} trained on a GPU, the rest of the {line} on a CPU. "
    f"{across} trained on a CPU and on a GPU must not be compared."
    for line, across in (("column", "Rows"), ("row", "Columns"))
)
"""Below a table, and below one that is turned."""
UNEQUAL = (
    "Rows over different seeds don't compare directly; the claims compare the seeds that both "
    "sides share."
)


def not_run(rows: Iterable[tuple[str, str]]) -> str:
    """Name the rows (group or nothing, label) that were not run; nothing without any.

    A group has a sentence of its own, and numbers in a row are named as `3 to 9`.
    """
    groups: dict[str, list[str]] = {}
    for group, label in rows:
        groups.setdefault(group, []).append(label)
    return " ".join(
        f"Not run{f' ({group})' if group else ''}: {'; '.join(_stretches(labels))}."
        for group, labels in groups.items()
    )


def _stretches(labels: Sequence[str]) -> list[str]:
    """Return labels, those of consecutive numbers as one."""
    stretches: list[list[str]] = []
    for label in labels:
        if stretches and _follows(stretches[-1][-1], label):
            stretches[-1].append(label)
        else:
            stretches.append([label])
    return [" to ".join(dict.fromkeys((part[0], part[-1]))) for part in stretches]


def _follows(one: str, other: str) -> bool:
    return one.isdigit() and other.isdigit() and int(other) == int(one) + 1


def differing(cells: Iterable[Cell]) -> list[str]:
    """Say why cells differ from printed numbers, a line a cause."""
    causes: dict[str, list[str]] = {}
    for cell in cells:
        if because := cell["because"]:
            causes.setdefault(because, []).append(f"{cell['row']}, {cell['column']}")
    return [
        f"Differs ({'; '.join(dict.fromkeys(places))}): {because}"
        for because, places in causes.items()
    ]


def refused(cells: Collection[Cell]) -> list[str]:
    """Say which values are left out as impossible, and which trainings diverged, a line a run."""
    impossible = [fault for cell in cells for fault in cell["impossible"]]
    diverged = [fault for cell in cells for fault in cell["diverged"]]
    return [
        f"{about}{fault}."
        for about, faults in (("Left out, as it is impossible: ", impossible), (MARK, diverged))
        for fault in dict.fromkeys(faults)
    ]


def failed(cells: Iterable[Cell]) -> list[str]:
    """Say which rows failed and why, a line a cause."""
    causes: dict[str, list[str]] = {}
    for cell in cells:
        if cause := cell["failed"]:
            causes.setdefault(cause, []).append(cell["row"])
    return [f"Failed ({'; '.join(dict.fromkeys(rows))}): {cause}" for cause, rows in causes.items()]


def on_device(other: OtherDevice) -> str:
    """Say what runs of another device have; `other` is one of a cell's `other_devices`."""
    runs = f"{other['n']} run{'s' * (other['n'] != 1)}"
    return f"{other['mean']:.4g} ({other['difference']:+.2g}) over {runs} on {other['device']}"


def other_devices(cells: Iterable[Cell]) -> list[str]:
    """Say which rows have runs of other devices, which are in no mean, and what these have.

    Of a row and a device it is the first number; notes in the CSV have the others.
    """
    beside: dict[tuple[str, str], str] = {}
    for cell in cells:
        for other in cell["other_devices"]:
            place = f"{cell['row']}, {cell['column']}: {on_device(other)}"
            beside.setdefault((cell["row"], other["device"]), place)
    if not beside:
        return []
    named = "; ".join(beside.values())
    return [f"No mean is over two devices, nor do rows of two compare. Other devices: {named}."]


def on_gpu(table: LongForm) -> frozenset[tuple[str, str, str]]:
    """Return row, column and metric of what was trained on a GPU in a column that has a CPU's too.

    The rows of such a column must not be compared.
    """
    runs = table.about.get("runs", {})
    devices: dict[tuple[str, str], dict[str, bool]] = {}
    for cell in records(table.cells):
        if cell["runs"]:
            on = runs[cell["runs"][0]]["device"] != CPU
            devices.setdefault((cell["column"], cell["metric"]), {})[cell["row"]] = on
    return frozenset(
        (row, *column)
        for column, rows in devices.items()
        for row, on in rows.items()
        if on and not all(rows.values())
    )


def trained_on(runs: Mapping[str, RunOrigin]) -> str:
    """Say on what and in which precision the runs behind a table were trained."""
    kinds = Counter(
        f"{run['cpu'] if run['device'] == 'cpu' else run['device']} in {run['precision']}"
        for run in runs.values()
    )
    if len(kinds) < 2:
        return "".join(f"Trained on {kind}." for kind in kinds)
    counted = (f"{kind} ({count} run{'s' * (count != 1)})" for kind, count in kinds.most_common())
    return f"Trained on {', '.join(counted)}."


def behind(table: LongForm) -> str:
    """Say in a few words over how many seeds cells are, and on what these were trained."""
    runs = _over_runs(table.cells)["n"]
    few = " to ".join(dict.fromkeys((str(runs.min()), str(runs.max())))) if len(runs) else ""
    said = [f"{few} seed{'s' * (few != '1')}"] if few and "runs" in table.about else []
    if table.cells["std"].notna().any():
        said.append("± standard deviation")
    runs_of = table.about.get("runs", {}).values()
    devices = {run["device"] for run in runs_of if run["device"]}
    return ", ".join(
        [*said, *([" and ".join(sorted(devices)).replace("cpu", "CPU")] if devices else [])]
    )


def runs_behind(cells: pd.DataFrame) -> str:
    """Say how many runs are behind the cells of a table that were run."""
    behind = _over_runs(cells).groupby(["row", "column"], sort=False)["n"].max()
    of_row = behind.groupby("row", sort=False)
    most = of_row.max()
    if most.empty:
        return ""
    ((usual, _),) = Counter(most).most_common(1)
    others = most[most != usual]
    named = len(others) <= NAMED
    but = [
        f"{_rows(rows.index) if named else f'{len(rows)} rows'} over {n}"
        for n, rows in others.groupby(others)
    ]
    fewer = (behind < of_row.transform("max")).any()
    few = " Some cells are over fewer: `n` in the CSV." if fewer else ""
    rest = f", but {'; '.join(but)}" if but else ""
    return f"Each cell of ours is over {usual} run{'s' * (usual != 1)}{rest}.{few}"


def unequal(cells: pd.DataFrame) -> str:
    """Warn where a column has means over different numbers of seeds."""
    counted = _over_runs(cells)
    counted["spreads"] = counted["std"].map(bool)
    columns = counted.groupby(["column", "metric"], sort=False)
    differ = (columns["n"].nunique() > 1) & columns["spreads"].any()
    return UNEQUAL if differ.any() else ""


def _over_runs(cells: pd.DataFrame) -> pd.DataFrame:
    columns = ["row", "column", "metric", "std", "n"]
    run = (cells["spread_over"] == "runs") & cells["n"].notna()
    return cells.loc[run, columns].astype({"n": int})


def _rows(names: Collection[str]) -> str:
    return f"row{'s' * (len(names) != 1)} {', '.join(f'“{name}”' for name in names)}"
