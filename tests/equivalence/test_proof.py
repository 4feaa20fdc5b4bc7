from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laboratory.planted_changes import changed, planted, right, verdict
from workflow import ROOT
from workflow.equivalence.changed import CodeChange
from workflow.equivalence.proof import Proof, missing, prove
from workflow.equivalence.sides import CodeKind, Sides
from workflow.equivalence.statements import SourceSpan

KIND = "copying_proxy/"
"""The kind of run that trains fastest."""
LOOP = "model/training/loop.py"


def proofs(tree: Path, work: Path, of: str = KIND) -> Iterator[Proof]:
    with Sides(ROOT, tree, work, scales=["lite"]) as sides:
        for kind, uses in sides.kinds().items():
            if any(f"/{of}" in use.key for use in uses):
                yield prove(sides, kind, uses)


def of_loop(before: str, after: str, file: str = LOOP) -> dict[str, str]:
    return {"name": "a change", "file": file, "before": before, "after": after}


def of_change(work: Path, before: str, after: str, file: str) -> dict[str, Proof]:
    with changed(of_loop(before, after, file)) as tree:
        return {proof.kind.what: proof for proof in proofs(tree, work)}


def test_a_value_kept_for_later_is_the_same_to_the_bit(tmp_path: Path):
    made = of_change(
        tmp_path,
        "        update = progress.update + 1\n",
        "        done = progress.update\n        update = done + 1\n",
        LOOP,
    )
    proof = made["training"]
    assert (proof.accepted, proof.finding.verdict, proof.updates) == (True, "same bits", 40)
    assert (proof.lines, proof.gpu) == (3, "unchanged")


def test_another_seed_is_different(tmp_path: Path):
    made = of_change(
        tmp_path, 'torch.manual_seed(spec["seed"])', 'torch.manual_seed(spec["seed"] + 1)', LOOP
    )
    assert made["training"].finding.verdict == "different"
    assert not made["training"].accepted


def test_a_sum_that_a_resume_loses_is_different(tmp_path: Path):
    """A row of the history is the mean of several updates, half of them before the resume."""
    made = of_change(tmp_path, '        self.window |= state["window"]\n', "        pass\n", LOOP)
    assert made["training"].finding.verdict == "different"
    assert "loss" in made["training"].finding.place


def test_another_choice_among_equals_is_different(tmp_path: Path):
    """Neither data nor trained weights have a tie."""
    before = "(prediction.logits.argmax(dim=-1) == source)"
    after = "(39 - prediction.logits.flip(-1).argmax(dim=-1) == source)"
    with changed(of_loop(before, after, "model/objectives/copying.py")) as tree:
        made = [*proofs(tree, tmp_path, "permutation_copying/same_40")]
    assert made and {one.finding.verdict for one in made} == {"different"}


def test_lines_that_did_not_run_and_constants_without_effect_refuse(tmp_path: Path):
    made = of_change(
        tmp_path,
        "    if update < warmup:\n        return start + (peak",
        "    if update < warmup - 0:\n        return 0.0 + start + (peak",
        "model/training/optimization.py",
    )
    proof = made["training"]
    assert not proof.accepted
    assert proof.finding.verdict == "same bits"
    assert any("was not executed" in why and "optimization.py" in why for why in proof.refusals)


def test_a_constant_alone_refuses_and_the_wording_of_an_error_does_not_count(tmp_path: Path):
    with changed(of_loop("max(1, self.updates // 200)", "max(1, self.updates // 201)")) as tree:
        file = tree / LOOP
        text = file.read_text()
        file.write_text(text.replace("stopped after update {update}", "left after {update}"))
        (proof,) = [one for one in proofs(tree, tmp_path) if one.kind.what == "training"]
    assert not proof.accepted
    assert [why for why in proof.refusals if "`201`" in why] == proof.refusals


def test_code_that_fails_is_refused(tmp_path: Path):
    made = of_change(
        tmp_path,
        "    set_numerics(training, device)\n",
        "    set_numerics(training.missing, device)\n",
        LOOP,
    )
    assert any("can't be run" in why for why in made["training"].refusals)


def test_a_constant_that_nothing_is_seen_to_read_refuses():
    place = SourceSpan("a.py", 3, 4, "f")
    change = CodeChange(old=(place,), old_any=((place,),), new_any=((),))
    assert missing(change, "old", {("a.py", 3, 4)}) == []
    assert missing(change, "old", set()) == ["a.py:3 (f)", "a.py:3 (f)"]
    assert len(missing(change, "new", set())) == 1


@pytest.mark.parametrize("change", planted(), ids=lambda change: change["name"])
def test_planted_changes_fit_the_code(change: dict[str, str]):
    with changed(change) as tree:
        compile((tree / change["file"]).read_text(), change["file"], "exec")


@pytest.mark.parametrize(
    ("meaning", "found", "fine"),
    [
        ("none", "none", True),
        ("none", "rounding", False),
        ("none", "refused", False),
        ("changed", "changed", True),
        ("changed", "refused", True),
        ("changed", "none", False),
        ("changed", "rounding", False),
    ],
)
def test_a_verdict_is_right_where_the_meaning_asks_for_it(meaning: str, found: str, fine: bool):
    assert right(meaning, found) is fine


def test_a_verdict_is_named_as_a_change_is():
    proof = Proof(CodeKind("training", "a", "b"), "name")
    assert verdict(proof) == "none"
    proof.refusals.append("not executed")
    assert verdict(proof) == "refused"
