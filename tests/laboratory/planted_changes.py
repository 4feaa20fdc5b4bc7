"""Plant changes of code, and see whether a proof tells those that mean something from the others.

    python -m tests.laboratory.planted_changes [NAME]

`planted_changes.tsv` has a change a line: what it means (`none`: same bits; `rounding`: same to
rounding; `changed`: different, or refused), the file, the text before and after, and the kinds of
run that it is tried on.
"""

import csv
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow import ROOT
from workflow.equivalence.proof import Proof, prove
from workflow.equivalence.sides import Sides

TREE = ("model", "workflow", "config.yaml")
SPLIT = """

def relaxed(scores: Tensor, temperature: float) -> Tensor:
    return ((scores + gumbel_noise(scores)) / temperature).softmax(dim=-1)
"""
"""What stands beside the change `a definition split`."""


def planted() -> list[dict[str, str]]:
    """Return the changes."""
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [{name: text.replace("\\n", "\n") for name, text in row.items()} for row in rows]


@contextmanager
def changed(change: dict[str, str]) -> Iterator[Path]:
    """Give a copy of the project's code with a change."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        for part in TREE:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, tree / part)
        file = tree / change["file"]
        text = file.read_text()
        assert text.count(change["before"]) == 1, change["name"]
        more = SPLIT if "relaxed(" in change["after"] else ""
        file.write_text(text.replace(change["before"], change["after"]) + more)
        yield tree


def verdict(proof: Proof) -> str:
    """Return how a proof ended, as changes are named."""
    if proof.finding.verdict == "different":
        return "changed"
    if not proof.accepted:
        return "refused"
    return "none" if proof.finding.verdict == "same bits" else "rounding"


def right(meaning: str, found: str) -> bool:
    """Say whether a proof ended as the meaning of a change asks."""
    return found in {"changed": ("changed", "refused")}.get(meaning, (meaning,))


def tried(change: dict[str, str]) -> Iterator[Proof]:
    """Prove each kind that a change is tried on."""
    wanted = change["kinds"].split(",")
    with (
        tempfile.TemporaryDirectory() as work,
        changed(change) as tree,
        Sides(ROOT, tree, Path(work)) as sides,
    ):
        for kind, uses in sides.kinds().items():
            names = (use.key.partition("/")[2] for use in uses)
            if any(name.startswith(part) for name in names for part in wanted):
                yield prove(sides, kind, uses)


def main() -> None:
    """Run from the command line, in the root of the project."""
    wrong = count = 0
    for change in planted():
        if not change["name"].startswith(" ".join(sys.argv[1:])):
            continue
        for proof in tried(change):
            found = verdict(proof)
            fine = right(change["meaning"], found)
            count, wrong = count + 1, wrong + (not fine)
            why = proof.refusals[0] if found == "refused" else proof.finding.place
            by = f"{proof.finding.difference:.1e} of {proof.finding.bound:.1e}"
            print(
                f"{'' if fine else 'WRONG '}{change['name']}: {proof.kind.what} {proof.name}: "
                f"{found}, {by}, {why}",
                flush=True,
            )
    print(f"{count} proofs of planted changes, {wrong} wrong")
    sys.exit(bool(wrong or not count))


if __name__ == "__main__":
    main()
