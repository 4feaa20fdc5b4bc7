"""Tables in LaTeX: their form by their width, and each published one compiled in a paper."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.debian import Unavailable, need
from tests.reporting.synthetic import laid_out, one_run, toy, toy_table
from workflow import PUBLISHED
from workflow.commands.latex import latex_of
from workflow.reporting.tables.latex import BLANKS, COLUMN, NEEDS, PAGE, SLIDE_NEEDS, latex
from workflow.reporting.tables.tex_text import aligned, tex, width

TOLERATED = 5
"""Points by which a box may be too wide."""
HEAD = rf"""\documentclass[10pt,twocolumn]{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{booktabs,amssymb}}
\setlength{{\textwidth}}{{{PAGE}pt}}
\setlength{{\columnsep}}{{{PAGE - 2 * COLUMN}pt}}
\setlength{{\textheight}}{{550pt}}
\begin{{document}}
"""


def made(
    columns: int = 2,
    rows: int = 3,
    label: str = "row",
    slide: bool = False,
    gpus: int = 0,
    **more: Any,
) -> str:
    """Return a table whose cells are all 12.50, but for those of row 0, which are 2.50.

    The first `gpus` rows are trained on a GPU.
    """
    metric = {"measure": "probe.m", "label": "m", "digits": 2}
    given = toy_table(
        {"m": metric},
        [{"id": f"c{n}", "label": f"c{n}", "metrics": ["m"]} for n in range(columns)],
        [{"id": f"r{n}", "label": f"{label} {n}"} for n in range(rows)],
        **more,
    )
    runs = [one_run(f"r{n}", 0, {"m": 12.5 if n else 2.5}) for n in range(rows)]
    for run in runs[:gpus]:
        run.provenance["device"] = "NVIDIA H200"
    table = toy(given, runs)
    return latex(given, "toy", laid_out(given, table), table, slide)


@pytest.mark.parametrize(
    ("columns", "rows", "kind", "tabulars"),
    [(2, 3, "table", 1), (9, 30, "table*", 1), (14, 3, "table", 1), (60, 40, "table*", 6)],
)
def test_the_form_follows_the_width(columns: int, rows: int, kind: str, tabulars: int) -> None:
    text = made(columns, rows)
    assert set(re.findall(r"\\begin{(table\*?)}", text)) == {kind}
    assert text.count(r"\begin{tabular}{") == tabulars
    assert text.startswith(NEEDS)


@pytest.mark.parametrize(
    ("columns", "rows", "caution"),
    [(2, 3, "rest of the column on a CPU. Rows"), (14, 3, "rest of the row on a CPU. Columns")],
)
def test_rows_of_two_devices_are_named_as_the_form_has_them(
    columns: int, rows: int, caution: str
) -> None:
    assert caution in re.sub(r"\s+", " ", made(columns, rows, gpus=1))


def test_a_high_table_goes_on_in_the_next_float() -> None:
    first, *others = made(2, 150).split(r"\begin{table}")[1:]
    assert len(others) == 2 and r"\label{tab:kinley2020-toy}" in first
    assert all("Toy, continued." in one and r"\toprule" in one for one in others)


def test_long_texts_are_broken_into_lines() -> None:
    text = made(2, 3, label="a label " * 12)
    room = re.search(r"\\begin{tabular}{@{}p{(\d+)pt}cc@{}}", text)
    assert room and 95 < int(room[1]) < COLUMN
    assert r"\raggedright a label" in text


def test_notes_are_comments_and_the_number_of_the_paper_is_behind_the_title() -> None:
    text = made(title="Table 6.1: agreement of what", notes=["Mind xi."])
    assert r"\caption{Agreement of what (Table 6.1 of kinley2020). A toy." in text
    assert "Scale lite; 1 seed, CPU" in text
    assert text.rstrip().endswith("% Mind xi.") and "Mind" not in text.partition("% Notes:")[0]


def test_what_a_reader_asks_of_a_sign_is_below_the_table() -> None:
    """Marks of two numbers are apart; a star, a dash and a blank say what they are."""
    given = toy_table(
        {"m": {"measure": "probe.m", "label": "m", "digits": 1}},
        [{"id": "c", "label": "c", "metrics": ["m"]}],
        [{"id": f"r{n}", "label": f"row {n}"} for n in range(3)],
    )
    table = toy(given, [one_run(f"r{n}", 0, {"m": 2.5}) for n in range(3)])
    grid = laid_out(given, table)

    def said(**changes: Any) -> str:
        texts = grid.texts.assign(**{name: [it] * 3 for name, it in changes.items()})
        return latex(given, "toy", replace(grid, texts=texts), table)

    text = said(marks="~ ≈", words=frozenset(["near"]))
    assert r"$^{\sim,\approx}$" in text and "two marks: of both numbers, in their order" in text
    assert "two marks" not in said(marks="~", words=frozenset(["near"]))
    for blank in ({"words": frozenset(["quoted"])}, {"ours": "not run"}, {"ours": "–"}):
        assert f"{BLANKS}." in said(**blank)
    assert BLANKS not in said()
    assert "*: never exceeded in training" in said(ours="2.5*")


def test_numbers_are_aligned_by_their_points() -> None:
    texts = ["9.5±1.2", "10.5±0.3", "-3", "–", "7 or so, to 8"]
    assert aligned(texts, ["$^{a}$", "", "", "", ""]) == [
        r"\phantom{$-$0}9.5$\pm$1.2$^{a}$",
        r"\phantom{$-$}10.5$\pm$0.3\phantom{$^{a}$}",
        r"\phantom{0}$-$3\phantom{.5$\pm$1.2}\phantom{$^{a}$}",
        "--",
        r"\phantom{$-$0}7 or so, to 8\phantom{$^{a}$}",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b & 5 % ± `x_y`", r"a\_b \& 5 \% $\pm$ \texttt{x\_y}"),
        ("A(alpha, beta_uf) (%)", r"$A(\alpha,\beta^{\mathrm{uf}})$ (\%)"),
        ("A_hat, A-hat and alpha_hat", r"$\hat{A}$, $\hat{A}$ and $\hat{\alpha}$"),
        ("xi_star of xi(Delta,beta)", r"$\xi^{*}$ of $\xi(\Delta,\beta)$"),
        ("alpha-entmax, A and alphabet", r"$\alpha$-entmax, A and alphabet"),
    ],
)
def test_symbols_are_set_as_formulas(text: str, shown: str) -> None:
    assert tex(text) == shown


SLIDES = r"""\documentclass[aspectratio=169]{beamer}
\usepackage[T1]{fontenc}
\usepackage{booktabs,amssymb}
\begin{document}
"""


@pytest.fixture
def pdflatex() -> None:
    try:
        need("TeX", ["pdflatex"], ["texlive-latex-recommended"])
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("pdflatex")
def test_each_published_table_fits_a_paper_of_two_columns(tmp_path: Path) -> None:
    tables = sorted(PUBLISHED.glob("*/tables/*/*.csv"))
    texts = {"/".join(path.parts[-4:]): latex_of(path) for path in tables}
    assert tables and [*faults(texts, tmp_path)] == []


@pytest.mark.usefixtures("pdflatex")
def test_each_published_table_fits_slides(tmp_path: Path) -> None:
    try:
        # Of beamer's drawings; `mathspic` is a program of their package.
        need("TeX for slides", ["mathspic"], ["texlive-pictures"])
    except Unavailable as error:
        pytest.skip(str(error))
    tables = sorted(PUBLISHED.glob("*/tables/*/*.csv"))
    texts = {"/".join(path.parts[-4:]): latex_of(path, slide=True) for path in tables}
    assert tables and [*faults(texts, tmp_path, head=SLIDES)] == []


def test_a_slide_has_one_table_and_its_title() -> None:
    text = made(2, 3, slide=True, title="Table 6.1: agreement of what", notes=["Mind xi."])
    assert text.startswith(SLIDE_NEEDS) and text.count(r"\begin{frame}") == 1
    assert r"\frametitle{\large Agreement of what (Table 6.1 of kinley2020)}" in text
    assert "A toy." not in text.partition(r"\end{frame}")[0]
    assert text.rstrip().endswith("% Mind xi.")
    first, *others = made(2, 40, slide=True).split(r"\begin{frame}")[1:]
    assert others and all("continued" in one and "continued" not in first for one in others)


@pytest.mark.usefixtures("pdflatex")
def test_widths_are_those_in_print(tmp_path: Path) -> None:
    text = r"81.35 to 80.85$\pm$1.98$^{\checkmark}$ $A(\alpha,\beta^{\mathrm{uf}})$ TRANSFORMER"
    for room, count in ((width(text) * 0.96, 1), (width(text), 0)):
        box = rf"\hbox to {room}pt{{\footnotesize {text}}}"
        assert len([*faults({"box": box}, tmp_path, tolerated=0.1)]) == count


def faults(
    texts: dict[str, str], folder: Path, tolerated: float = TOLERATED, head: str = HEAD
) -> Iterator[str]:
    """Yield what TeX says against texts in a paper: errors, and what is too wide or too high."""
    body = [head]
    for number, (name, text) in enumerate(texts.items()):
        (folder / f"{number}.tex").write_text(text, encoding="utf-8")
        body.append(rf"\typeout{{TEXT \detokenize{{{name}}}}}\input{{{number}.tex}}\clearpage")
    (folder / "all.tex").write_text("\n".join([*body, r"\end{document}"]))
    command = ["pdflatex", "-interaction=nonstopmode", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    name = ""
    for line in (folder / "all.log").read_text(encoding="utf-8", errors="replace").splitlines():
        name = line.removeprefix("TEXT ") if line.startswith("TEXT ") else name
        wide = re.match(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\)", line)
        high = line.startswith("LaTeX Warning: Float too large")
        if line.startswith("!") or high or (wide and float(wide[1]) > tolerated):
            yield f"{name}: {line}"
    if done.returncode:
        yield f"pdflatex ended with status {done.returncode}"


def test_rows_without_our_numbers_can_be_left_out() -> None:
    path = PUBLISHED / "lite/tables/explicit_sparse/table_1.csv"
    whole, ours = latex_of(path), latex_of(path, ours=True)
    for name, quoted in (("ConvS2S", True), ("Explicit Sparse Transformer &", False)):
        assert name in whole and (name in ours) != quoted
