"""Logistic regression as a proxy, counts of words and salience, on a corpus with known words."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from model.build import build
from model.probes.learning.agreement import agreement
from model.probes.learning.class_values import class_importance, class_values
from model.probes.learning.learning_record import learning_record
from model.probes.learning.logistic_proxy import bags, beta, logistic_proxy
from model.probes.learning.polarity import polarity
from model.probes.learning.salient_probe import salient_probe
from model.probes.measure import Subject
from tests.model.corpora import CPU, keyword_texts, run, values, write_corpus
from tests.model.specs import brief, part

OBJECTIVE = "model.objectives.classification:BinaryClassification"


def node(normalizer: str) -> dict[str, object]:
    settings = {"width": 16, "hidden": 12, "normalizer": part(f"normalizers.{normalizer}")}
    return part("architectures.lstm_classifier:LSTMClassifier", **settings)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Texts of words 5 to 19, one of which is replaced by word 3 (label 0) or 4 (label 1)."""
    folder = tmp_path_factory.mktemp("c") / "c"
    return keyword_texts(folder, {"train": 640, "dev": 100}, 20, shortest=2, longest=8)


def record_of(corpus, normalizer):
    """A briefly trained run, and its record at the start and the end."""
    made = node(normalizer)
    trained = run(brief(made, OBJECTIVE, epochs=4), corpus)
    torch.manual_seed(0)
    model = build(made, vocabulary_size=20).eval()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    subject = Subject(model, corpus, CPU, 0)
    loaders = {0: lambda: start, 80: lambda: trained.weights}
    return subject, learning_record(subject, loaders, class_values, class_importance)


def test_the_lexical_probe_and_attention_find_the_words_that_decide(corpus):
    subject, record = record_of(corpus, "softmax:Softmax")
    _, uniform = record_of(corpus, "uniform:Uniform")
    assert all(one.splits["dev"].best("accuracy") == 1 for one in (record, uniform))
    found = values(salient_probe(subject, record, uniform))
    assert found["chance"] < 0.25
    assert found["uniform_hit"] > 0.9
    assert found["beta_hit"] > 0.6
    assert found["alpha_hit"] > 0.4
    assert salient_probe(subject).scalars["uniform_hit"]["value"] is None
    # Importance points at them as well, and for the right class: a wrong sign would not.
    dev = corpus.split("dev")
    delta = class_importance(subject, dev, np.arange(len(dev)))
    firsts = np.stack([dev.offsets[:-1], dev.offsets[1:]], axis=1)
    hits = [
        dev.columns["salient"][start:end][delta[n, 1 : 1 + end - start].argmax()]
        for n, (start, end) in enumerate(firsts)
    ]
    assert np.mean(hits) > 0.6
    agreed = logistic_proxy(subject, uniform, record).scalars
    assert agreed["accuracy"]["value"] == 100
    assert agreed["uniform_log"]["value"] > 0.9
    # The record in the place of the proxy's is read where it ended, that of uniform attention where
    # they agree most.
    ended, flat = record.splits["dev"], uniform.splits["dev"]
    u = ended.rows("beta", 1)
    shares = [agreement(u, flat.rows("beta", at), flat.lengths).mean() for at in (0, 1)]
    assert shares[0] != shares[1]
    assert agreed["uniform_proxy"]["value"] == max(shares)
    assert logistic_proxy(subject).scalars["uniform_log"]["value"] is None


def test_bags_and_betas_by_hand(tmp_path):
    """x of snell2021 eq. 52, and what its weights say of each word."""
    texts = {"dev": [[3, 4, 3], [4]]}
    split = write_corpus(
        tmp_path / "c", texts, 5, {}, {"dev": {"label": [1, 0]}}
    ).split("dev")  # fmt: skip
    expected = np.array([[0, 2 / 5, 0, 2 / 5, 1 / 5], [0, 2 / 3, 0, 0, 1 / 3]])
    assert np.allclose(bags(split, 5).toarray(), expected)
    weights = np.array([9.0, 0.5, 9.0, 2.0, -1.0])
    assert beta(split, np.array([0, 1]), weights).tolist() == [
        [0.5, 2.0, -1.0, 2.0, 0.5],
        [-0.5, 1.0, -0.5, 0, 0],
    ]
    assert beta(split, np.array([1]), weights).tolist() == [[-0.5, 1.0, -0.5]]


def test_polarity_by_a_slow_count(corpus):
    """The counts of snell2021 figure 4."""
    subject = Subject(torch.nn.Identity(), corpus, CPU, 0)
    found = polarity(subject, shown=2, least=5)
    names = found.arrays["word"]
    assert len(names) == 4
    assert (names[0], names[-1]) == ("s4", "s3")
    train = corpus.split("train")
    for name, row in zip(names, found.arrays["counts"], strict=True):
        counts = [0.0, 0.0]
        for n, label in enumerate(train.columns["label"]):
            text = train.tokens[train.offsets[n] : train.offsets[n + 1]].tolist()
            counts[1 - label] += text.count(int(name[1:])) / len(text)
        assert row == pytest.approx([1000 * count / len(train) for count in counts], abs=1e-6)
    assert found.scalars["salient_hit"]["value"] == 1


def test_a_weak_penalty_is_not_fitted_to_the_end():
    """The loss of snell2021 eq. 53 with its penalty, by hand: a fit is above what can be."""
    random = np.random.default_rng(0)
    counts = random.poisson(0.02, (300, 400)) + random.poisson(0.5, (300, 1))
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    labels = random.integers(2, size=300)

    def loss(c, tolerance):
        fit = LogisticRegression(C=c, fit_intercept=False, max_iter=20000, tol=tolerance)
        w = fit.fit(shares, labels).coef_[0]
        margin = (2 * labels - 1) * (shares @ w)
        return w @ w / 2 + c * np.logaddexp(0, -margin).sum()

    strong, weak = (loss(c, 1e-4) / loss(c, 1e-9) for c in (1e-2, 1e4))
    assert strong == pytest.approx(1, abs=1e-6)
    assert weak > 1.001
