"""Chunk scores against hand-worked cases and against a scorer that reads tag by tag."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.probes.words.conlleval import chunks, conlleval

TAGS = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", set()),
        ("O O", set()),
        ("B-NP I-NP O", {(0, 2, "NP")}),
        ("B-NP B-NP", {(0, 1, "NP"), (1, 2, "NP")}),
        ("I-NP I-NP", {(0, 2, "NP")}),
        ("O I-NP O", {(1, 2, "NP")}),
        ("B-NP I-VP I-VP", {(0, 1, "NP"), (1, 3, "VP")}),
        ("I-NP B-NP I-NP O B-VP", {(0, 1, "NP"), (1, 3, "NP"), (4, 5, "VP")}),
    ],
)
def test_chunks_by_hand(tags, expected):
    assert chunks(tags.split()) == expected


def test_scores_by_hand():
    """Three true chunks, four predicted, two right; a chunk does not go on into a new sentence."""
    true = [["B-NP", "I-NP", "O", "B-VP"], ["I-NP", "O"]]
    predicted = [["B-NP", "I-NP", "B-VP", "B-NP"], ["I-NP", "O"]]
    scores = conlleval(true, predicted)
    assert scores.accuracy == pytest.approx(100 * 4 / 6)
    assert scores.precision == pytest.approx(50)
    assert scores.recall == pytest.approx(100 * 2 / 3)
    assert scores.f1 == pytest.approx(2 * 50 * (200 / 3) / (50 + 200 / 3))


def test_nothing_found_is_zero():
    assert conlleval([["B-NP"]], [["O"]]) == (0.0, 0.0, 0.0, 0.0)
    assert conlleval([["O"]], [["O"]]) == (100.0, 0.0, 0.0, 0.0)


def tag_by_tag(true, predicted):
    """The counts of the shared task's scorer: it walks over the tags and keeps what is open."""
    counts = {"correct": 0, "existing": 0, "proposed": 0}

    def split(tag):
        return (tag[0], tag[2:])

    def ends(before, now):
        (b, kind), (n, new) = split(before), split(now)
        return b != "O" and (n in "BO" or kind != new)

    def begins(before, now):
        (b, kind), (n, new) = split(before), split(now)
        return n == "B" or (n == "I" and (b == "O" or kind != new))

    both_open = False
    before = ("O", "O")
    pairs = [
        pair
        for sentence in zip(true, predicted, strict=True)
        for pair in [*zip(*sentence, strict=True), ("O", "O")]
    ]
    for pair in pairs:
        ending = [ends(b, n) for b, n in zip(before, pair, strict=True)]
        if both_open and any(ending):
            counts["correct"] += all(ending)
            both_open = False
        beginning = [begins(b, n) for b, n in zip(before, pair, strict=True)]
        if all(beginning) and pair[0][2:] == pair[1][2:]:
            both_open = True
        counts["existing"] += beginning[0]
        counts["proposed"] += beginning[1]
        before = pair
    return counts


@settings(max_examples=200)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1, max_size=8),
        min_size=1,
        max_size=4,
    )
)
def test_any_tags_score_as_tag_by_tag(pairs):
    true, predicted = ([[pair[side] for pair in one] for one in pairs] for side in (0, 1))
    counts, scores = tag_by_tag(true, predicted), conlleval(true, predicted)
    for value, whole in ((scores.precision, "proposed"), (scores.recall, "existing")):
        expected = 100 * counts["correct"] / counts[whole] if counts[whole] else 0
        assert value == pytest.approx(expected)
    total = counts["existing"] + counts["proposed"]
    assert scores.f1 == pytest.approx(200 * counts["correct"] / total if total else 0)
