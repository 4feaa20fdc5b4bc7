"""A proof that a change of code is none: old and new code of each kind side by side.

A kind is the code behind runs, an evaluator or a recorder: a pair of hashes, before and after.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from workflow.equivalence import sameness
from workflow.equivalence.changed import CodeChange
from workflow.equivalence.sameness import ResultComparison, worst
from workflow.equivalence.side import SCALES, Json
from workflow.equivalence.sides import OF, CodeKind, Failed, Of, Sides, Use, What
from workflow.equivalence.specs import (
    JUDGED,
    UPDATES,
    brief,
    different_forms,
    form,
    in_single,
    of_further_form,
    with_rows_apart,
)
from workflow.equivalence.statements import SourceSpan

Executed = dict[Of, set[tuple[str, int, int]]]
"""Of each side the changed statements that were executed: file, first and last line."""
Note = Callable[[Json, Json], None]
LONGER = 8
"""How many times longer rows are made where the changed lines did not run."""
MACHINES: tuple[Json, ...] = (
    {"threads": 2},
    {"library": False},
    *({"shake": seed} for seed in (1, 2, 3)),
)
"""What is a little different where the old code shows what a machine makes by itself: more threads,
no oneDNN, weights changed by a rounding."""
TIED = ("position", "query", "")
"""What the names of weights contain that are 0 where choices are to be ties: among equal words,
among all positions, among all outputs."""
SUBJECTS = 4
"""Models and arguments that a changed evaluator is run with, of different kinds, of one scale."""


@dataclass
class Proof:
    """What a proof found out about a kind.

    Attributes:
        kind: the kind.
        name: where it is used, as an example.
        finding: how numbers compare.
        updates: how many were compared.
        lines: changed statements that were executed.
        drops: of an evaluator, scalars and arrays that the new code does not give.
        gpu: `unchanged` where no line changed that only a GPU runs, else `changed`.
        refusals: sentences, why numbers that are the same are no proof.
    """

    kind: CodeKind
    name: str
    finding: ResultComparison = field(default_factory=lambda: ResultComparison("same bits"))
    updates: int = 0
    lines: int = 0
    drops: set[str] = field(default_factory=set)
    gpu: str = "unchanged"
    refusals: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        """Whether what was made by the old code is as if made by the new."""
        return self.finding.verdict != "different" and not self.refusals


def on_gpu(change: CodeChange) -> CodeChange:
    """Return a change in which the lines that a GPU alone runs have to be executed, too."""
    old, new = (*change.old, *change.gpu_old), (*change.new, *change.gpu_new)
    return replace(change, old=tuple(dict.fromkeys(old)), new=tuple(dict.fromkeys(new)))


def watched(change: CodeChange, of: Of) -> dict[str, list[list[int]]]:
    """Return the statements of a side that a proof has to execute, by file."""
    places: list[SourceSpan] = [*(change.old if of == "old" else change.new)]
    for group in change.old_any if of == "old" else change.new_any:
        places += group
    found: dict[str, list[list[int]]] = {}
    for place in places:
        found.setdefault(place.file, []).append([place.first, place.last])
    return found


def missing(change: CodeChange, of: Of, executed: set[tuple[str, int, int]]) -> list[str]:
    """Return the places that were not executed, as `file:line (definition)`."""
    single, groups = (change.old, change.old_any) if of == "old" else (change.new, change.new_any)

    def ran(place: SourceSpan) -> bool:
        return (place.file, place.first, place.last) in executed

    left = [place for place in single if not ran(place)]
    left += [group[0] for group in groups if group and not any(map(ran, group))]
    unread = ["what reads a constant or an attribute that changed"] * (() in groups)
    return [f"{place.file}:{place.first} ({place.name})" for place in left] + unread


def prove(sides: Sides, kind: CodeKind, uses: list[Use]) -> Proof:
    """Prove that the code of a kind changed nothing, or say what stands against it."""
    named = sorted(uses, key=lambda use: SCALES.index(use.key.partition("/")[0]))
    proof = Proof(kind, "/".join(filter(None, (named[0].key.partition("/")[2], named[0].part))))
    change = sides.changes(kind, named[0])
    proof.gpu = "changed" if change.gpu_old or change.gpu_new else "unchanged"
    if sides.device != "cpu":
        change, proof.gpu = on_gpu(change), "proven"
    executed: Executed = {"old": set(), "new": set()}
    for longer in (1, LONGER):
        try:
            for finding in _findings(sides, proof, named, change, longer, executed):
                proof.finding = worst([proof.finding, finding])
                if finding.verdict == "different":
                    break
        except Failed as error:
            if longer == 1:
                proof.refusals.append(f"it can't be run: {error}")
            break
        left = {of: missing(change, of, executed[of]) for of in OF}
        if proof.finding.verdict == "different" or not any(left.values()):
            break
    if proof.finding.verdict != "different":
        for of in OF:
            proof.refusals += [
                f"{place} of the {of} code was not executed"
                for place in missing(change, of, executed[of])
            ]
        proof.refusals += [
            f"{value.place_new.file}:{value.place_new.first} has `{value.new_text}`, not "
            f"`{value.old_text}`: data that are far from where it matters show no effect"
            for value in change.values
            if value.place_new not in change.gpu_new or sides.device != "cpu"
        ]
    proof.lines = sum(map(len, executed.values()))
    proof.updates = UPDATES if kind.what == "training" else 0
    return proof


def _findings(
    sides: Sides, proof: Proof, uses: list[Use], change: CodeChange, longer: int, executed: Executed
) -> Iterator[ResultComparison]:
    """Yield how numbers of a kind compare.

    Note which changed statements were executed, and in the proof what the new code does not give.
    """
    of_old, of_new = watched(change, "old"), watched(change, "new")

    def note(old: Json, new: Json) -> None:
        executed["old"] |= {(file, first, last) for file, first, last in old["executed"]}
        executed["new"] |= {(file, first, last) for file, first, last in new["executed"]}
        if proof.kind.what == "evaluator":
            proof.drops |= sameness.gone(new["result"], old["result"])

    if proof.kind.what == "training":
        measured: set[str] = set()
        for place, key in enumerate(different_forms([use.key for use in uses], sides.after)):
            yield from _train(sides, key, place == 0, longer, of_old, of_new, note)
            for name, part in sides.after[key]["evaluators"].items():
                if part["code"] not in measured:
                    measured.add(part["code"])
                    yield _measure(sides, Use(key, name), "evaluator", longer, of_old, of_new, note)
            if sides.after[key]["recorders"]:
                yield _measure(sides, Use(key), "recorder", longer, of_old, of_new, note)
        return
    subjects: dict[tuple[str, str], Use] = {}
    scale = uses[0].key.partition("/")[0]
    for use in uses:
        if use.key.startswith(f"{scale}/"):
            entry = sides.after[use.key]
            node = entry[f"{proof.kind.what}s"][use.part]["node"]
            subjects.setdefault((form(node), entry["code"]), use)
    for use in [*subjects.values()][:SUBJECTS]:
        yield _measure(sides, use, proof.kind.what, longer, of_old, of_new, note)


def _train(
    sides: Sides, key: str, whole: bool, longer: int, of_old: Json, of_new: Json, note: Note
) -> Iterator[ResultComparison]:
    """Yield how trainings of a variant compare; a kind's first form is trained `whole`."""
    old, new = sides.specs(key)
    pairs = [(old, new)]
    if old["training"]["precision"] != "fp32":
        pairs.append((brief(in_single(old)), brief(in_single(new))))
    if not whole:
        pairs = [(of_further_form(one), of_further_form(other)) for one, other in pairs]
    for spec, other in pairs:
        one = sides.training("old", key, spec, longer, of_old)
        two = sides.training("new", key, other, longer, of_new)
        before, after = sides.both("train", one, two)
        note(before, after)
        sides.keep(one, before)
        same = before["digests"] == after["digests"] and sameness.rows(
            after["history"], before["history"]
        )
        yield ResultComparison("same bits") if same else _by_update(sides, one, two)
    yield _between_rows(sides, key, longer)


def _between_rows(sides: Sides, key: str, longer: int) -> ResultComparison:
    """Judge an update from a state that holds what no row of the history tells yet.

    A run of 40 updates has a row for each: nothing is left to tell where it is stopped.
    """
    one, two = (
        sides.training(of, key, spec, longer, {})
        for of, spec in zip(OF, map(with_rows_apart, sides.specs(key)), strict=True)
    )
    old, new = ({name: it[name] for name in ("spec", "data", "parents")} for it in (one, two))
    start, expected, ours = (f"{two['to']}-{name}.pt" for name in ("start", "old", "new"))
    Path(start).parent.mkdir(parents=True, exist_ok=True)
    sides.old.ask("step", **old, start=None, to=start)
    sides.old.ask("step", **old, start=start, to=expected)
    try:
        sides.new.ask("step", **new, start=start, to=ours)
    except Failed as error:
        return ResultComparison("different", inf, 0, f"between two rows it fails: {error}")
    return _step(sides, old, start, expected, ours)


def _step(sides: Sides, old: Json, start: str | None, expected: str, ours: str) -> ResultComparison:
    """Judge a state that one update made, asking the old code for its noise where it has to."""
    import torch

    precision = str(old["spec"]["training"]["precision"])
    made, made_by_old, before = (
        torch.load(path, weights_only=True) if path else None for path in (ours, expected, start)
    )
    found = sameness.updates(made, made_by_old, before, [], precision)
    if found.verdict != "different":
        return found
    noisy = _noise(sides, old, start, Path(expected).parent)
    return sameness.updates(made, made_by_old, before, noisy, precision)


def _by_update(sides: Sides, old: Json, new: Json) -> ResultComparison:
    """Judge single updates and the end of training, both from the states of the old side."""
    from safetensors.torch import load_file

    updates = old["spec"]["training"]["updates"]
    judged = [update for update in JUDGED if update < updates]
    after = [update + 1 for update in judged]
    states = sorted({*judged, *after, updates} - {0})
    watch: Json = {"statements": {}, "digests": [], "states": states}
    sides.old.ask("train", **{**old, **watch})
    precision = str(old["spec"]["training"]["precision"])
    shared = ("spec", "data", "parents")
    one, two = ({name: request[name] for name in shared} for request in (old, new))
    folder, ours = Path(old["to"]), str(Path(new["to"]) / "state.pt")
    findings = []
    for update in judged:
        start = str(folder / f"state-{update}.pt") if update else None
        sides.new.ask("step", **two, start=start, to=ours)
        found = _step(sides, one, start, str(folder / f"state-{update + 1}.pt"), ours)
        findings.append(replace(found, place=f"update {update + 1}: {found.place}"))
        if found.verdict == "different":
            break
    if worst(findings).verdict != "different":
        begun = {"state": str(folder / f"state-{updates}.pt"), "kept": str(folder)}
        sides.new.ask("train", **{**new, **watch, "states": [], "stops": [], "begun": begun})
        made, expected = (
            {"model": load_file(Path(request["to"]) / "weights.safetensors")}
            for request in (new, old)
        )
        found = sameness.updates(made, expected, None, [], precision)
        findings.append(replace(found, place=f"weights in the end: {found.place}"))
    for state in folder.glob("state-*.pt"):
        state.unlink()
    return worst(findings)


def _noise(sides: Sides, request: Json, start: str | None, folder: Path) -> list[Any]:
    """Return the states that the old code makes on a machine that is a little different."""
    import torch

    found = []
    for machine in MACHINES:
        path = str(folder / "noise.pt")
        sides.old.ask("step", **request, start=start, to=path, **machine)
        found.append(torch.load(path, weights_only=True))
    return found


def _measure(
    sides: Sides, use: Use, what: What, longer: int, of_old: Json, of_new: Json, note: Note
) -> ResultComparison:
    """Judge what both sides measure on the same weights."""
    do = "record" if what == "recorder" else "evaluate"
    requests = [
        sides.recording(of, use.key, longer, watched)
        if what == "recorder"
        else sides.evaluating(of, use, longer, watched)
        for of, watched in zip(OF, (of_old, of_new), strict=True)
    ]
    old, new = sides.both(do, *requests)
    note(old, new)
    gone = sameness.gone(new["result"], old["result"])
    expected = sameness.without(old["result"], gone)
    found = sameness.results(new["result"], expected, [])
    if found.verdict == "different":
        quiet = {**requests[0], "statements": {}}
        noisy = [sides.old.ask(do, **quiet, **machine)["result"] for machine in MACHINES]
        found = sameness.results(
            new["result"], expected, [sameness.without(one, gone) for one in noisy]
        )
    elif found.verdict == "same bits" and sameness.compared(expected):
        found = _tied(sides, do, requests[0], requests[1], gone)
    return replace(found, place=f"{use.part or 'record'}: {found.place}")


def _tied(sides: Sides, do: str, old: Json, new: Json, gone: set[str]) -> ResultComparison:
    """Judge what both sides measure where choices are ties, as some weights are 0.

    Data and trained weights alone never show which of equals is taken. What is `gone` with these,
    too, is not compared.
    """
    from safetensors import safe_open

    with safe_open(Path(old["folder"]) / "weights.safetensors", "pt") as weights:
        names = [*weights.keys()]
    found = []
    for named in (one for one in TIED if any(one in name for name in names)):
        tied: Json = {"statements": {}, "tied": named}
        one, other = (
            {**request, **tied, **({"to": f"{request['to']}.tied"} if "to" in request else {})}
            for request in (old, new)
        )
        expected, made = sides.at_once(do, one, other)
        if expected.exception():  # what has no meaning without weights shows nothing
            continue
        if error := made.exception():
            return ResultComparison(
                "different", inf, 0, f"where choices are ties it fails: {error}"
            )
        result = sameness.without(expected.result()["result"], gone)
        found.append(sameness.results(made.result()["result"], result, []))
    return worst(found)
