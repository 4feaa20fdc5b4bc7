"""Records: ranks against a slow count, files that come back whole, one pass against slow loops."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.build import build
from model.probes.checkpoint_ranks import Record, SplitRecord, ranks
from model.probes.kendall import tau_b
from model.probes.learning.agreement import agreement
from model.probes.learning.class_values import class_importance, class_values
from model.probes.learning.learning_record import learning_record
from model.probes.learning.learning_record import part as part_of
from model.probes.measure import Subject
from tests.model.corpora import CPU, write_corpus
from tests.model.specs import SOFTMAX, part

VALUE = st.integers(-2, 2).map(float) | st.floats(-1e30, 1e30, allow_subnormal=False)
NODE = part("architectures.lstm_classifier:LSTMClassifier", width=5, hidden=4, normalizer=SOFTMAX)


@settings(max_examples=100)
@given(st.lists(st.lists(VALUE, min_size=1, max_size=30), min_size=1, max_size=4))
def test_ranks_count_what_is_lower(rows):
    width = max(map(len, rows))
    values = np.array([[*row, *[-9e99] * (width - len(row))] for row in rows])
    found = ranks(values, np.array([len(row) for row in rows]))
    assert found.tolist() == [sum(other < x for other in row) for row in rows for x in row]


def test_long_rows_need_two_bytes():
    assert ranks(np.zeros((1, 256)), np.array([256])).dtype == np.uint8
    values = np.arange(300.0)[None]
    assert ranks(values, np.array([300])).tolist() == list(range(300))


@given(st.integers(0, 2**31))
def test_ranks_agree_and_correlate_as_the_values_do(seed):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 30, 6)
    u, v = (random.integers(-9, 9, (6, 30)).astype(float) for _ in range(2))
    flat = {name: ranks(x, lengths)[None] for name, x in (("u", u), ("v", v))}
    record = SplitRecord(lengths, np.arange(6), flat, {}, np.array([], np.int64))
    one, other = record.rows("u", 0), record.rows("v", 0)
    assert (agreement(one, other, lengths) == agreement(u, v, lengths)).all()
    assert np.allclose(tau_b(one, other, lengths), tau_b(u, v, lengths), equal_nan=True)


def small(tmp_path, count: int = 7) -> Subject:
    random = np.random.default_rng(0)
    splits = {
        name: [random.integers(3, 9, length).tolist() for length in [1, *range(2, count + 1)]]
        for name in ("train", "dev")
    }
    columns = {name: {"label": [i % 2 for i in range(count)]} for name in splits}
    corpus = write_corpus(tmp_path / "c", splits, 9, {}, columns)
    torch.manual_seed(0)
    return Subject(build(NODE, vocabulary_size=9).eval(), corpus, CPU, 0)


def weights(seed: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    return build(NODE, vocabulary_size=9).state_dict()


def recorded(subject: Subject, **options) -> Record:
    loaders = {step: (lambda step=step: weights(step)) for step in (0, 3, 9)}
    return learning_record(subject, loaders, class_values, **options)


def test_each_checkpoint_is_recorded_as_one_text_at_a_time_says(tmp_path):
    """Also beta with the sign of the class (snell2021 eq. 6)."""
    subject = small(tmp_path)
    record = recorded(subject, importance=class_importance, train=3)
    assert record.steps.tolist() == [0, 3, 9]
    split, texts = record.splits["dev"], subject.corpus.split("dev")
    assert split.examples.tolist() == list(range(7))
    assert split.lengths.tolist() == [length + 2 for length in texts.lengths]
    assert len(record.splits["train"].lengths) == 3
    accuracy = []
    for at, step in enumerate(record.steps):
        subject.model.load_state_dict(weights(int(step)))
        right = 0
        for n, length in enumerate(texts.lengths):
            start = texts.offsets[n]
            words = torch.tensor([[1, *texts.tokens[start : start + length].tolist(), 1]])
            real = torch.ones(words.shape, dtype=torch.bool)
            sign = 2 * int(texts.columns["label"][n]) - 1
            logits, alpha, gamma = subject.model(words, real)
            right += int(sign * float(logits.detach()) > 0)
            size = words.shape[1]
            for name, expected in (("alpha", alpha[0]), ("beta", sign * gamma[0])):
                found = split.rows(name, at)[n, :size]
                assert found.argsort().tolist() == expected.argsort().tolist()
        accuracy.append(100 * right / len(texts))
    assert split.performance["accuracy"].tolist() == pytest.approx(accuracy)
    assert split.best("accuracy") == int(np.argmax(accuracy))
    for one in record.splits.values():
        assert one.important.tolist() == [one.best("accuracy")]
        assert one.ranks["delta"].shape == (1, one.lengths.sum())


def test_importance_is_the_derivative_with_its_sign(tmp_path):
    """Of log p(right) by the factor of an embedding, by finite differences, up to 1 - p."""
    subject = small(tmp_path)
    model = subject.model.double()
    split = subject.corpus.split("dev")
    found = class_importance(subject, split, np.arange(7))
    for n in (0, 3, 6):
        start, length = split.offsets[n], int(split.lengths[n])
        words = torch.tensor([[1, *split.tokens[start : start + length].tolist(), 1]])
        real = torch.ones(words.shape, dtype=torch.bool)
        sign = 2 * int(split.columns["label"][n]) - 1

        def log_p(scale, words=words, real=real, sign=sign):
            logits = model(words, real, scale).logits
            return float(torch.nn.functional.logsigmoid(sign * logits).detach())

        ones = torch.ones(words.shape, dtype=torch.float64)
        p = np.exp(log_p(ones))
        for at in range(length + 2):
            step = torch.zeros_like(ones)
            step[0, at] = 1e-5
            slope = (log_p(ones + step) - log_p(ones - step)) / 2e-5
            assert (1 - p) * found[n, at] == pytest.approx(slope, abs=1e-7, rel=1e-3)


def test_a_record_comes_back_from_its_file_and_equal_ones_are_equal_bytes(tmp_path):
    subject = small(tmp_path)
    record = recorded(subject, importance=class_importance, train=2)
    content = record.content()
    assert content == recorded(subject, importance=class_importance, train=2).content()
    (tmp_path / "r.npz").write_bytes(content)
    read = Record.read(tmp_path / "r.npz")
    assert read.content() == content
    assert set(read.splits) == {"dev", "train"}
    for name, split in read.splits.items():
        assert split.important.tolist() == record.splits[name].important.tolist() != []
    (tmp_path / "r.npz").write_bytes(content[:-40])
    with pytest.raises(ValueError, match=r"is no record of a run .*delete it and run again"):
        Record.read(tmp_path / "r.npz")


def test_the_part_of_a_split_is_the_same_for_every_run(tmp_path):
    split = small(tmp_path).corpus.split("train")
    assert part_of(split, None).tolist() == part_of(split, 7).tolist() == list(range(7))
    drawn = part_of(split, 3)
    assert len(set(drawn.tolist())) == 3
    assert drawn.tolist() == sorted(drawn.tolist()) == part_of(split, 3).tolist()


def test_a_run_without_checkpoints_is_refused(tmp_path):
    with pytest.raises(ValueError, match="needs a checkpoint"):
        learning_record(small(tmp_path), {}, class_values)
