"""Write docs/equations.md: each paper's equations, what implements them, and what tests that."""

import argparse
import sys
from pathlib import Path

from workflow.definitions.equations import FILE, Citation, check, citations, places
from workflow.definitions.paper import Paper
from workflow.failure import one_sentence
from workflow.paths import ROOT

PAGE = ROOT / "docs" / "equations.md"
HEAD = """# Equations

After this page you can find the code of an equation, and the test that checks it: of all equations
that the papers number, and of sections, figures and tables that code cites. It is made of
docstrings and `workflow/papers/*/equations.tsv` by `python -m workflow.scripts.equations`.
"""


def page() -> str:
    """Return the page; InputError for a citation or an equation that leads nowhere."""
    papers = {paper: places(paper.folder / FILE) for paper in Paper.all()}
    code, tests = citations(ROOT, "model", "workflow"), citations(ROOT, "tests")
    check({name: place for of in papers.values() for name, place in of.items()}, code, tests)
    text = HEAD
    for paper, known in papers.items():
        for about in paper.about.references:
            text += f"\n## {about.key}\n\n{about.cited}.\n\n"
            text += "| place | what | code | tests |\n| --- | --- | --- | --- |\n"
            for reference, (title, absent, note) in known.items():
                key, _, number = reference.partition(" ")
                if key == about.key:
                    where, tested = (linked(of.get(reference, [])) for of in (code, tests))
                    what = f"{title} ({note})" if note else title
                    text += f"| {number} | {what} | {where or absent} | {tested} |\n"
    return text


def linked(cited: list[Citation]) -> str:
    """Return names, each with its file and line as a link from `docs/`."""
    return "<br>".join(
        f"`{c.name}` [{Path(c.path).name}:{c.line}](../{c.path}#L{c.line})".removeprefix("`` ")
        for c in cited
    )


def main() -> None:
    """Write the page; with `--check` only say what is wrong, or that it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it is stale")
    checking, text = parser.parse_args().check, page()
    if not checking:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != text:
        sys.exit("error: docs/equations.md is stale; run python -m workflow.scripts.equations")


if __name__ == "__main__":
    with one_sentence():
        main()
