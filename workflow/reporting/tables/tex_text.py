"""Texts of a table in LaTeX: special characters, formulas, and their width in print."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

SIZE = 8.5
"""Points of an em: `\\footnotesize` has 8, and at that size Computer Modern is set wider."""
_SIGNS = {
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
    "‡": r"\textdaggerdbl{}",
    "λ": r"$\lambda$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "×": r"$\times$",
    "≥": r"$\geq$",
}
_GREEK = "alpha|beta|Delta|lambda|tau|theta|xi"
_VARIABLE = rf"(?:{_GREEK})(?:_[a-z]+)?"
_FORMULA = re.compile(
    rf"\b(?:(?:A|xi)\({_VARIABLE}, ?{_VARIABLE}\)|A[-_]hat|{_VARIABLE})(?![A-Za-z0-9_])"
)
_NUMBER = re.compile(r"(-?)(\d+)(\.\d+)?(±\d+(?:\.\d+)?)?(|\D.*)")


def tex(text: str) -> str:
    """Return text in LaTeX: special characters written out, `code` as code, A(alpha) as math."""
    parts = text.split("`")
    return "".join(
        rf"\texttt{{{_escaped(part)}}}" if index % 2 else _with_formulas(part)
        for index, part in enumerate(parts)
    )


def _with_formulas(text: str) -> str:
    between = map(_escaped, _FORMULA.split(text))
    formulas = [f"${_formula(found)}$" for found in _FORMULA.findall(text)]
    return "".join(a + b for a, b in zip(between, [*formulas, ""], strict=True))


def _formula(text: str) -> str:
    text = re.sub(r"(\w+)[-_]hat", r"\\hat{\1}", text.replace(" ", ""))
    text = text.replace("_star", "^{*}")
    text = re.sub(r"_([a-z]+)", r"^{\\mathrm{\1}}", text)
    return re.sub(rf"(?<![A-Za-z\\])({_GREEK})(?![A-Za-z])", r"\\\1", text)


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def width(text: str) -> float:
    """Return the width in points of LaTeX text in Computer Modern at `\\footnotesize`.

    It is a little too large where there are superscripts or kerning.
    """
    shown = text.replace("$-$", "m")
    shown = re.sub(r"\\(?:mathrm|texttt|phantom|hat)|\\(?=[&%$#_{}])", "", shown)
    shown = re.sub(r"[${}^]", "", re.sub(r"\\[A-Za-z]+", "m", shown))
    return SIZE * sum(map(_advance, shown))


def _advance(sign: str) -> float:
    """Return the width of a character in em; of one that the font lacks, that of an m."""
    base = unicodedata.normalize("NFD", sign)[0]
    return _advances()[base if base in _advances() else "m"]


@cache
def _advances() -> dict[str, float]:
    """Return the widths of the printable characters of ASCII in em."""
    import matplotlib  # only where LaTeX is made: it takes long to import
    from matplotlib.ft2font import FT2Font, LoadFlags

    font = FT2Font(f"{matplotlib.get_data_path()}/fonts/ttf/cmr10.ttf")
    glyphs = {chr(code): font.load_char(code, flags=LoadFlags.NO_SCALE) for code in range(32, 127)}
    return {sign: glyph.horiAdvance / font.units_per_EM for sign, glyph in glyphs.items()}


def wrapped(text: str, room: float) -> list[str]:
    """Return LaTeX text in lines of some points; a longer word has a line of its own."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def aligned(texts: Sequence[str], marks: Sequence[str] = ()) -> list[str]:
    """Return the texts of a column in LaTeX, those that begin with a number decimal-aligned.

    What a number, its deviation and its mark lack of the longest is added invisibly, so that the
    texts are equally wide; not so behind other text.
    """
    split = [_NUMBER.fullmatch(text) for text in texts]
    numbers = [found.groups("") for found in split if found]
    most = [max(part, key=len) for part in zip(*numbers, strict=True)]
    behind = marks or [""] * len(texts)
    widest = max(behind, key=width, default="")
    return [
        text and _padded(found.groups("") if found else ("", "", "", "", text), mark, most, widest)
        for found, text, mark in zip(split, texts, behind, strict=True)
    ]


def _padded(number: Sequence[str], mark: str, most: Sequence[str], widest: str) -> str:
    """Return a number and its mark with what its parts lack of the longest ones.

    Its parts are the sign, digits before and behind the point, the deviation, and other text.
    """
    sign, whole, decimals, deviation, rest = number
    made = tex(_minus(sign) + whole + decimals + deviation + rest) + mark
    if not whole:
        return made
    before = _minus(most[0][len(sign) :]) + most[1][len(whole) :]
    behind = ("" if deviation else most[2][len(decimals) :]) + most[3][len(deviation) :]
    fill = _phantom(tex(behind) if len(rest) < len(behind) else "")
    return f"{_phantom(tex(before))}{made}{fill}{'' if mark else _phantom(widest)}"


def _minus(sign: str) -> str:
    return sign.replace("-", "−")


def _phantom(text: str) -> str:
    return rf"\phantom{{{text}}}" if text else ""
