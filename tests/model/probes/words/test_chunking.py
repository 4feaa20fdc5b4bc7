"""The chunking probe: states of first sub-words, the linear layer, the baseline, and its scores."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.measure import Subject
from model.probes.words.chunking import baseline, chunking, fit_linear, sentences, word_states
from model.probes.words.conlleval import conlleval
from model.probes.words.subwords import SubWords
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel, write_tagged
from tests.model.translators import unpadded

NOUNS, VERBS = ["dog", "cat", "sea"], ["sees", "runs"]
PIECES = ["d@@", "og", "cat", "s@@", "ea", "sees", "r@@", "uns", "the"]
MERGES = ["o g</w>", "e a</w>", "c a", "ca t</w>", "s e", "e s</w>", "se es</w>", "u n", "un s</w>",
          "t h", "th e</w>"]  # fmt: skip


@pytest.fixture
def corpus(tmp_path):
    pairs = [(" ".join(PIECES), "x")]
    return write_parallel(tmp_path / "c", {"train": pairs}, merges=MERGES)


@pytest.fixture
def tagged(tmp_path):
    """Sentences `the N V the N`, some without the articles: the word before decides the tag."""
    random = np.random.default_rng(0)

    def sentence():
        found = []
        for place in range(2):
            with_article = random.random() < 0.5
            noun = str(random.choice(NOUNS))
            if with_article:
                found.append(("the", "DT", "B-NP"))
            found.append((noun, "NN", "I-NP" if with_article else "B-NP"))
            if place == 0:
                found.append((str(random.choice(VERBS)), "VB", "B-VP"))
        return found

    splits = {"train": [sentence() for _ in range(300)], "test": [sentence() for _ in range(40)]}
    return write_tagged(tmp_path / "t", splits)


def model_of(two_streams, corpus, norm="post"):
    torch.manual_seed(0)
    sizes = (len(corpus.vocabulary), 16, 32, 2, 2)
    if two_streams:
        model = TwoStreamEncoderDecoder(*sizes, Gumbel(), norm=norm)
    else:
        model = EncoderDecoder(*sizes, Softmax(), norm=norm)
    for parameter in model.parameters():  # so that no norm is the identity, no bias 0
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model.eval()


def test_words_become_sub_words_and_keep_the_place_of_the_first(corpus, tagged):
    found = sentences(tagged.split("train"), tagged.vocabulary, SubWords(corpus, "source"))
    split = tagged.split("train")
    for n in range(20):
        words = [tagged.vocabulary[t] for t in split.tokens[slice(*split.offsets[n : n + 2])]]
        text = [corpus.vocabulary[i] for i in found.pieces[n]]
        assert text[-1] == "<eos>"
        assert " ".join(text[:-1]).replace("@@ ", "").split() == words
        starts = [i for i in range(len(text) - 1) if i == 0 or not text[i - 1].endswith("@@")]
        assert found.first[n].tolist() == starts
    assert any(
        len(pieces) > len(first) + 1
        for pieces, first in zip(found.pieces, found.first, strict=True)
    )


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("two_streams", [False, True])
def test_states_are_those_of_each_sentence_alone(corpus, tagged, two_streams, norm):
    """In padded batches and read at the first sub-word, against layer by layer, one at a time."""
    model = model_of(two_streams, corpus, norm)
    found = sentences(tagged.split("test"), tagged.vocabulary, SubWords(corpus, "source"))
    states = word_states(Subject(model, corpus, CPU, 0), found, tokens=40)
    assert sorted(states) == (["controller", "model"] if two_streams else ["model"])
    for n in range(12):
        source, layout = unpadded(torch.from_numpy(found.pieces[n])[None])
        mask = torch.zeros(1, 1, 1, source.shape[1])
        with torch.no_grad():
            h = model.source(source)[0]
            if two_streams:
                g = model.controller_source(source)[0]
                for index in range(2):
                    g, s = model.encoder_controller[index](g, layout, mask)
                    z = F.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype)
                    h = model.encoder_stream[index](h, layout, z)
                g = model.controller_norm(g)
            else:
                for layer in model.encoder:
                    h, _ = layer(h, layout, mask, None, False)
            h = model.encoder_norm(h)
        words = slice(int(found.words[n]), int(found.words[n + 1]))
        assert torch.allclose(states["model"][words], h[found.first[n]], atol=1e-5)
        if two_streams:
            assert torch.allclose(states["controller"][words], g[found.first[n]], atol=1e-5)
            assert not torch.allclose(g, h, atol=1e-2)


def test_measuring_leaves_no_hook_and_no_change(corpus, tagged):
    model = model_of(True, corpus)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = sentences(tagged.split("test"), tagged.vocabulary, SubWords(corpus, "source"))
    word_states(Subject(model, corpus, CPU, 0), found, tokens=200)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(module._forward_hooks for module in model.modules())


def test_the_linear_layer_is_the_regression_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 5, generator=generator, dtype=torch.float64)
    logits = x @ torch.randn(5, 3, generator=generator, dtype=torch.float64)
    labels = torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(1)
    weight, bias, loss = fit_linear(x, labels, 3)
    theirs = LogisticRegression(C=1e9, tol=1e-10, max_iter=5000).fit(x.numpy(), labels.numpy())
    expected = torch.from_numpy(theirs.predict_proba(x.numpy()))
    assert torch.allclose((x @ weight.t() + bias).softmax(-1), expected, atol=2e-3)
    assert loss == pytest.approx(float(F.nll_loss(expected.log(), labels)), abs=1e-5)


def test_context_in_the_states_beats_the_baseline(corpus, tagged):
    found = chunking(Subject(model_of(False, corpus), corpus, CPU, 0), tagged).scalars
    assert found["model_accuracy"]["value"] > 90
    assert 50 < found["baseline_accuracy"]["value"] < 80
    assert found["model_f1"]["value"] > found["baseline_f1"]["value"] + 10
    assert found["model_loss"]["n"] == len(tagged.split("train").tokens)
    again = chunking(Subject(model_of(False, corpus), corpus, CPU, 1), tagged).scalars
    assert again == found


def test_the_baseline_by_hand(tmp_path):
    tagged = write_tagged(
        tmp_path / "t",
        {
            "train": [
                [("a", "DT", "B-NP"), ("b", "NN", "I-NP"), ("c", "NN", "B-NP"), ("d", "NN", "I-NP")]
            ],
            "test": [[("e", "NN", "B-NP"), ("f", "VB", "O"), ("a", "DT", "I-NP")]],
        },
    )
    guess = baseline(tagged.split("train"), tagged.split("test"), parts=3, names=3)
    # NN: I-NP; VB is unknown: of the two tags that come twice, B-NP and I-NP, the first.
    assert [["B-NP", "I-NP", "O"][n] for n in guess] == ["I-NP", "B-NP", "B-NP"]


def test_sources_that_are_not_english_are_refused(tmp_path, tagged):
    corpus = write_parallel(tmp_path / "de", {"train": [("x", "dog")]}, languages=("de", "en"))
    with pytest.raises(ValueError, match="the sources of this run are not"):
        chunking(Subject(model_of(False, corpus), corpus, CPU, 0), tagged)


TAGS = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]


def test_scores_of_chunks_by_hand():
    """Three true chunks, four predicted, two right; a chunk does not go on into a new sentence."""
    true = [["B-NP", "I-NP", "O", "B-VP"], ["I-NP", "O"]]
    predicted = [["B-NP", "I-NP", "B-VP", "B-NP"], ["I-NP", "O"]]
    scores = conlleval(true, predicted)
    assert scores.accuracy == pytest.approx(100 * 4 / 6)
    assert scores.precision == pytest.approx(50)
    assert scores.recall == pytest.approx(100 * 2 / 3)
    assert scores.f1 == pytest.approx(2 * 50 * (200 / 3) / (50 + 200 / 3))


def test_no_chunk_found_is_zero():
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
