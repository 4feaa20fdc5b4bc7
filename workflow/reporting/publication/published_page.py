"""The page of one published scale: its claims, tables, figures, and how to follow a number."""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.files import read_history, read_sidecar
from workflow.reporting.cells import read_table
from workflow.reporting.claims import history
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import read_claims
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.measures import BY, EARLIER, Run, earlier
from workflow.reporting.publication import differing, following
from workflow.reporting.publication.costs import ABOUT as ABOUT_COSTS
from workflow.reporting.publication.summary import ABOUT_CLAIMS, headline_of
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.statistics.decisions import DECIDED, VERDICTS
from workflow.reporting.statistics.verdict import RULE

FIGURE = "svg"
"""The kind of file of a figure that is published."""
ABOUT_AGAIN = """\
These runs were trained anew, with the same settings and seeds, and stand in the place of those \
published before, which git keeps: evaluators that came later need weights, which were gone."""
LATEX = """\
`.venv/bin/python -m workflow.scripts.latex docs/reproduction/{scale}/tables/<paper>/<table>.csv` \
prints a table as LaTeX."""


def scale_page(
    folder: Path,
    scale: str,
    titles: Mapping[str, str],
    stale: Mapping[str, str],
    again: Mapping[str, str],
    costs: Mapping[str, str],
    runs: Collection[Run] = (),
) -> str:
    """Return the page of one published scale: claims, tables, figures, and what is stale.

    Args:
        folder: the scale's folder, with runs, tables, figures and claims in place.
        scale: its name.
        titles: by `<paper>` and `<paper>/<table or figure>`, the title.
        stale: by run, why its measures no longer count.
        again: by run, what it was trained on, and when, in the place of which other training.
        costs: by `<paper>/<table>`, what making it takes, and the command.
        runs: the `run.json` of each published run.
    """
    parts = [f"# Published results, scale {scale}"]
    if base_scale(scale) != scale:
        parts.append(f"An overlay on `{base_scale(scale)}`: its settings are not the papers'.")
    caveats = Caveats.read(folder)
    parts += [
        headline_of(folder).markdown,
        "## Claims",
        ABOUT_CLAIMS,
        caveats.sentence,
        *_claims(folder, titles, caveats),
    ]
    parts += _changed(history.after_results(read_history(folder / history.NAME)))
    parts += ["## Numbers that differ", differing.section(folder, titles)]
    parts += ["## Follow one number", following.section(folder, titles), *_by_earlier_code(runs)]
    parts += ["## Tables", RULE, ABOUT_COSTS, LATEX.format(scale=scale)]
    parts += [*_tables(folder, titles, costs), "## Figures", *_figures(folder)]
    if stale:
        lines = [f"- `{run}`: {why}" for run, why in sorted(stale.items())]
        parts += ["## Stale measures", "Kept, but in no table, figure or claim:", "\n".join(lines)]
    if again:
        lines = [f"- `{run}`: {what}" for run, what in sorted(again.items())]
        folded = f"<details><summary>{len(lines)} run{'s' * (len(lines) != 1)}</summary>"
        parts += ["## Trained again", ABOUT_AGAIN, folded, "\n".join(lines), "</details>"]
    return "\n\n".join(parts)


def _by_earlier_code(runs: Collection[Run]) -> list[str]:
    """Return how many runs are of earlier code that does the same, if any are to be told apart."""
    counts = Counter(map(earlier, runs))
    kinds = {word: count for word in EARLIER.values() if (count := counts[f"{BY}, {word}"])}
    if not kinds:
        return []
    told = ", ".join(f"{count} {word}" for word, count in kinds.items())
    if len(kinds) == 1:
        told = f"all {told.partition(' ')[2]}"
    return [f"{sum(kinds.values())} of {len(runs)} runs were trained {BY}: {told}."]


def _claims(folder: Path, titles: Mapping[str, str], caveats: Caveats) -> list[str]:
    """Return a table of claims for each paper, below its notation, and the open ones folded."""
    parts, papers = [], {paper.name: paper for paper in Paper.all()}
    for path in sorted((folder / "claims").glob("*.json")):
        parts.append(f"### {titles.get(path.stem, path.stem)} ([json](claims/{path.name}))")
        if path.stem in papers and (legend := papers[path.stem].about.legend):
            parts.append(f"Here {legend}")
        claims = read_claims(path)
        decided = [claim for claim in claims if claim.verdict in DECIDED]
        parts += [claims_table(decided, caveats.of)] if decided else []
        for word in VERDICTS[len(DECIDED) :]:
            ones = [claim for claim in claims if claim.verdict == word]
            if ones:
                summary = f"<details><summary>{len(ones)} {word}</summary>"
                parts += [summary, claims_table(ones, caveats.of), "</details>"]
    return parts


def _changed(counts: Mapping[str, int]) -> list[str]:
    """Return how many claims changed when their results were known; nothing if none did."""
    if not counts:
        return []
    said = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    return [f"Changes to claims when results were known: {said} ([each]({history.NAME}))."]


def has_values(table: Path) -> bool:
    """Return whether a table, by its CSV, has any value of ours."""
    return bool(read_table(table).cells["mean"].notna().any())


def _tables(folder: Path, titles: Mapping[str, str], costs: Mapping[str, str]) -> list[str]:
    """Return a list of tables a paper, with links, and a line of those without a value of ours."""
    papers: dict[str, list[str]] = {}
    absent = []
    for path in sorted((folder / "tables").glob("*/*.csv")):
        name = f"{path.parent.name}/{path.stem}"
        title = titles.get(name, path.stem)
        csv = path.relative_to(folder)
        if has_values(path):
            made = f": {costs[name]}" if name in costs else ""
            line = f"- [{title}]({following.page_of(csv)}) ([csv]({csv.as_posix()})){made}"
            papers.setdefault(path.parent.name, []).append(line)
        else:
            absent.append(title)
    parts = []
    for paper, lines in papers.items():
        parts += [f"### {titles.get(paper, paper)}", "\n".join(lines)]
    return [*parts, *_absent(absent)]


def _figures(folder: Path) -> list[str]:
    """Return the figures with caption and links, and a line for those of which nothing was run."""
    parts, absent = [], []
    for path in sorted((folder / "figures").glob(f"*/*.{FIGURE}")):
        figure = read_sidecar(path)
        link = path.relative_to(folder).as_posix()
        if figure["runs"]:
            parts += [
                f"![{figure['title']}]({link})",
                f"**{figure['title']}.** {figure['caption']}",
            ]
        else:
            absent.append(figure["title"])
    return [*parts, *_absent(absent)]


def _absent(titles: list[str]) -> list[str]:
    return [f"Not run at this scale: {'; '.join(titles)}."] if titles else []
