"""A table as a LaTeX float: ours, the paper's and the verdict in columns of their own."""

from workflow.definitions.tables import Tables
from workflow.reporting.tables.layout import NO_ROW, Grid

COMPARED = ("ours", "paper", "verdict")
"""Sub-columns of a column in which the paper prints anything; the others have none."""
WIDE = 10
"""A LaTeX table with more columns is scaled to the width of the text."""
_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "Δ": r"$\Delta$",
    "−": "$-$",
    "τ": r"$\tau$",
    "†": r"\textdagger{}",
    "λ": r"$\lambda$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
}


def tex_escape(text: str) -> str:
    """Return text with LaTeX's special characters written out, and `code` set as code."""
    parts = ["".join(_TEX.get(sign, sign) for sign in part) for part in text.split("`")]
    return "".join(rf"\texttt{{{part}}}" if index % 2 else part for index, part in enumerate(parts))


def latex(definitions: Tables, name: str, shown: Grid, scale: str) -> str:
    """Return the table as a LaTeX float with booktabs rules; its first line names the packages."""
    table = definitions["tables"][name]
    top, rules, below, at = ["" for _ in shown.labels], [], list(shown.labels), len(shown.labels)
    kinds_of = [COMPARED if compared else COMPARED[:1] for compared in shown.compared]
    for label, kinds in zip(shown.columns, kinds_of, strict=True):
        top.append(rf"\multicolumn{{{len(kinds)}}}{{c}}{{{tex_escape(label)}}}")
        below += kinds if len(kinds) > 1 else ("",)
        if len(kinds) > 1:
            rules.append(rf"\cmidrule(lr){{{at + 1}-{at + len(kinds)}}}")
        at += len(kinds)
    body, group = [], None
    for labels, cells in shown.lines:
        both = zip(cells, kinds_of, strict=True)
        row = [*labels, *(cell[kind] for cell, kinds in both for kind in kinds)]
        texts = [*map(tex_escape, row)]
        if len(shown.labels) > 1:
            if group is not None and texts[0] != group:
                body.append(r"\midrule")
            group, texts[0] = texts[0], "" if texts[0] == group else texts[0]
        body.append(" & ".join(texts) + r" \\")
    alignment = "l" * len(shown.labels) + "c" * (at - len(shown.labels))
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(top) + r" \\",
        "".join(rules),
        " & ".join(tex_escape(text) for text in below) + r" \\",
        r"\midrule",
        *(body or [rf"\multicolumn{{{at}}}{{l}}{{{NO_ROW}}} \\"]),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if at > WIDE:
        lines = [r"\resizebox{\textwidth}{!}{%", *lines, "}"]
    if remarks := shown.notes:
        lines.append(rf"\par\medskip\parbox{{\textwidth}}{{{tex_escape(' '.join(remarks))}}}")
    caption = f"{table['title']}. {shown.caption} Scale {scale}."
    lines += [rf"\caption{{{tex_escape(caption)}}}", rf"\label{{tab:{name}}}"]
    text = "\n".join(lines)
    needed = [r"\usepackage{booktabs}"]
    needed += [r"\usepackage{graphicx}"] if at > WIDE else []
    needed += [r"\usepackage[T1]{fontenc}"] if any(sign in text for sign in "‹›") else []
    return "\n".join(
        [
            f"% needs {', '.join(needed)}",
            r"\begin{table}",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            text,
            r"\end{table}",
        ]
    )
