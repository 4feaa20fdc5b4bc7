"""Write docs/equations.md: each paper's equations, their code and their tests."""

import argparse
import sys
from pathlib import Path

from workflow import ROOT
from workflow.definitions.equations import FILE, Citation, check, citations, places
from workflow.definitions.paper import Paper

PAGE = ROOT / "docs" / "equations.md"
HEAD = """# Equations

Each numbered equation of the papers, with its code and the test that checks it: {papers}.

Every numbered equation is listed. One without code has the reason in its place. The page is made of
docstrings, which cite as in `snell2021 section 3.1, eq. 7, 8`, and of each paper's `equations.tsv`,
by `python -m workflow equations`.
"""
TABLE = "| place | what | code | tests |\n| --- | --- | --- | --- |\n"


def page() -> str:
    """Return the page; InputError for a citation or an equation that leads nowhere."""
    papers = [paper for paper in Paper.all() if (paper.folder / FILE).is_file()]
    cited = {about.key: about.cited for paper in papers for about in paper.about.references}
    known = {of: one for paper in papers for of, one in places(paper.folder / FILE, cited).items()}
    code = citations(ROOT, "model", "workflow")
    tests = citations(ROOT, "tests", spelled=False)
    check(known, code, tests)
    text = HEAD.format(papers=", ".join(f"[{key}](#{key})" for key in cited))
    for key, about in cited.items():
        text += f"\n## {key}\n\n{about}.\n\n{TABLE}"
        for reference, (what, absent) in known.items():
            if reference.startswith(f"{key} "):
                where, tested = (linked(of.get(reference, [])) for of in (code, tests))
                text += f"| {reference[len(key) + 1 :]} | {what} | {where or absent} | {tested} |\n"
    return text


def linked(cited: list[Citation]) -> str:
    """Return names, each with its file and line as a link from `docs/`."""
    return "<br>".join(
        f"`{name}` [{Path(path).name}:{line}](../{path}#L{line})".removeprefix("`` ")
        for name, path, line in cited
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it is stale")


def main(args: argparse.Namespace) -> None:
    """Write the page; with `--check` only say what is wrong, or that it is stale."""
    text = page()
    if not args.check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != text:
        sys.exit("error: docs/equations.md is stale; run python -m workflow equations")
