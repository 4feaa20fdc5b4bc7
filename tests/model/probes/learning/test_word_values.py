"""Attention, the lexical probe and importance of every output word, and its best attention."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from model.architectures.lexical_proxy import LexicalProxy
from model.architectures.translation.beam_search import Beam
from model.batches.batching import BOS
from model.batches.pairs import EOS
from model.probes.learning.optimal_attention import best_attention, optimal_attention
from model.probes.learning.word_values import log_odds, proxy_values, word_importance, word_values
from model.probes.measure import Subject
from model.probes.quality.token_accuracy import token_accuracy
from tests.model.architectures.translation.test_recurrent_translator import make, slowly
from tests.model.corpora import CPU, write_corpus
from tests.model.translators import unpadded

WORDS = 20
EXAMPLES = np.array([4, 0, 3])


def a_corpus(folder):
    """Five pairs of several lengths, one of them a single word."""
    random = np.random.default_rng(0)
    sizes = [(3, 2), (5, 4), (1, 1), (2, 6), (4, 3)]
    pairs = [[random.integers(4, WORDS, n).tolist() for n in two] for two in sizes]
    splits = {s: [[*one, EOS, *two, EOS] for one, two in pairs] for s in ("train", "dev")}
    columns = {s: {"source": [len(one) + 1 for one, _ in pairs]} for s in splits}
    return write_corpus(folder / "pairs", splits, WORDS, {}, columns), pairs


def every_word(pairs, examples):
    """Input, what stands before it, and the word, for each output word of some pairs."""
    for n in examples:
        source, target = pairs[n]
        for t, word in enumerate([*target, EOS]):
            yield n, [*source, EOS], [BOS, *target[:t]], word


@pytest.mark.parametrize("convex", [False, True])
def test_values_equal_a_slow_loop(tmp_path, convex):
    """One word after the other (snell2021 eq. 3; where the model is convex, snell2021 eq. 24)."""
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS, convex=convex)
    found = word_values(Subject(model, corpus, CPU, 0), corpus.split("dev"), EXAMPLES, tokens=9)
    right = 0
    with torch.no_grad():
        for row, (n, source, before, word) in enumerate(every_word(pairs, EXAMPLES)):
            p, alpha = slowly(model, source, before)
            length = len(source) + 1
            assert (found.examples[row], found.lengths[row]) == (n, length)
            assert np.allclose(found.alpha[row, :length], alpha[-1], atol=1e-6)
            right += int(p[-1].argmax()) == word
            for position in range(length):
                alone = found.beta[row, position]
                beta = attending(model, source, before, position)[word]
                assert alone == pytest.approx(float(torch.log(beta / (1 - beta))), abs=1e-5)
    assert row + 1 == len(found.lengths)
    assert found.performance == {"accuracy": pytest.approx(100 * right / len(found.lengths))}


def attending(model, source, before, position):
    """p of the next word if all attention were at one position."""

    class Alone(torch.nn.Module):
        def forward(self, scores):
            return torch.zeros_like(scores).index_fill_(-1, torch.tensor(position), 1.0)

    kept, model.normalizer = model.normalizer, Alone()
    read, written = (unpadded(torch.tensor([words])) for words in (source, before))
    states = model(*read, *written).states
    model.normalizer = kept
    return model.logits(states)[-1].softmax(-1)


def test_importance_is_the_change_of_log_odds_by_a_factor_on_a_word(tmp_path):
    """By finite differences; a word that speaks for the right output has a positive one."""
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS)
    subject = Subject(model, corpus, CPU, 0)
    found = word_importance(subject, corpus.split("dev"), EXAMPLES, tokens=9)
    step = 1e-5
    for row, (_, source, before, word) in enumerate(every_word(pairs, EXAMPLES)):
        for position in range(len(source) + 1):
            either = [odds(model, source, before, word, position, 1 + d) for d in (step, -step)]
            slope = (either[0] - either[1]) / (2 * step)
            assert found[row, position] == pytest.approx(slope, abs=1e-5)
    assert found.shape[0] == row + 1


def test_importance_does_not_vanish_where_the_word_is_certain(tmp_path):
    """1 - p is 1e-8 or less: log p is 0 in single precision, whatever the factor."""
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS)
    with torch.no_grad():
        model.output_weight[:, -1] = 0
    subject = Subject(model, corpus, CPU, 0)
    word = next(iter(every_word(pairs, EXAMPLES)))[3]
    before = word_importance(subject, corpus.split("dev"), EXAMPLES, tokens=9)[0]
    with torch.no_grad():
        model.output_weight[word, -1] = 50
    after = word_importance(subject, corpus.split("dev"), EXAMPLES, tokens=9)[0]
    assert np.abs(before).max() > 1e-4
    # All that changes is the share of the other words, and with it how much each counts.
    assert after == pytest.approx(before, rel=1e-3, abs=1e-7)


def odds(model, source, before, word, position, factor):
    """Log-odds of the next word with one embedding of the input multiplied by a factor."""
    target = torch.tensor([before])
    h0 = model.embedding.weight[[BOS, *source]].clone()[None]
    h0[:, position] *= factor
    with torch.no_grad():
        encoding = model.encode(*unpadded(torch.tensor([source])), h0)
        s = model.decode(target, encoding)
        states = model.output_projection(s, model.attend(s, encoding)[0])
        log_p = model.logits(states)[0, -1].double().log_softmax(-1)[word]
        return float(log_p - torch.log(-torch.expm1(log_p)))


def test_the_proxys_probe_equals_a_slow_loop(tmp_path):
    corpus, pairs = a_corpus(tmp_path)
    model = LexicalProxy(WORDS, 6)
    with torch.no_grad():
        model.output.weight *= 5
    subject = Subject(model, corpus, CPU, 0)
    found = proxy_values(subject, corpus.split("dev"), EXAMPLES, tokens=9)
    theta = model.of_words().double()
    right = 0
    for row, (n, source, _, word) in enumerate(every_word(pairs, EXAMPLES)):
        read = [BOS, *source]
        beta = theta[read, word]
        assert np.allclose(
            found.beta[row, : len(read)], torch.log(beta / (1 - beta)).detach(), atol=1e-4
        )
        assert np.allclose(found.alpha[row, : len(read)], 1 / len(read))
        mean = model.embedding.weight[read].mean(dim=0)
        right += int((model.output.weight @ mean).argmax()) == word
        assert found.examples[row] == n
    assert found.performance["accuracy"] == pytest.approx(100 * right / len(found.lengths))


def test_log_odds_do_not_saturate():
    logits = torch.tensor([[80.0, 0.0, 0.0], [90.0, 0.0, 0.0]])
    assert (logits.softmax(-1)[:, 0] == 1).all()
    found = log_odds(logits.clone(), torch.tensor([0, 0]))
    assert found.tolist() == pytest.approx([80 - np.log(2), 90 - np.log(2)], rel=1e-6)


def test_token_accuracy_and_bleu(tmp_path):
    """Of a model that always writes the same word: what it has right is counted by hand."""
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS)
    word = pairs[3][1][0]
    with torch.no_grad():
        model.output_weight.zero_()
        model.output_weight[word, -1] = 1
    subject = Subject(model, corpus, CPU, 0)
    targets = [[*target, EOS] for _, target in pairs]
    words = sum(map(len, targets))
    right = sum(target.count(word) for target in targets)
    found = token_accuracy(subject, "dev").scalars["accuracy"]
    assert (found["value"], found["n"]) == (pytest.approx(100 * right / words), words)
    values = word_values(subject, corpus.split("dev"), np.arange(5), Beam(1), tokens=9)
    assert values.performance["accuracy"] == pytest.approx(100 * right / words)
    assert 0 <= values.performance["bleu"] < 5


def test_the_papers_counterexample():
    """No weight at the position with the highest beta (snell2021 eq. 25, 26, 27)."""
    gamma = torch.tensor([[0.0, 0, 0], [0, -10, 5], [0, 5, -10]], dtype=torch.float64)
    beta = gamma.softmax(-1)[:, 0]
    assert beta.tolist() == pytest.approx([1 / 3, math.exp(-5), math.exp(-5)], rel=0.01)
    found = best_attention(
        gamma[None], torch.zeros(1, 1, 3).double(), torch.tensor([[0]]),
        torch.ones(1, 3, dtype=torch.bool), tolerance=1e-9,
    )  # fmt: skip
    assert found.weights[0, 0].tolist() == pytest.approx([0, 0.5, 0.5], abs=1e-6)
    assert float(found.loss) == pytest.approx(math.log(1 + 2 * math.exp(-2.5)), abs=1e-8)


def by_scipy(gamma, gamma_s, word):
    """The loss at the optimum, by sequential quadratic programming from several starts."""

    def loss(alpha):
        logits = alpha @ gamma + gamma_s
        return np.logaddexp.reduce(logits) - logits[word]

    positions = len(gamma)
    starts = [np.full(positions, 1 / positions), *np.eye(positions)]
    found = [
        minimize(
            loss, start, method="SLSQP", bounds=[(0, 1)] * positions,
            constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        for start in starts
    ]  # fmt: skip
    return min(one.fun for one in found)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 7), st.floats(0.1, 6))
def test_the_optimum_is_that_of_a_generic_solver(seed, positions, words, spread):
    """Its loss is that of snell2021 eq. 23, 29."""
    random = np.random.default_rng(seed)
    gamma = spread * random.standard_normal((2, positions, words))
    gamma_s = random.standard_normal((2, 3, words))
    targets = random.integers(0, words, (2, 3))
    lengths = [positions, random.integers(1, positions + 1)]
    real = np.arange(positions) < np.array(lengths)[:, None]
    tensors = (torch.from_numpy(x) for x in (gamma, gamma_s, targets, real))
    found = best_attention(*tensors, tolerance=1e-7, steps=20_000)
    assert float(found.gap.max()) <= 1e-7
    assert torch.allclose(found.weights.sum(-1), torch.ones(2, 3).double())
    for b in range(2):
        assert not found.weights[b, :, lengths[b] :].any()
        for t in range(3):
            expected = by_scipy(gamma[b, : lengths[b]], gamma_s[b, t], targets[b, t])
            # The gap bounds what the loss is above the optimum.
            assert float(found.loss[b, t]) <= expected + 1e-6
            assert float(found.loss[b, t]) >= expected - 1e-6


def test_single_precision_reaches_the_stated_tolerance():
    torch.manual_seed(0)
    gamma, gamma_s = 3 * torch.randn(4, 12, 500), torch.randn(4, 9, 500)
    targets = torch.randint(0, 500, (4, 9))
    real = torch.arange(12) < torch.tensor([12, 7, 1, 10])[:, None]
    found = best_attention(gamma, gamma_s, targets, real)
    assert float(found.gap.max()) <= 1e-3


@torch.no_grad()
def test_each_word_is_solved_for_itself(tmp_path):
    """gamma and gamma_s are those of snell2021 eq. 30."""
    """A loop over output words, nothing padded: the best position, and how many have more beta."""
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS, convex=True)
    # So that some words are best explained by positions that do not translate to them alone.
    for parameter in (model.output_weight, *model.encoder.parameters()):
        parameter *= 10
    found = optimal_attention(Subject(model, corpus, CPU, 0), "dev", 9).scalars
    weight, bias = model.output_weight[:, :-1], model.output_weight[:, -1]
    hits, alone, random, best = [], [], [], []
    for _, source, before, word in every_word(pairs, range(len(pairs))):
        encoding = model.encode(*unpadded(torch.tensor([source])))
        gamma = encoding.memories[0][1] @ weight.t()
        gamma_s = (model.decode(torch.tensor([before]), encoding) @ weight.t() + bias)[:, -1:]
        one = best_attention(
            gamma, gamma_s, torch.tensor([[word]]), torch.ones(1, gamma.shape[1], dtype=torch.bool)
        )
        at = int(one.weights[0, 0].argmax())
        places = range(len(source) + 1)
        beta = [float(attending(model, source, before, place)[word]) for place in places]
        hits.append(20 * sum(b > beta[at] for b in beta) < len(beta))
        without = (gamma[0] + bias).softmax(dim=-1)[:, word].tolist()
        alone.append(20 * sum(b > without[at] for b in without) < len(without))
        random.append(np.mean([20 * sum(b > a for b in beta) < len(beta) for a in beta]))
        best.append(float(one.loss))
    assert 0 < np.mean(hits) < 1
    assert found["agreement"]["value"] == pytest.approx(100 * np.mean(hits))
    assert found["agreement_alone"]["value"] == pytest.approx(100 * np.mean(alone))
    assert alone != hits
    assert found["agreement_chance"]["value"] == pytest.approx(100 * np.mean(random))
    assert found["best_loss"]["value"] == pytest.approx(np.mean(best), abs=1e-3)
    assert found["loss"]["n"] == len(hits)


def test_it_is_never_worse_than_the_models_own(tmp_path):
    corpus, _ = a_corpus(tmp_path)
    found = optimal_attention(Subject(make(WORDS, convex=True), corpus, CPU, 0), "dev", 9)
    values = {name: entry["value"] for name, entry in found.scalars.items()}
    assert values["best_loss"] <= values["loss"] + values["gap"]
    assert 0 <= values["gap"] <= 1e-3
    assert 0 < values["agreement_chance"] < 100 and 0 <= values["agreement"] <= 100


def test_a_model_that_is_not_convex_is_refused(tmp_path):
    corpus, _ = a_corpus(tmp_path)
    with pytest.raises(ValueError, match=r"known of a convex model alone: set model\.convex"):
        optimal_attention(Subject(make(WORDS), corpus, CPU, 0))
