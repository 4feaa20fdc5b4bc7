"""The index of one published scale: its papers, counts, what differs, and which file has what."""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from workflow.files import markdown_cell, read_history
from workflow.planning.run_files import RunRecord
from workflow.reporting.claims import history
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.measures import BY, EARLIER, earlier
from workflow.reporting.page.headline import Headline
from workflow.reporting.page.templates import markdown
from workflow.reporting.prose import shortened, symbols, thousands
from workflow.reporting.publication import differing, following
from workflow.reporting.publication.devices import of_two_devices
from workflow.reporting.statistics.comparability import base_scale
from workflow.reporting.statistics.verdict import JUDGED, RULE
from workflow.reporting.tables.marks import legend


def scale_page(
    folder: Path,
    scale: str,
    headline: Headline,
    pages: Mapping[str, str],
    stale: Mapping[str, str],
    again: Mapping[str, str],
    runs: Collection[RunRecord] = (),
) -> str:
    """Return the page of one published scale: its papers, counts, and what is stale.

    Args:
        folder: the scale's folder, with runs, tables, figures and claims in place.
        scale: its name.
        headline: what came out at it.
        pages: the title of each paper's page, by its key.
        stale: by run, why its measures no longer count.
        again: by run, what it was trained on, and when, in the place of which other training.
        runs: the `run.json` of each published run.
    """
    counts = Counter(map(earlier, runs))
    differ = differing.numbers(folder)
    return markdown(
        "scale",
        scale=scale,
        base=base_scale(scale),
        answer=headline.answer,
        pages=pages,
        findings={one.reference.key: one for one in headline.findings},
        papers=headline.papers,
        legend=legend(JUDGED),
        counts=headline.tables,
        caveats=Caveats.read(folder),
        changed=history.after_results(read_history(folder / history.NAME)),
        differing=differ,
        furthest=differing.furthest(differ),
        devices=of_two_devices(folder),
        symbols=symbols,
        markdown_cell=markdown_cell,
        thousands=thousands,
        first_sentence=lambda text: shortened(text, 0),
        following=following.section(folder),
        earlier={word: n for word in EARLIER.values() if (n := counts[f"{BY}, {word}"])},
        runs=runs,
        rule=RULE,
        stale=stale,
        again=again,
    )
