"""What `make run` and `make demo` end with: what ran, numbers worth a look, and what to do next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from workflow import PUBLISHED
from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.planning.plan import Plan
from workflow.planning.targets import Targets
from workflow.reporting.cells import read_table
from workflow.reporting.claims.judged import JudgedClaim, claims_in
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.tables.corpus_tables import definitions_of
from workflow.reporting.tables.layout import MISSING, NOT_RUN, grid
from workflow.terminal.beside_published import beside_published
from workflow.terminal.progress import STORED, JobProgress, duration

NUMBERS = SHOWN = 3
"""How many numbers are worth a look, and how many files are named."""
ROWS = 8
"""How many values of a table are shown."""


def closing(plan: Plan, progress: JobProgress, asked: Sequence[str]) -> list[str]:
    """Return the last lines of an invocation that succeeded; nothing is asked for: everything."""
    whole = not asked or "report" in asked
    lines = [f"Ran:      {_ran(plan, progress)}"]
    if whole:
        lines += [f"Papers:   {', '.join(papers(plan))}", *numbers(plan)]
    files = tables_of(plan, asked)
    tables = [csv for file in files if (csv := Path(file).with_suffix(".csv")).is_file()]
    if tables and not whole:
        lines += [*first_rows(plan, tables[0]), *beside_published(plan, map(str, tables))]
    if files:
        more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
        lines.append(f"Tables:   {', '.join(files[:SHOWN])}{more}")
    if whole:
        beside = Path(plan.folder, "explorer.html").is_file()
        explorer = ", and explorer.html beside it to try models" if beside else ""
        lines.append(f"Report:   {plan.folder}/report.html{explorer}")
    if "explore" in asked:
        lines.append(f"Explorer: {plan.folder}/explorer.html")
    return [*lines, *_next(plan, whole)]


def _ran(plan: Plan, progress: JobProgress) -> str:
    jobs = progress.done.total()
    if not jobs:
        return "nothing; all that was asked for is there"
    runs = [name.removeprefix("train ") for name in progress.names if name.startswith("train ")]
    logs = [Path(plan.folder, "logs", "train", f"{run}.log") for run in runs]
    stored = sum(STORED in log.read_text(encoding="utf-8") for log in logs if log.is_file())
    copied = f" ({stored} more runs came from the store)" if stored else ""
    trainings = f"{len(runs) - stored} of them trainings{copied}"
    return f"{jobs} jobs, {trainings}, in {duration(progress.elapsed)}"


def papers(plan: Plan) -> list[str]:
    """Return the keys of the papers that the configuration selects."""
    names = dict.fromkeys(plan.experiments[name].paper for name in plan.selected)
    return [one.key for name in names for one in Paper(name, plan.papers).about.references]


def tables_of(plan: Plan, asked: Sequence[str]) -> list[str]:
    """Return the tables among what was asked for; of everything, where they are."""
    if not asked or "report" in asked:
        count = len([*Path(plan.folder).glob("tables/*/*.md")])
        return [f"{plan.folder}/tables/<paper>/*.md ({count})"]
    targets = Targets(plan).names
    files = [file for one in asked for file in (targets[one].files() if one in targets else [one])]
    return list(dict.fromkeys(file for file in files if file.endswith(".md")))


def first_rows(plan: Plan, csv: Path) -> list[str]:
    """Return the first values of a table: ours, the paper's in brackets, and the mark.

    Those that the paper prints come first; without any value there is no line.
    """
    table = read_table(csv)
    folder = table.about["paper"]
    paper = Paper(folder, plan.papers, plan.mechanisms, plan.own_tables.get(folder, {}))
    definitions, name = definitions_of(paper, table), table.about["table"]
    lines = grid(definitions, name, table).lines
    cells = [one for _, line in lines for one in line if one["ours"] not in ("", MISSING, NOT_RUN)]
    cells.sort(key=lambda one: not one["paper"])
    rows = [
        (
            one["row"],
            one["column"],
            one["ours"],
            one["paper"] and f"[{one['paper']}] {one['marks']}",
        )
        for one in cells[:ROWS]
    ]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(map(str.ljust, row, wide)).rstrip() for row in rows)
    title = f"Numbers:  {definitions['tables'][name]['title']}: ours, [the paper's]"
    return [title, *(f"  {line}" for line in padded)] if rows else []


def numbers(plan: Plan) -> list[str]:
    """Return lines of a few numbers of the papers' claims."""
    chosen = choose(claims_in(Path(plan.folder, "claims").glob("*.json")), NUMBERS)
    about = "ours, with what the paper prints"
    if plan.config["scale"] == "demo":
        about = "of tiny tasks, which show that everything works; not to be compared"
    return [f"Numbers:  {about}", *(f"  {line_of(one)}" for one in chosen)] if chosen else []


def choose(claims: Iterable[JudgedClaim], count: int) -> list[JudgedClaim]:
    """Return claims whose sides differ, one of each paper first; main and printed ones lead."""
    differing = [claim for claim in claims if claim.left.mean is not None and not claim.check]
    differing = [claim for claim in differing if claim.left.mean != claim.right.mean]
    differing.sort(key=lambda claim: (not claim.headline, not claim.paper))
    before: Counter[str] = Counter()
    ranked = []
    for claim in differing:
        paper = key_of(claim.source)
        ranked.append((before[paper], claim))
        before[paper] += 1
    ranked.sort(key=lambda pair: pair[0])
    return [claim for _, claim in ranked[:count]]


def line_of(claim: JudgedClaim) -> str:
    """Return a claim's numbers in a line: task, measure, ours with what it is beside, theirs."""
    experiment = Path(claim.measures[0]).parts[-3]
    sides = [claim.left] if claim.right.variant is None else [claim.left, claim.right]
    ours = ", ".join(
        f"{side.mean:.{claim.digits}f} ({side.label})" for side in sides if side.mean is not None
    )
    theirs = f"; the paper's {claim.paper}" if claim.paper else ""
    return f"{experiment}, {claim.label}: {ours}{theirs} [{claim.source}]"


def _next(plan: Plan, whole: bool) -> list[str]:
    """Return lines with what a person may do next."""
    if not whole:
        lines = ["Next:     make so-far, with the same settings, makes a report of what is done"]
        if (PUBLISHED / base_scale(plan.scale)).is_dir():
            lines.append("          (beside what is published: PUBLISHED=1)")
        return lines
    if plan.config["scale"] != "demo":
        return ["Next:     open the report in a browser"]
    return [
        "Next:     open the report in a browser; make plan SCALE=lite says what real data takes,",
        "          and make run SCALE=lite ONLY=<experiment or paper> runs a part of it",
    ]
