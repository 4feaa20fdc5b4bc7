"""Prove that a change of code changed no number, so that what was trained stays."""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workflow import ROOT
from workflow.equivalence.proof import Proof, prove
from workflow.equivalence.sides import CodeKind, Sides
from workflow.planning.equivalents import FILE, STATED, EquivalenceLine, Equivalents
from workflow.runtime.errors import InputError
from workflow.terminal import arguments

CHAIN = 3
"""From so many proofs one after the other on, the first code is compared with the last."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--since", help="commit of the code before the change")
    which.add_argument(
        "--check",
        type=float,
        metavar="MINUTES",
        help="prove the newest lines again, while time lasts, and an older one",
    )
    parser.add_argument("--only", default="", help="part of the name of what is to be proven")
    device = arguments.one_of("cpu", "cuda")
    parser.add_argument("--device", default="cpu", type=device, help="to compute on")


def main(args: argparse.Namespace) -> None:
    """Prove it and note it in a file, or check what was noted."""
    if args.since is not None:
        complete = _prove(args.since, args.only, args.device)
    else:
        complete = _check(args.check)
    if not complete:
        sys.exit(1)


def _prove(since: str, only: str, device: str) -> bool:
    """Prove every kind whose code differs; returns whether all are accepted."""
    began, commit = time.monotonic(), _commit(since)
    if edited := _git("status", "--porcelain", "--", "model", "workflow").splitlines():
        raise InputError(f"{edited[0][3:]} is not as committed; commit it: commits are compared")
    equivalents = Equivalents.read(ROOT)
    proofs: list[Proof] = []
    with _tree("HEAD") as new, _sides(commit, new, device) as sides:
        for kind, uses in sides.kinds().items():
            if equivalents.chain(kind.old, kind.new) is None and any(
                only in use.key for use in uses
            ):
                started = time.monotonic()
                proof = prove(sides, kind, uses)
                _end_to_end(proof, equivalents, new, device)
                _say(proof, time.monotonic() - started)
                if proof.accepted:
                    _append(line_of(proof, commit))
                proofs.append(proof)
    _sum_up(proofs, time.monotonic() - began)
    return all(proof.accepted for proof in proofs)


def _end_to_end(proof: Proof, equivalents: Equivalents, new: Path, device: str) -> None:
    """Compare the last code of a chain of proofs with its first."""
    first = equivalents.representative(proof.kind.old)
    chain = equivalents.chain(first, proof.kind.old) or []
    rounded = [line for line in chain if line["verdict"] == "same to rounding"]
    if not proof.accepted or len(rounded) + 1 < CHAIN:
        return
    with _sides(chain[0]["since"], new, device) as sides:
        whole = CodeKind(proof.kind.what, first, proof.kind.new)
        uses = sides.kinds().get(whole)
        if uses is None:
            proof.refusals.append(f"its settings are no longer those of {chain[0]['since']}")
            return
        comparison = prove(sides, whole, uses)
    if comparison.finding.verdict == "different":
        proof.finding = comparison.finding
    proof.refusals += [f"since {chain[0]['since'][:12]}: {why}" for why in comparison.refusals]


def _check(minutes: float) -> bool:
    """Prove lines of the newest commit again while time lasts, and one of the others.

    They are drawn at random; returns whether all are accepted.
    """
    end = time.monotonic() + 60 * minutes
    added = _added()
    (newest, lines), *older = [*added.items()] or [("", [])]
    others = [(commit, line) for commit, of_commit in older for line in of_commit]
    fine, count = True, 0
    for commit, line in random.sample(others, min(1, len(others))):
        fine, count = _again([line], commit, math.inf)
    by_tree: dict[str, list[EquivalenceLine]] = {}
    for line in random.sample(lines, len(lines)):
        by_tree.setdefault(line["since"], []).append(line)
    for of_tree in by_tree.values():
        accepted, proven = _again(of_tree, newest, end)
        fine, count = fine and accepted, count + proven
    print(f"{count} of {len(lines) + len(others)} proofs in {FILE} were made again")
    return fine


def _again(lines: Sequence[EquivalenceLine], commit: str, end: float) -> tuple[bool, int]:
    """Prove lines of one old commit again until a time; returns whether all hold, and how many."""
    count, fine = 0, True
    with _tree(commit) as tree, _sides(lines[0]["since"], tree) as sides:
        kinds = sides.kinds()
        for line in lines:
            if count and time.monotonic() > end:
                break
            kind = CodeKind(line["what"], line["old"], line["new"])  # type: ignore[arg-type]
            if kind not in kinds:
                raise InputError(
                    f"{FILE}: {line['old']} to {line['new']} ({line['name']}) is of no code in "
                    f"{line['since'][:12]} and {commit[:12]}; remove that line"
                )
            started = time.monotonic()
            proof = prove(sides, kind, kinds[kind])
            _say(proof, time.monotonic() - started)
            same = sorted(proof.drops) == line.get("drops", [])
            if not same:
                said = ", ".join(line.get("drops", [])) or "none"
                print(
                    f"  but the line in {FILE} says: {said}; remove the line, and prove it again: "
                    f"make equivalent SINCE={line['since'][:12]}"
                )
            count, fine = count + 1, fine and proof.accepted and same
    return fine, count


def _added() -> dict[str, list[EquivalenceLine]]:
    """Return the proofs that each commit added, newest first.

    Raises InputError for lines that no commit has, or whose old code is outside of the history.
    """
    proofs: dict[str, list[EquivalenceLine]] = {}
    tracked = _git("ls-tree", "HEAD", "--", str(FILE))
    blame = _git("blame", "--porcelain", "HEAD", "--", str(FILE)) if tracked else ""
    commit, committed = "", set[str]()
    for text in blame.splitlines():
        if text.startswith("\t"):
            committed.add(text[1:])
            line: EquivalenceLine = json.loads(text[1:])
            if line["verdict"] != STATED:
                proofs.setdefault(commit, []).append(line)
        elif len(text.split(" ")[0]) == 40:
            commit = text.split(" ")[0]
    present = (ROOT / FILE).read_text() if (ROOT / FILE).is_file() else ""
    for text in present.splitlines():
        if text not in committed:
            raise InputError(f"{FILE}: a line is not committed; commit it first: {text[:80]}")
    order = _git("log", "--format=%H", "--", str(FILE)).split()
    for lines in proofs.values():
        for line in lines:
            _commit(line["since"])
    return {commit: proofs[commit] for commit in order if commit in proofs}


def _commit(name: str) -> str:
    """Return the hash of a commit; InputError where the history of the checkout has none such."""
    if not name:
        raise InputError("SINCE is missing; name the last commit with the old code (SINCE=HEAD~1)")
    asked = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", f"{name}^{{commit}}", "HEAD"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        raise InputError(f"SINCE={name}: no commit of this checkout's history has that name")
    return _git("rev-parse", f"{name}^{{commit}}").strip()


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@contextmanager
def _tree(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="saccade-tree-") as name:
        folder = Path(name, "tree")
        _git("worktree", "add", "--detach", str(folder), commit)
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


@contextmanager
def _sides(commit: str, new: Path, device: str = "cpu") -> Iterator[Sides]:
    """Give the code of a commit and that of a tree side by side."""
    with (
        tempfile.TemporaryDirectory(prefix="saccade-proof-") as work,
        _tree(commit) as old,
        Sides(old, new, Path(work), device) as sides,
    ):
        yield sides


def line_of(proof: Proof, commit: str) -> EquivalenceLine:
    """Return the line of an accepted proof."""
    import torch

    from workflow.runtime.provenance import cpu_name

    return {
        "old": proof.kind.old,
        "new": proof.kind.new,
        "what": proof.kind.what,
        "name": proof.name,
        "verdict": proof.finding.verdict,  # type: ignore[typeddict-item]
        "difference": float(f"{proof.finding.difference:.3g}"),
        "bound": float(f"{proof.finding.bound:.3g}"),
        "updates": proof.updates,
        "lines": proof.lines,
        **({"drops": sorted(proof.drops)} if proof.drops else {}),  # type: ignore[typeddict-item]
        "gpu": proof.gpu,  # type: ignore[typeddict-item]
        "since": commit,
        "machine": cpu_name(),
        "torch": str(torch.__version__),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _append(line: EquivalenceLine) -> None:
    """Append a line; InputError, and nothing is written, where it contradicts those before it."""
    lines = [*Equivalents.read(ROOT).lines, line]
    Equivalents((f"{FILE}: {one['old']} to {one['new']}", one) for one in lines)
    with (ROOT / FILE).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def _say(proof: Proof, seconds: float) -> None:
    finding = proof.finding
    verdict = finding.verdict if proof.accepted or finding.verdict == "different" else "refused"
    by = f" by {finding.difference:.1e} (bound {finding.bound:.1e})" if finding.difference else ""
    took = f"{proof.lines} lines, {seconds:.0f} s"
    print(f"{verdict:17} {proof.kind.what:10} {proof.name}{by}, {took}", flush=True)
    if proof.drops:
        print(f"  no longer given: {', '.join(sorted(proof.drops))}")
    if finding.verdict == "different":
        print(f"  {finding.place}")
    for why in proof.refusals[:5]:
        print(f"  {why}")


def _sum_up(proofs: Sequence[Proof], seconds: float) -> None:
    counts: Mapping[str, Callable[[Proof], bool]] = {
        "same bits": lambda one: one.accepted and one.finding.verdict == "same bits",
        "same to rounding": lambda one: one.accepted and one.finding.verdict == "same to rounding",
        "different": lambda one: one.finding.verdict == "different",
        "refused": lambda one: bool(one.refusals) and one.finding.verdict != "different",
    }
    told = ", ".join(f"{sum(map(of, proofs))} {name}" for name, of in counts.items())
    print(f"{len(proofs)} kinds in {seconds:.0f} s: {told}")
    if not proofs:
        print("No code that runs, evaluators or recorders reach has changed.")
