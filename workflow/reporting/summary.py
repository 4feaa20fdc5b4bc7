"""The README's summary of what is published: claim, paper, ours, verdict."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow.reporting.claims_table import claims_table
from workflow.reporting.comparability import base_scale
from workflow.reporting.files import ReportingError, read_csv, read_json
from workflow.reporting.verdict import WORDS

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
ORDER = ("paper", "lite")
"""The scales that the README shows, the most telling first; others have pages of their own."""
SHOWN = (
    "Differences have a 95 % interval; both sides are over the seeds that both have, and may "
    "differ from the tables, which are over all. Sources: 000 Kinley's thesis, 001 Explicit Sparse "
    "Transformer, 002 Contextualized Role Interaction, 003 the submission of Discrete Transformer, "
    "004 Approximating How Single Head Attention Learns."
)
"""What a reader of claims must know."""
DECIDED = ("holds", "does not hold")
"""The verdicts on claims that the README shows; a scale's own page has all."""


def published_claims(folder: Path) -> list[dict[str, Any]]:
    """Return all claims published below a scale's folder."""
    files = sorted((folder / "claims").glob("*.json"))
    return [claim for path in files for claim in read_json(path)["claims"]]


def counts(folder: Path) -> str:
    """Return how many comparisons with a printed number got which verdict, as text."""
    counted = Counter(
        record["verdict"]
        for path in (folder / "tables").glob("*/*.csv")
        for record in read_csv(path)
        if record["expected"]
    )
    return ", ".join(f"{counted[word]} {word}" for word in WORDS if counted[word]) or "none"


def block(published: Path) -> str:
    """Return the README's block for everything below `docs/reproduction`, without its markers."""
    parts = []
    for scale in (name for name in ORDER if (published / name).is_dir()):
        folder = published / scale
        claims = published_claims(folder)
        decided = [claim for claim in claims if claim["verdict"] in DECIDED]
        verdicts = Counter(claim["verdict"] for claim in claims)
        parts.append(
            f"**Scale `{scale}`**. {SHOWN}\n\n"
            f"{claims_table(decided)}\n\n"
            f"Of {len(claims)} claims {verdicts['undecided']} are undecided (few seeds, or a small "
            f"difference) and {verdicts['not run']} were not run. Comparisons with a printed "
            f"number: {counts(folder)}. "
            f"[All claims, tables and figures]({folder.as_posix()}/README.md)."
        )
    return "\n\n".join(parts) or "No results have been published yet."


def replaced(readme: str, text: str) -> str:
    """Return the README with `text` between its markers; ReportingError if they are not there."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ReportingError(f"README.md: put the lines {BEGIN} and {END} where results belong.")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def scale_page(
    folder: Path, scale: str, titles: Mapping[str, str], stale: Mapping[str, str]
) -> str:
    """Return the page of one published scale: claims, tables, figures, and what is stale.

    Args:
        folder: the scale's folder, with tables, figures and claims in place.
        scale: its name.
        titles: by `<paper>/<table or figure>`, the title.
        stale: by run, why its measures no longer count.
    """
    lines = [f"# Published results, scale {scale}", ""]
    if base_scale(scale) != scale:
        lines += [f"An overlay on `{base_scale(scale)}`: its settings are not the papers'.", ""]
    claims = claims_table(published_claims(folder))
    lines += ["## Claims", "", SHOWN, "", claims, "", "## Tables", ""]
    for path in sorted((folder / "tables").glob("*/*.md")):
        link = path.relative_to(folder).with_suffix("").as_posix()
        title = titles.get(f"{path.parent.name}/{path.stem}", path.stem)
        lines.append(
            f"- [{title}]({link}.md) ([csv]({link}.csv), [tex]({link}.tex), [runs]({link}.json))"
        )
    lines += ["", f"Comparisons with a printed number: {counts(folder)}.", "", "## Figures", ""]
    for path in sorted((folder / "figures").glob("*/*.png")):
        link = path.relative_to(folder).as_posix()
        title = titles.get(f"{path.parent.name}/{path.stem}", path.stem)
        lines += [f"![{title}]({link})", ""]
    if stale:
        lines += ["## Stale measures", "", "Kept, but in no table, figure or claim:", ""]
        lines += [f"- `{run}`: {why}" for run, why in sorted(stale.items())]
    return "\n".join(lines)
