"""What pages by hand say of papers and results, between markers: counts, findings, main claims."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from workflow import ROOT
from workflow.definitions.paper import PAPERS, Paper
from workflow.planning.experiments import load_experiments
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import JudgedClaim, claims_in
from workflow.reporting.claims.markdown import claims_table, evidence
from workflow.reporting.page.headline import Headline
from workflow.reporting.publication.headline import claims_by_paper, headline, sentence
from workflow.runtime.errors import ReportingError

ORDER = ("paper", "lite")
"""The scales that are shown: of those published the first; others have pages of their own."""


def published_claims(folder: Path) -> list[JudgedClaim]:
    """Return all claims published below a scale's folder."""
    return claims_in((folder / "claims").glob("*.json"))


def headline_of(folder: Path) -> Headline:
    """Return what came out below a scale's folder."""
    return headline(folder.name, folder.glob("tables/*/*.csv"), folder.glob("claims/*.json"))


def _shown(published: Path) -> Path:
    """Return the folder of the scale that is shown, which is not there before any is published."""
    folders = [published / scale for scale in ORDER]
    return next((folder for folder in folders if folder.is_dir()), folders[-1])


def _counts(published: Path) -> str:
    folder = _shown(published)
    claims = published_claims(folder)
    counts = claims_by_paper(claims, f"{folder.as_posix()}/")
    about = f"Scale `{folder.name}`. {counts.about} {_toys(claims)}".rstrip()
    return f"{about}\n\n{counts.table}\n\n{Caveats.read(folder).sentence}"


def _toys(claims: Iterable[JudgedClaim]) -> str:
    """Say how many of the papers' claims that hold are about generated tasks."""
    toys = {path.stem for path in (ROOT / "workflow/datasets/generated").glob("*.py")}
    data = {one.name: one.definition["data"] for one in load_experiments(PAPERS).values()}
    held = [one for one in claims if one.outcome == "holds" and not one.check]
    names = [{Path(path.partition("#")[0]).stem for path in one.measures} for one in held]
    few = sum(any(data.get(name, {}).get("dataset") in toys for name in its) for its in names)
    return f"Of the {len(held)} that hold, {few} are about generated toy tasks." if few else ""


def _papers(published: Path) -> str:
    folder = _shown(published)
    judged, place = published_claims(folder), folder.as_posix()
    lines = []
    for paper in Paper.all():
        for one in paper.about.references:
            links = f"[Results]({place}/{one.key}.md), [equations](docs/equations.md#{one.key})."
            found = sentence(paper, one.key, judged)
            lines.append(f"- **[{one.title}]({one.link})** (`{one.key}`). {found} {links}")
    return "\n".join(lines)


def _main_claims(published: Path) -> str:
    folder = _shown(published)
    shown = [one for one in published_claims(folder) if one.headline]
    return claims_table(shown, Caveats.read(folder).of)


def _worked(published: Path) -> str:
    """Say how the first of the main claims that hold was decided."""
    for one in published_claims(_shown(published)):
        if one.headline and one.verdict == "holds":
            edge = f"{one.margin:g}"
            return (
                f"For example: {one.claim} ({one.source}) Here, {evidence(one)}. The interval does "
                f"not contain {edge}, and the difference is on the side that is claimed: the claim "
                "**holds**."
            )
    return ""


def _targets(_: Path) -> str:
    experiments = load_experiments(PAPERS).values()
    lines = ["| folder | papers | experiments | tables and figures |", "| --- |" + " --- |" * 3]
    for paper in Paper.all():
        cited = ", ".join(f"[`{one.key}`]({one.link})" for one in paper.about.references)
        own = ", ".join(f"`{one.name}`" for one in experiments if one.paper == paper.name)
        lines.append(f"| `{paper.name}` | {cited} | {own} | {paper.about.covers} |")
    return "\n".join(lines)


PAGES: Mapping[Path, Mapping[str, Callable[[Path], str]]] = {
    Path("README.md"): {"results": _counts, "papers": _papers},
    Path("docs/results.md"): {"worked": _worked, "claims": _main_claims},
    Path("docs/scales.md"): {"targets": _targets},
}
"""Each page with what makes its blocks from all that is published (docs/reproduction)."""


def summarised(published: Path) -> dict[Path, str]:
    """Return the text of each page, in the root of the project, with its blocks made anew.

    Raises ReportingError for a page or markers that are not there.
    """
    made = {}
    for page, blocks in PAGES.items():
        if not page.is_file():
            raise ReportingError(f"{page} is not here; run this in the root of the project.")
        text = page.read_text(encoding="utf-8")
        for name, block in blocks.items():
            begin, end = (f"<!-- {name}:{edge} -->" for edge in ("begin", "end"))
            before, opened, rest = text.partition(begin)
            _, closed, after = rest.partition(end)
            if not opened or not closed:
                raise ReportingError(f"{page}: put the lines {begin} and {end} around its {name}.")
            text = f"{before}{begin}\n{block(published)}\n{end}{after}"
        made[page] = text
    return made
