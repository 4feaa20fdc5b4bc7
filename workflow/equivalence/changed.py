"""What changed between two versions of the code behind a kind of run.

A proof runs both versions and compares. It carries only what it runs, so it needs to know the
statements that changed. Some changes it cannot carry at all: where a constant or a comparison was
exchanged for another, data that never come near the boundary show nothing.
"""

import ast
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from workflow.equivalence.exchanges import Comparison, Renamed, masked
from workflow.equivalence.statements import Form, SourceSpan, Statement, Statements
from workflow.planning.code import DefinitionKey, Project
from workflow.planning.modules import REST

SourceSpans = tuple[SourceSpan, ...]
StatementsOfBoth = tuple[list[Statement], list[Statement]]
"""Of the old version, and of the new."""


@dataclass(frozen=True)
class Value:
    """A constant, operator, comparison or sign that was exchanged for another.

    Attributes:
        place_old, place_new: the statements that hold it.
        old_text, new_text: the constant, or the expression of the operator; of a `raise` the type
            of the exception.
    """

    place_old: SourceSpan
    place_new: SourceSpan
    old_text: str
    new_text: str


@dataclass(frozen=True)
class CodeChange:
    """What differs between two versions of the code behind a kind.

    Attributes:
        old, new: changed statements of each version that a CPU may run.
        gpu_old, gpu_new: those that a GPU alone runs; and of `old` and `new` those that ask for the
            device, as a GPU may run other parts of them.
        old_any, new_any: for each constant and attribute of a class that changed, the statements
            that read it and that a CPU may run. Those that `gpu_old` and `gpu_new` would list are
            there. A group is empty where nothing is seen that reads it.
        values: what was exchanged within statements that are otherwise the same.
    """

    old: SourceSpans = ()
    new: SourceSpans = ()
    gpu_old: SourceSpans = ()
    gpu_new: SourceSpans = ()
    old_any: tuple[SourceSpans, ...] = ()
    new_any: tuple[SourceSpans, ...] = ()
    values: tuple[Value, ...] = ()


def changes(
    old: Project, old_roots: Iterable[str], new: Project, new_roots: Iterable[str]
) -> CodeChange:
    """Return what changed between the definitions that roots reach.

    Roots that are as many in both versions correspond by their order. Other definitions correspond
    by their names, the rest by what they do. A `raise` is never listed, as no finished run has done
    it, and neither is a class that is only compared with.

    Args:
        old, new: the two versions of the project.
        old_roots, new_roots: of each, as `module:Name`.

    Raises:
        InputError: a root has no definition, or a file is not valid Python.
    """
    before = _Version("?old", _statements(old), tuple(old_roots))
    after = _Version("?new", _statements(new), tuple(new_roots))
    _pair(before, after)
    difference = _Difference(before, after)
    old_every, old_any, gpu_old = before.to_run(difference.changed[0])
    new_every, new_any, gpu_new = after.to_run(difference.changed[1])
    values = tuple(dict.fromkeys(difference.values))
    return CodeChange(old_every, new_every, gpu_old, gpu_new, old_any, new_any, values)


@lru_cache(maxsize=4)
def _statements(project: Project) -> Statements:
    return Statements(project)


class _Version:
    """One of the two versions.

    Attributes:
        roots: the definitions that the roots name.
        known: what stands for a definition that has a counterpart: its key in the new version.
        unknown: what stands for any other, that no statement of another version has.
        alone: the definitions that have none.
    """

    def __init__(self, unknown: str, statements: Statements, roots: tuple[str, ...]) -> None:
        self.unknown = unknown
        self.of = statements.of
        found = map(statements.project.find, roots)
        self.roots = [key for key in found if not isinstance(key, str)]
        self.reached = sorted(statements.project.reached(roots))
        self.running = self._run_by(self.roots)
        self.known: dict[DefinitionKey, DefinitionKey] = {}
        self._readers: dict[str | DefinitionKey, list[Statement]] = defaultdict(list)

    @property
    def alone(self) -> list[DefinitionKey]:
        return [key for key in self.reached if key not in self.known]

    def form(self, statement: Statement) -> Form:
        """Return what a statement means, different from others that name another definition."""
        return statement.form(self.known, self.unknown)

    def _run_by(self, roots: Iterable[DefinitionKey]) -> set[DefinitionKey]:
        """Return the definitions that may run: an object of a class is made where it is named.

        A class that is only compared with has no object, whose methods could run.
        """
        found: set[DefinitionKey] = set()
        waiting = [*roots]
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                imported = (key[0], REST)
                waiting += [imported] * (imported in self.reached)
                waiting += itertools.chain.from_iterable(each.runs for each in self.of(key))
        return found

    def may_run(self, statement: Statement) -> bool:
        """Return whether a statement is of a definition that may run."""
        return (statement.writer.module, statement.writer.name) in self.running

    def to_run(
        self, changed: Sequence[Statement]
    ) -> tuple[SourceSpans, tuple[SourceSpans, ...], SourceSpans]:
        """Return the places to run, groups of which one is enough, and the places of a GPU."""
        every: set[SourceSpan] = set()
        some: set[SourceSpans] = set()
        gpu: set[SourceSpan] = set()
        for statement in changed:
            if isinstance(statement.node, ast.Raise) or not self.may_run(statement):
                continue
            users = self._users(statement) if statement.read_as else [statement]
            gpu |= {each.place for each in users if each.gpu or each.asks}
            places = {each.place for each in users if not each.gpu}
            if not statement.read_as:
                every |= places
            elif places or not users:
                some.add(tuple(sorted(places)))
        return tuple(sorted(every)), tuple(sorted(some)), tuple(sorted(gpu))

    def _users(self, statement: Statement) -> list[Statement]:
        """Return what reads what a statement sets, through further constants too."""
        if not self._readers:
            for each in itertools.chain.from_iterable(map(self.of, self.reached)):
                for read in each.reads:
                    self._readers[read].append(each)
        seen = {*statement.read_as}
        waiting, users = [*seen], []
        while waiting:
            for each in self._readers.get(waiting.pop(), ()):
                if not each.read_as:
                    users.append(each)
                waiting += each.read_as - seen
                seen |= each.read_as
        return users


def _pair(before: _Version, after: _Version) -> None:
    """Find the definitions of two versions that correspond."""

    def pair(candidates: Iterable[tuple[DefinitionKey, DefinitionKey]]) -> None:
        for old, new in candidates:
            if old not in before.known and new not in after.known:
                before.known[old] = after.known[new] = new

    both = {*before.reached} & {*after.reached}
    if len(before.roots) == len(after.roots):
        pair(zip(before.roots, after.roots, strict=True))
    pair((key, key) for key in sorted(both))
    while pairs := _alike(before, after):
        pair(pairs)


def _alike(before: _Version, after: _Version) -> list[tuple[DefinitionKey, DefinitionKey]]:
    """Return definitions without counterparts that do the same, those of the same name first."""
    groups: dict[object, tuple[list[DefinitionKey], list[DefinitionKey]]] = defaultdict(
        lambda: ([], [])
    )
    for side, version in enumerate((before, after)):
        for key in version.alone:
            forms = tuple((each.nesting, each.form(version.known)) for each in version.of(key))
            groups[forms][side].append(key)
    pairs = [pair for old, new in groups.values() for pair in itertools.product(old, new)]
    return sorted(pairs, key=lambda pair: (pair[0][1] != pair[1][1], pair))


class _Difference:
    """What two versions do not share.

    Attributes:
        changed: the statements that only the old version has, and those of the new.
        values: what was exchanged.
    """

    def __init__(self, before: _Version, after: _Version) -> None:
        self.versions = before, after
        self.changed: StatementsOfBoth = ([], [])
        self.values: list[Value] = []
        self._single: StatementsOfBoth = ([], [])
        for key, counterpart in before.known.items():
            self._compare(key, counterpart)
        for side, version in enumerate(self.versions):
            for key in version.alone:
                self.changed[side].extend(version.of(key))
                self._single[side].extend(version.of(key))
        self._compare_rest(lambda version, statement: version.form(statement))
        self._compare_rest(lambda version, statement: masked(statement).form(version.known))

    def _compare(self, key: DefinitionKey, counterpart: DefinitionKey) -> None:
        """Compare a definition and its counterpart."""
        before, after = self.versions
        forms = [(each.nesting, before.form(each)) for each in before.of(key)]
        others = [(each.nesting, after.form(each)) for each in after.of(counterpart)]
        if forms == others:
            return
        renamed = Renamed()
        steps = SequenceMatcher(None, forms, others, autojunk=False).get_opcodes()
        for tag, start, end, new_start, new_end in sorted(
            steps, key=lambda step: step[0] != "equal"
        ):
            old = before.of(key)[start:end]
            new = after.of(counterpart)[new_start:new_end]
            pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
            same = {each for pair in pairs if self._agree(*pair, renamed) for each in pair}
            if tag != "equal":
                for side, statements in enumerate((old, new)):
                    self.changed[side].extend(statements)
                    self._single[side].extend(each for each in statements if each not in same)

    def _compare_rest(self, form: Callable[[_Version, Statement], Form]) -> None:
        """Compare statements without counterparts that have a form in common, wherever they are."""
        before, after = self.versions
        waiting: dict[Form, list[Statement]] = defaultdict(list)
        for statement in self._single[1]:
            waiting[form(after, statement)].append(statement)
        same: set[Statement] = set()
        for statement in self._single[0]:
            others = waiting[form(before, statement)]
            if others and self._agree(statement, others[0]):
                same |= {statement, others.pop(0)}
        for statements in self._single:
            statements[:] = [each for each in statements if each not in same]

    def _agree(self, old: Statement, new: Statement, renamed: Renamed | None = None) -> bool:
        """Return whether statements are the same but for values and names; note the values."""
        comparison = Comparison((self.versions[0].known, self.versions[1].known))
        agree = comparison.holds(old, new)
        if renamed is not None:
            agree = agree and renamed.agrees(old, new, comparison.names)
        if agree and self.versions[1].may_run(new):
            self.values += [Value(old.place, new.place, *value) for value in comparison.values]
        return agree
