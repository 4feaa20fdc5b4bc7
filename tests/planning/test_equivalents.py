"""What lines of equivalence say together: representatives, chains, and what can't be a line."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.equivalent import BITS, ROUNDING, line, of
from workflow.planning.equivalents import ALWAYS, FILE, STATED, VERDICTS, Equivalents, worst
from workflow.runtime.errors import InputError

A, B, C, D, E = (letter * 16 for letter in "abcde")


def write(root, *lines):
    """Write the file below a folder, and read it."""
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    texts = (one if isinstance(one, str) else json.dumps(one) for one in lines)
    (root / FILE).write_text("".join(f"{text}\n" for text in texts))
    return Equivalents.read(root)


def proven(text):
    """Proofs from letters, as in `AB BC`."""
    return [line(pair[0].lower() * 16, pair[1].lower() * 16) for pair in text.split()]


@pytest.mark.parametrize(
    ("proofs", "same", "by"),
    [
        ("", "A", A),
        ("AB", "AB", A),
        ("AB BC CD", "ABCD", A),
        ("AB BC CD AD", "ABCD", A),  # proven end to end again
        ("AC BC", "ABC", A),  # of two olds the first
        ("BC AB", "ABC", B),  # what had a line keeps what stands in its specs
    ],
)
def test_proven_code_is_represented_by_the_oldest(proofs, same, by):
    lines = of(*proven(proofs))
    assert {lines.representative(letter.lower() * 16) for letter in same} == {by}
    assert lines.representative(E) == E


def test_stated_code_is_represented_by_what_it_is_stated_to_be():
    lines = [line(A, B, STATED), line(B, C, STATED), line(C, D)]
    assert [of(*lines).representative(code) for code in (A, B, C, D)] == [C] * 4
    # All that is proven the same goes along, and of two statements the first counts.
    lines = [line(A, B), line(B, C, STATED), line(A, D, STATED)]
    assert [of(*lines).representative(code) for code in (A, B, C, D)] == [C, C, C, D]


def test_a_statement_may_be_proven_later():
    lines = of(line(A, B, STATED), line(B, C), line(A, B, ROUNDING))
    assert {lines.representative(code) for code in (A, B, C)} == {B}
    assert worst(lines.chain(A, C)) == ROUNDING


@pytest.mark.parametrize("second", [BITS, STATED])
def test_circles_are_refused(second):
    for lines, back in (([line(A, A)], A), ([line(A, B), line(B, A, second)], B)):
        with pytest.raises(InputError, match=f"{len(lines)}: leads in a circle back to {back}"):
            of(*lines)
    with pytest.raises(InputError, match="line 3: leads in a circle"):
        of(line(A, B), line(B, C, second), line(C, A))


def test_two_histories_in_use_are_not_joined():
    with pytest.raises(InputError, match=r"line 3: .* have lines of their own before"):
        of(line(A, B), line(C, D), line(B, D))


@pytest.mark.parametrize(
    ("begin", "end", "passed"),
    [(A, D, [(A, B), (B, D)]), (D, A, [(B, D), (A, B)]), (A, C, [(A, B), (B, C)]), (E, E, [])],
)
def test_a_chain_leads_from_the_code_that_ran_in_both_directions(begin, end, passed):
    lines = of(line(A, B), line(B, C), line(C, D), line(B, D))
    assert [(one["old"], one["new"]) for one in lines.chain(begin, end)] == passed
    assert lines.chain(begin, "f" * 16) is None


def test_the_chain_is_the_one_whose_worst_verdict_is_best():
    lines = of(line(A, B), line(B, C, ROUNDING), line(A, C, STATED), line(C, D, STATED))
    assert worst(lines.chain(A, C)) == ROUNDING and len(lines.chain(A, C)) == 2
    assert worst(lines.chain(A, D)) == STATED
    assert worst(lines.chain(A, A)) == BITS
    # Two versions that were stated to be one are not the same by that.
    assert of(line(A, B, STATED), line(A, C, STATED)).chain(B, C) is None


def test_on_a_gpu_only_lines_count_that_hold_there():
    lines = of(line(A, B), line(B, C, gpu="changed"), line(C, D, gpu="proven"))
    chains = [lines.chain(*pair, gpu=True) for pair in ((A, B), (B, C), (C, D), (A, D))]
    assert [chain is not None for chain in chains] == [True, False, True, False]
    assert of(line(A, B, STATED)).chain(A, B, gpu=True) is None


def test_the_newest_code_and_when_code_was_in_use():
    lines = of(
        line(E, A, STATED, "2026-11-27"),
        line(A, B, date="2026-12-01"),
        line(B, C, date="2026-12-05"),
        line(A, C, date="2026-12-09"),
    )
    assert {lines.newest(code) for code in (E, A, B, C)} == {C} and lines.newest(D) == D
    first, last = ALWAYS
    assert lines.current(A) == (first, "2026-12-01")
    assert lines.current(B) == ("2026-12-01", "2026-12-05")
    assert lines.current(C) == ("2026-12-05", last)
    assert lines.current(E) == ALWAYS and first < "2026" < last


def test_what_lines_drop_is_of_all_older_code():
    lines = of(line(A, B), {**line(B, C), "drops": ["x"]}, {**line(C, D), "drops": ["y", "z"]})
    found = [lines.dropped(code) for code in (A, B, C, D, E)]
    assert found == [{"x", "y", "z"}] * 2 + [{"y", "z"}, set(), set()]


def test_the_file_is_read_again_once_it_changed(tmp_path):
    assert Equivalents.read(tmp_path).lines == []
    before = write(tmp_path, line(A, B))
    assert before.representative(B) == A and Equivalents.read(tmp_path) is before
    assert write(tmp_path, line(A, B), line(B, C)).representative(C) == A
    assert write(tmp_path).lines == []


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (json.dumps(line(B, C))[:-9], "damaged"),
        ("", "damaged"),
        ("[]", "damaged"),
        ({}, "old, new, date, verdict, gpu missing"),
        (line(B[:-1], C), "old missing or impossible"),
        (line(B, "-" * 16), "new missing or impossible"),
        (line(B, C, "same"), "verdict missing or impossible"),
        (line(B, C, date="today"), "date missing or impossible"),
        (line(B, C, gpu="new"), "gpu missing or impossible"),
        (line(B, C, STATED) | {"gpu": "proven"}, "gpu missing or impossible"),
        (line(B, A), "leads in a circle"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path, damaged, said):
    with pytest.raises(InputError, match=rf"equivalent\.jsonl, line 2: {said}"):
        write(tmp_path, line(A, B), damaged)


HASHES = [f"{number:016x}" for number in range(6)]
PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(VERDICTS))


@given(st.lists(PAIRS, max_size=12))
def test_whatever_is_appended_what_stood_in_specs_stays(pairs):
    """Lines that are refused are not appended."""
    lines, kept = [], of()
    for old, new, verdict in pairs:
        added = [*lines, line(HASHES[old], HASHES[new], verdict)]
        with suppress(InputError):
            after = of(*added)
            for code in {one[end] for one in lines for end in ("old", "new")}:
                if verdict != STATED:
                    assert after.representative(code) == kept.representative(code)
            lines, kept = added, after
    for code in HASHES:
        assert kept.representative(kept.representative(code)) == kept.representative(code)
    for one in lines:
        if one["verdict"] != STATED:
            assert kept.representative(one["old"]) == kept.representative(one["new"])
            assert kept.chain(one["new"], one["old"]) is not None
