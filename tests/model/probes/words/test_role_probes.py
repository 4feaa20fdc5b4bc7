"""Roles of tokens and what the layer costs: hand-worked cases, a library, exact counts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information
from torch import nn

from model.architectures.translation.with_roles import MatchedEncoderDecoder, RoleEncoderDecoder
from model.batches.corpus import Corpus
from model.batches.pairs import EOS
from model.layers.role_interaction import Roles
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.cost import stopwatch
from model.probes.cost.parameters import model_size
from model.probes.cost.role_cost import role_cost, without_roles
from model.probes.measure import Subject
from model.probes.words.roles import (
    assigned,
    context_information,
    information,
    normalised_information,
    roles,
    table,
    token_roles,
)
from model.probes.words.word_classes import word_classes
from tests.model.corpora import CPU, write_corpus
from tests.model.parallel import write_parallel, write_tagged
from tests.model.specs import SOFTMAX, part, tell, timed, tiny

SYMBOLS = [
    "<pad>", "<bos>", "<eos>", "<unk>", "der", "mann", "seh@@", "en", ".", "12", "gro@@", "ß@@",
]  # fmt: skip
SENTENCES = [[4, 5, 6, 7, 8], [5, 10, 11, 7], [4, 4, 9, 8]]


def a_corpus(folder, lexicon: str | None = None) -> Corpus:
    examples = [[*sentence, EOS, 5, 4, EOS] for sentence in SENTENCES]
    columns = {"source": [len(sentence) + 1 for sentence in SENTENCES]}
    splits = {"train": examples, "dev": examples}
    write_corpus(folder, splits, len(SYMBOLS), {}, {"train": columns, "dev": columns})
    (folder / "vocabulary.txt").write_text("\n".join(SYMBOLS) + "\n")
    (folder / "dev.reference.txt").write_text("the man sees .\nbig\n12 men .\n")
    if lexicon is not None:
        (folder / "lexicon.tsv").write_text(lexicon)
    return Corpus(folder)


class ByToken(nn.Module):
    """Gives each token of either side the role of a table, whatever its context."""

    def __init__(self, of_token: dict[int, int], number: int) -> None:
        super().__init__()
        self.of_token, self.roles = of_token, Roles(number)

    def assign(self, words, layout, side):
        found = [self.of_token.get(token, 0) for token in layout.pack(words).tolist()]
        return torch.eye(self.roles.number)[found]


OF_TOKEN = {4: 2, 5: 1, 6: 1, 7: 1, 8: 3, 9: 3, 10: 1, 11: 1}


def subject_of(corpus: Corpus) -> Subject:
    return Subject(ByToken(OF_TOKEN, 5), corpus, CPU, 0)


def classes_of(subject: Subject, tagged: Corpus | None = None) -> list[str]:
    found = assigned(subject, "dev", "source")
    return word_classes(subject.corpus, found.tokens, found.offsets, "dev", "source", tagged)


def test_every_token_has_its_role_in_the_order_of_the_split(tmp_path):
    subject = subject_of(a_corpus(tmp_path / "c"))
    found = assigned(subject, "dev", "source")
    assert found.tokens.tolist() == [token for sentence in SENTENCES for token in sentence]
    assert found.roles.tolist() == [OF_TOKEN[token] for token in found.tokens]
    assert found.offsets.tolist() == [0, 5, 9, 13]
    target = assigned(subject, "dev", "target")
    assert target.tokens.tolist() == [5, 4] * 3
    assert target.roles.tolist() == [1, 2] * 3
    assert target.offsets.tolist() == [0, 2, 4, 6]


def test_the_tables_by_hand(tmp_path):
    found = roles(subject_of(a_corpus(tmp_path / "c")), typical=2, examples=1, around=1)
    assert found.arrays["word"] == ["1", "2", "3", "4", "5"]
    assert found.arrays["role"] == [["1"], ["2"], ["3"], ["0"], ["4"]]
    assert found.arrays["frequency"] == [["7"], ["3"], ["3"], ["0"], ["0"]]
    assert found.arrays["typical"][1:] == [["der"], [".", "12"], ["–"], ["–"]]
    assert found.arrays["examples"][1] == ["'›der‹ mann'"]
    assert found.arrays["examples"][2] == ["'en ›.‹'"]
    assert found.scalars["used"] == {"value": 3, "unit": "roles", "n": 5}
    # `mann` is the only whole word of role 1; `der` and it are frequent words of this tiny corpus.
    assert found.arrays["classes"][1] == ["frequent word 100 %"]
    assert found.arrays["classes"][2] == ["mark 67 %", "number 33 %"]
    columns = np.array(found.arrays["class_counts"])
    assert columns.sum(axis=0).tolist() == [7, 3, 3, 0, 0]
    assert dict(zip(found.arrays["class"], columns.sum(axis=1).tolist(), strict=True)) == {
        "frequent word": 5, "prefix": 2, "suffix": 2, "mark": 2, "infix": 1, "number": 1,
    }  # fmt: skip


def test_roles_that_the_token_decides_tell_nothing_of_its_context():
    tokens = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    classes = np.array([0, 0, 1, 1, 0, 1, 0, 1, 2, 2])
    assert context_information(tokens, tokens % 2, classes) == pytest.approx(0)
    assert context_information(tokens, classes, classes) == pytest.approx(1)
    assert context_information(tokens, classes, tokens) is None
    # Of two tokens that leave a bit open one is told; there are too many places for chance.
    tokens, classes = np.repeat([0, 1], 10_000), np.tile([0, 1], 10_000)
    half = np.where(tokens == 0, classes, 5)
    assert context_information(tokens, half, classes) == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("number", [4, 32])
def test_what_roles_tell_by_chance_is_taken_off(number):
    """Against scikit-learn's exact expectation, token by token."""
    random = np.random.default_rng(0)
    tokens, classes = random.integers(0, 12, 600), random.integers(0, 3, 600)
    at_random, telling = random.integers(0, number, 600), 3 * random.integers(0, 5, 600) + classes
    assert context_information(tokens, at_random, classes) == pytest.approx(0, abs=0.05)
    told = left_open = expected = 0.0
    for token in range(12):
        own, roles_of = classes[tokens == token], telling[tokens == token] % number
        counts = table(own, roles_of, (3, number))
        told += len(own) * information(counts).sum()
        left_open += len(own) * information(np.diag(np.bincount(own))).sum()
        used = counts[counts.any(1)][:, counts.any(0)]
        expected += len(own) * expected_mutual_information(used, len(own))
    found = context_information(tokens, telling % number, classes)
    assert found == pytest.approx((told - expected) / (left_open - expected), abs=0.01)


def test_a_model_without_roles_is_told(tmp_path):
    corpus = a_corpus(tmp_path / "c")
    with pytest.raises(ValueError, match="a Identity assigns no roles"):
        roles(Subject(torch.nn.Identity(), corpus, CPU, 0))


def test_classes_are_those_of_the_lexicon_where_there_is_one(tmp_path):
    lexicon = "source\ttarget\tclass\nder\tthe\tarticle\nmann\tman\tnoun\nsehen\tsee\tverb\n"
    corpus = a_corpus(tmp_path / "c", lexicon)
    found = classes_of(subject_of(corpus))
    assert found[:5] == ["article", "noun", "verb", "verb", "other"]
    assert found[5:9] == ["noun", "other", "other", "other"]


def test_a_word_of_several_classes_has_that_of_its_translation(tmp_path):
    lexicon = "source\ttarget\tclass\nder\tmen\tpronoun\nder\tthe\tarticle\nder\tof\tother\n"
    corpus = a_corpus(tmp_path / "c", lexicon)
    found = classes_of(subject_of(corpus))
    assert [found[place] for place in (0, 9, 10)] == ["article", "pronoun", "pronoun"]


def test_english_words_have_their_parts_of_speech(tmp_path):
    """Pieces of a word and marks are told by their form, words that nobody tagged by frequency."""
    pairs = [("the dog run@@ s , it", "der hund"), ("a dog barks 12 odd", "ein hund")]
    corpus = write_parallel(tmp_path / "c", {"train": pairs, "dev": pairs})
    tags = {"the": "DT", "dog": "NN", "runs": "VBZ", "it": "PRP", "barks": "VBZ", "odd": "$",
            "12": "CD"}  # fmt: skip
    tagged = write_tagged(tmp_path / "t", {"train": [[(w, t, "O") for w, t in tags.items()]]})
    subject = Subject(ByToken({}, 2), corpus, CPU, 0)
    found = classes_of(subject, tagged)
    assert found[:6] == ["determiner", "noun", "prefix", "suffix", "mark", "pronoun"]
    assert found[6:] == ["frequent word", "noun", "verb", "number", "frequent word"]
    measured = roles(subject, tagged=tagged)
    assert set(measured.arrays["class"]) == set(found)
    with pytest.raises(ValueError, match="tagged: the words of the target are not English"):
        roles(subject, side="target", tagged=tagged)


def test_a_lexicon_without_its_columns_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no columns 'source', 'target' and 'class'"):
        roles(subject_of(a_corpus(tmp_path / "c", "de\ten\nder\tthe\n")))


def test_the_roles_of_a_token_by_hand(tmp_path):
    found = token_roles(subject_of(a_corpus(tmp_path / "c")), around=1)
    assert found.scalars["count"]["value"] == 3
    assert found.scalars["roles"]["value"] == 1
    assert found.arrays["role"] == [["2"], ["–"], ["–"], ["–"], ["–"]]
    assert found.arrays["frequency"][0] == ["3"]
    assert found.arrays["examples"][0] == ["'›der‹ mann'", "'›der‹ der'"]
    assert found.arrays["translations"][0] == ["'the man sees .'", "'12 men .'"]


def test_a_token_out_of_the_vocabulary_is_told_with_the_nearest(tmp_path):
    subject = subject_of(a_corpus(tmp_path / "c"))
    with pytest.raises(ValueError, match="'mannn' is not in the vocabulary of the source; nearest"):
        token_roles(subject, "mannn")
    with pytest.raises(ValueError, match=r"'xyz' .*; take one of vocabulary.txt"):
        token_roles(subject, "xyz")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=60))
def test_normalised_information_is_the_librarys(pairs):
    rows, columns = (np.array(side) for side in zip(*pairs, strict=True))
    counts = table(rows, columns, (5, 4))
    found = normalised_information(counts)
    if found is None:
        assert len(set(rows)) == len(set(columns)) == 1
    else:
        assert found == pytest.approx(normalized_mutual_info_score(rows, columns), abs=1e-9)


OBJECTIVE = "model.objectives.role_translation:RoleTranslation"
SMALL = {"width": 8, "hidden": 12, "layers": 2, "heads": 2, "normalizer": Softmax()}


def test_sizes_are_counted_in_millions(tmp_path):
    corpus = a_corpus(tmp_path / "c")
    model = RoleEncoderDecoder(12, **SMALL, roles=Roles(4, Gumbel()))
    count = sum(p.numel() for p in model.parameters())
    assert model_size(Subject(model, corpus, CPU, 0)).scalars == {
        "parameters": {"value": count / 1e6, "unit": "M"}
    }
    matched = MatchedEncoderDecoder(12, **SMALL, roles=Roles(4, Gumbel()))
    found = model_size(Subject(matched, corpus, CPU, 0)).scalars
    assert found["to_match"]["value"] == count / 1e6


def with_roles(number, assignment, **shape):
    """The node of a model with roles."""
    roles = part("layers.role_interaction:Roles", number=number)
    path = "model.architectures.translation.with_roles:RoleEncoderDecoder"
    return {"path": path, **shape, "roles": roles | {"assignment": assignment}}


def test_multiply_adds_are_those_counted_by_hand(tmp_path):
    """Sentences of one length, so that nothing is padded; forward is a third of it all."""
    d, ff, layers, r, v, b, s, t = 8, 12, 2, 4, 20, 6, 5, 4
    examples = [[*[4 + i] * (s - 1), EOS, *[5 + i] * (t - 1), EOS] for i in range(b)]
    columns = {"train": {"source": [s] * b}, "dev": {"source": [s] * b}}
    corpus = write_corpus(tmp_path / "c", {"train": examples, "dev": examples}, v, {}, columns)
    shape = {"width": d, "hidden": ff, "layers": layers, "heads": 2, "normalizer": SOFTMAX}
    node = with_roles(r, SOFTMAX, **shape)
    spec = tiny(node, OBJECTIVE, batch={"examples": b})
    subject = Subject(nn.Linear(1, 1), corpus, CPU, 0)
    found = role_cost(subject, spec, updates=2).scalars
    source, target = b * s, b * t
    encoder = source * (4 * d * d + 2 * d * ff) + 2 * b * s * s * d
    own = target * 4 * d * d + 2 * b * t * t * d
    across = target * 2 * d * d + source * 2 * d * d + 2 * b * t * s * d
    decoder = own + across + target * 2 * d * ff
    baseline = layers * (encoder + decoder) + target * d * v
    lstm = source * 2 * 4 * (d // 2) * (d + d // 2) + target * 4 * d * 2 * d
    layer = lstm + (source + target) * (d * r + r * r + r * d * d)
    # Backward the roles' own gradients are r d more products a token than twice the forward ones.
    extra = (source + target) * 2 * r * d
    expected = (3 * (baseline + layer) + extra) / (3 * baseline)
    assert found["multiply_add_ratio"]["value"] == pytest.approx(expected, rel=1e-9)
    assert found["step"]["n"] == found["step_ratio"]["n"] == 2
    assert (
        without_roles(node)["path"]
        == "model.architectures.translation.encoder_decoder:EncoderDecoder"
    )


def test_the_ratio_of_updates_is_that_of_their_times(tmp_path, monkeypatch):
    """Six attentions of one unit in either model, and two assignments of three in one."""
    tell(monkeypatch, stopwatch)
    corpus = a_corpus(tmp_path / "c")
    node = with_roles(4, timed(3), width=8, hidden=8, layers=2, heads=2, normalizer=timed(1))
    spec = tiny(node, OBJECTIVE, batch={"examples": 3})
    found = role_cost(Subject(nn.Linear(1, 1), corpus, CPU, 0), spec, updates=2)
    assert found.scalars["step"]["value"] == 12_000
    assert found.scalars["baseline_step"]["value"] == 6_000
    assert found.scalars["step_ratio"]["value"] == 2
