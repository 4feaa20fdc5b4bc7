"""What the README says of the papers and of what is published: how much of which, the headlines."""

from pathlib import Path

from workflow.definitions.paper import PAPERS, Paper
from workflow.errors import ReportingError
from workflow.planning.experiments import load_experiments
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.publication.headline import Headline, headline

ORDER = ("paper", "lite")
"""The scales that the README shows, the most telling first; others have pages of their own."""
BLOCKS = ("results", "papers")
"""What the README has between markers."""
ABOUT_CLAIMS = (
    "A claim is decided by the 95 % interval of its difference, in brackets: it holds, or does "
    "not, where the interval leaves out what is asked, and there is no difference where all of it "
    "is smaller than what the claim calls of interest. The interval is of the seeds and, over "
    "examples or sentences, of the test set too: the half-widths add as squares (Howe 1974). One "
    "seed decides nothing. No correction is made for testing many claims. Both sides are averaged "
    "over the seeds that they share; tables average over all seeds, so their numbers may differ."
)
"""What a reader of claims must know."""


def published_claims(folder: Path) -> list[JudgedClaim]:
    """Return all claims published below a scale's folder."""
    files = sorted((folder / "claims").glob("*.json"))
    return [claim for path in files for claim in read_claims(path)]


def headline_of(folder: Path) -> Headline:
    """Return what came out below a scale's folder."""
    return headline(folder.name, folder.glob("tables/*/*.csv"), folder.glob("claims/*.json"))


def block(published: Path) -> str:
    """Return the README's block of results for everything below `docs/reproduction`."""
    parts = []
    for scale in (name for name in ORDER if (published / name).is_dir()):
        folder = published / scale
        mains = [claim for claim in published_claims(folder) if claim.headline]
        place = folder.as_posix()
        parts.append(
            f"**Scale `{scale}`**, paper by paper:\n\n{headline_of(folder).markdown}\n\n"
            f"The papers' main claims:\n\n{claims_table(mains)}\n\n{ABOUT_CLAIMS}\n\n"
            f"[All claims, tables and figures, and how to follow a number to its training]"
            f"({place}/README.md); the claims as [JSON]({place}/claims)."
        )
    return "\n\n".join(parts) or "No results have been published yet."


def papers_table() -> str:
    """Return the README's table of papers, with their experiments and what is made of them."""
    experiments = load_experiments(PAPERS).values()
    lines = ["| target | papers | experiments | tables and figures |", "| --- |" + " --- |" * 3]
    for paper in Paper.all():
        cited = "; ".join(reference.cited for reference in paper.about.references)
        own = ", ".join(f"`{one.name}`" for one in experiments if one.paper == paper.name)
        lines.append(f"| `{paper.name}` | {cited} | {own} | {paper.about.covers} |")
    return "\n".join(lines)


def summarised(readme: str, published: Path) -> str:
    """Return the README with its blocks, of results and of papers, made anew.

    Raises ReportingError if their markers are not there.
    """
    return replaced(replaced(readme, "results", block(published)), "papers", papers_table())


def replaced(readme: str, name: str, text: str) -> str:
    """Return the README with `text` between the markers of that name."""
    begin, end = (f"<!-- {name}:{edge} -->" for edge in ("begin", "end"))
    before, opened, rest = readme.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise ReportingError(f"README.md: put the lines {begin} and {end} where {name} belong.")
    return f"{before}{begin}\n{text}\n{end}{after}"
