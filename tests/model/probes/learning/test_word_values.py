"""Attention, the lexical probe and importance of every output word against slow loops."""

import numpy as np
import pytest
import torch

from model.architectures.lexical_proxy import LexicalProxy
from model.architectures.translation.beam_search import Beam
from model.batches.batching import BOS
from model.batches.pairs import EOS
from model.layers.packing import Layout
from model.probes.learning.word_values import log_odds, proxy_values, word_importance, word_values
from model.probes.measure import Subject
from model.probes.quality.token_accuracy import token_accuracy
from tests.model.architectures.translation.test_recurrent_translator import make, slowly
from tests.model.corpora import write_corpus

CPU = torch.device("cpu")
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
    real = torch.ones(1, len(source), dtype=torch.bool)
    target = torch.tensor([before])
    states = model(
        torch.tensor([source]), Layout(real), target, Layout(torch.ones_like(target) > 0)
    ).states
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
    layout = Layout(torch.ones(1, len(source), dtype=torch.bool))
    target = torch.tensor([before])
    h0 = model.embedding.weight[[BOS, *source]].clone()[None]
    h0[:, position] *= factor
    with torch.no_grad():
        encoding = model.encode(torch.tensor([source]), layout, h0)
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
