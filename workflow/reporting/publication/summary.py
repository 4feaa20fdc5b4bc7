"""The README's summary of what is published: how much of which paper, and the headline claims."""

from pathlib import Path
from typing import Any

from workflow.errors import ReportingError
from workflow.files import read_json
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.publication.counting import by_paper, claims_said, comparisons, said

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
ORDER = ("paper", "lite")
"""The scales that the README shows, the most telling first; others have pages of their own."""
ABOUT_CLAIMS = (
    "Differences have a 95 % interval. It is of the seeds and, over examples or sentences, of the "
    "test set too: the half-widths add as squares (Howe 1974). One seed decides nothing. No "
    "correction is made for testing many claims. Both sides are averaged over the seeds that they "
    "share; tables average over all seeds, so their numbers may differ."
)
"""What a reader of claims must know."""
WORDS = (
    "A claim of more than a sign has its margin behind `asked`. tau is Kendall's rank correlation; "
    "A(u, v) is how often (%) the place that u ranks highest is among the highest 5 % of v, and "
    "A-hat is A of a random order. Here u and v are alpha, attention (alpha_fr: learned while all "
    "else is frozen), beta, the lexical probe (beta_uf: under uniform attention, beta_px: of the "
    "bag-of-words proxy), and Delta, the influence of words by gradient."
)
"""What the names in claims and tables mean."""


def published_claims(folder: Path) -> list[dict[str, Any]]:
    """Return all claims published below a scale's folder."""
    files = sorted((folder / "claims").glob("*.json"))
    return [claim for path in files for claim in read_json(path)["claims"]]


def counts(folder: Path) -> str:
    """Return what was decided and compared below a scale's folder: in words, and by paper."""
    claims, found = published_claims(folder), comparisons(folder)
    return f"{claims_said(claims)} {said(found)}\n\n{by_paper(claims, found)}"


def block(published: Path) -> str:
    """Return the README's block for everything below `docs/reproduction`, without its markers."""
    parts = []
    for scale in (name for name in ORDER if (published / name).is_dir()):
        folder = published / scale
        headlines = [claim for claim in published_claims(folder) if claim.get("headline")]
        place = folder.as_posix()
        parts.append(
            f"**Scale `{scale}`**. {counts(folder)}\n\n"
            f"The papers' main claims. {ABOUT_CLAIMS}\n\n{WORDS}\n\n"
            f"{claims_table(headlines)}\n\n"
            f"[All claims, tables and figures, and how to follow a number to its training]"
            f"({place}/README.md); the claims as [JSON]({place}/claims)."
        )
    return "\n\n".join(parts) or "No results have been published yet."


def replaced(readme: str, text: str) -> str:
    """Return the README with `text` between its markers; ReportingError if they are not there."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ReportingError(f"README.md: put the lines {BEGIN} and {END} where results belong.")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"
