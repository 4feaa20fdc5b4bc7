"""Which code does the same as other code: what `docs/reproduction/equivalent.jsonl` says.

A line says that of two versions of the code behind a kind of run, an evaluator or a recorder, the
new does what the old did: proven, to the same bits or to rounding, or stated by somebody. Lines are
only appended. Code that is proven the same is represented by its oldest version, whose hash stands
in specs: so what was made by that version is found under its identity.

Only the standard library is used: a training job imports this file without Snakemake or YAML.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast, get_args

from workflow.runtime.errors import InputError

FILE = Path("docs/reproduction/equivalent.jsonl")
"""Below the project's folder; without it no code is equivalent to other code."""
ProofVerdict = Literal["same bits", "same to rounding", "stated, not proven"]
VERDICTS: tuple[ProofVerdict, ...] = get_args(ProofVerdict)
"""From best to worst."""
STATED = VERDICTS[-1]
Gpu = Literal["unchanged", "changed", "proven"]
GPU: tuple[Gpu, ...] = get_args(Gpu)
TIMES = ("ms", "K tokens/s", "softmax = 1")
"""Units of what was timed, of which no proof says anything."""
ALWAYS = ("", "~")
"""Before and after every date."""
_HASH = re.compile(r"[0-9a-f]{16}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class EquivalenceLine(TypedDict):
    """That the new code does what the old did; what is stated has no more than what is required."""

    old: str
    """hash of the code"""
    new: str
    what: str
    """`training`, `evaluator` or `recorder`"""
    name: str
    """an example, such as `<experiment>/<variant>`"""
    verdict: ProofVerdict
    date: str
    """when it was accepted, as 2026-11-27"""
    difference: NotRequired[float]
    """the largest that was measured, relative"""
    bound: NotRequired[float]
    """beyond which it would have been refused"""
    updates: NotRequired[int]
    """that were compared"""
    lines: NotRequired[int]
    """that were changed and executed"""
    drops: NotRequired[list[str]]
    """metrics and arrays that the new code does not give, and that are not read any more"""
    gpu: NotRequired[Gpu]
    """what became of the lines that a GPU alone runs"""
    since: NotRequired[str]
    """commit of the old code"""
    machine: NotRequired[str]
    torch: NotRequired[str]


class Equivalents:
    """What lines of equivalence say together.

    Args:
        lines: in the order in which they were appended, each with where it stands.

    Raises:
        InputError: lines lead in a circle, or a proof joins two histories of which both have
            versions of their own in use, so that an identity would change.
    """

    def __init__(self, lines: Iterable[tuple[str, EquivalenceLine]]) -> None:
        self.lines: list[EquivalenceLine] = []
        self._oldest: dict[str, str] = {}
        self._stated: dict[str, str] = {}
        self._codes: set[str] = set()
        for where, line in lines:
            if self._path(line["new"], line["old"], self.lines, forward=True) is not None:
                raise InputError(f"{where}: leads in a circle back to {line['old']}; remove it")
            self._join(where, line)
            self.lines.append(line)
            self._codes |= {line["old"], line["new"]}

    @classmethod
    def read(cls, root: Path) -> Equivalents:
        """Read the file below `root`, which need not be there, once for each state of it.

        Raises InputError, which names file and line, for a line that is damaged or can't be.
        """
        path = root / FILE
        try:
            status = path.stat()
        except FileNotFoundError:
            return _read(path, 0, 0)
        return _read(path, status.st_mtime_ns, status.st_size)

    def _join(self, where: str, line: EquivalenceLine) -> None:
        old, new = line["old"], line["new"]
        if self.representative(old) == self.representative(new):
            return
        if line["verdict"] == STATED:
            self._stated.setdefault(self._proven(old), new)
        elif new not in self._codes:
            self._oldest[new] = self._proven(old)
        elif old not in self._codes:
            self._oldest[old] = self._proven(new)
        else:
            raise InputError(
                f"{where}: {old} and {new} have lines of their own before this, by which they are "
                "not the same: to join them would change identities; remove it"
            )

    def _proven(self, code: str) -> str:
        return self._oldest.get(code, code)

    def representative(self, code: str) -> str:
        """Return the hash that stands in specs for some code: the oldest that is proven the same.

        Where a line states that one of these is the same as newer code, it is what represents that:
        the first line counts. A further line of a proof changes it for no code that has a line.
        """
        oldest = self._proven(code)
        stated = self._stated.get(oldest)
        return oldest if stated is None else self.representative(stated)

    def chain(self, old: str, now: str, gpu: bool = False) -> list[EquivalenceLine] | None:
        """Return the lines that lead from the code that ran to other code, None where none do.

        Proofs lead both ways, statements from old to new. Of several ways it is one whose worst
        verdict is best, and of these the shortest.

        Args:
            old: hash of the code that ran.
            now: of the other.
            gpu: follow only lines that hold on a GPU, too.
        """
        lines = [one for one in self.lines if not gpu or one.get("gpu") in ("unchanged", "proven")]
        for worst in range(len(VERDICTS)):
            allowed = [one for one in lines if one["verdict"] in VERDICTS[: worst + 1]]
            if (path := self._path(old, now, allowed)) is not None:
                return path
        return None

    @staticmethod
    def _path(
        begin: str, end: str, lines: Collection[EquivalenceLine], forward: bool = False
    ) -> list[EquivalenceLine] | None:
        leaving: dict[str, list[tuple[str, EquivalenceLine]]] = {}
        for line in lines:
            leaving.setdefault(line["old"], []).append((line["new"], line))
            if not forward and line["verdict"] != STATED:
                leaving.setdefault(line["new"], []).append((line["old"], line))
        paths: dict[str, list[EquivalenceLine]] = {begin: []}
        waiting = deque([begin])
        while waiting and end not in paths:
            code = waiting.popleft()
            for other, line in leaving.get(code, ()):
                if other not in paths:
                    paths[other] = [*paths[code], line]
                    waiting.append(other)
        return paths.get(end)

    def newest(self, code: str) -> str:
        """Return the newest code that lines lead to from some code, else that itself."""
        news = {line["old"]: line["new"] for line in self.lines}
        while code in news:
            code = news[code]
        return code

    def dropped(self, code: str) -> set[str]:
        """Return the metrics and arrays of an evaluator that newer code does not give any more."""
        chain = self.chain(code, self.newest(code)) or ()
        return {name for line in chain for name in line.get("drops", ())}

    def current(self, code: str) -> tuple[str, str]:
        """Return the dates from and until which some code was in use, as far as proofs say it.

        `ALWAYS` has what stands in the place of either where none does. When a change was made that
        is only stated to be none, is not known.
        """
        proofs = [line for line in self.lines if line["verdict"] != STATED]
        first, last = ALWAYS
        begun = min((line["date"] for line in proofs if line["new"] == code), default=first)
        left = min((line["date"] for line in proofs if line["old"] == code), default=last)
        return begun, left


def worst(chain: Iterable[EquivalenceLine]) -> ProofVerdict:
    """Return the worst verdict of some lines; of none `same bits`."""
    return max((line["verdict"] for line in chain), key=VERDICTS.index, default=VERDICTS[0])


@cache
def _read(path: Path, _mtime_ns: int, size: int) -> Equivalents:
    text = path.read_text("utf-8") if size else ""
    lines = ((f"{path}, line {at}", it) for at, it in enumerate(text.splitlines(), start=1))
    return Equivalents((where, _line(where, it)) for where, it in lines)


def _line(where: str, text: str) -> EquivalenceLine:
    """Return a line; InputError where it is damaged."""
    try:
        line = json.loads(text)
        fault = _fault(line)
    except (ValueError, AttributeError):
        fault = "damaged"
    if fault:
        raise InputError(f"{where}: {fault}; take it from the last commit")
    return cast(EquivalenceLine, line)


def _fault(line: EquivalenceLine) -> str:
    """Return what is wrong with a line, nothing where it can be used."""
    stated = line.get("verdict") == STATED
    right = {
        "old": _HASH.fullmatch(str(line.get("old"))),
        "new": _HASH.fullmatch(str(line.get("new"))),
        "date": _DATE.fullmatch(str(line.get("date"))),
        "verdict": line.get("verdict") in VERDICTS,
        "gpu": line.get("gpu") in ((None,) if stated else GPU),
    }
    wrong = [name for name, fits in right.items() if not fits]
    return f"{', '.join(wrong)} missing or impossible" if wrong else ""
