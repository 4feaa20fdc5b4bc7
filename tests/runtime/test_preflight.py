"""What is refused before training: a sentence or a checkpoint beyond the last."""

import pytest

from tests.model.corpora import write_corpus
from tests.model.parallel import write_parallel
from tests.model.specs import SOFTMAX, part, shape
from workflow.runtime.preflight import (
    check_classes,
    check_last_checkpoint,
    check_longest_pair,
    check_longest_text,
)

TRANSLATOR = part("architectures.translation.encoder_decoder:EncoderDecoder")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_the_longest_sentence_is_found_and_named(tmp_path, split, side):
    splits = {name: [("a b", "c"), ("a", "b c d")] for name in ("train", "dev", "test")}
    long = "a b c d a b"
    splits[split].append((long, "b") if side == "source" else ("a", long))
    corpus = write_parallel(tmp_path / "data", splits)
    check_longest_pair(TRANSLATOR | {"max_length": 7}, corpus)
    sentence = rf"data: the {side} of pair 3 of '{split}' \(its line in {split}.{side}.txt\) has 7"
    with pytest.raises(ValueError, match=sentence):
        check_longest_pair(TRANSLATOR | {"max_length": 6}, corpus)


def three_pairs(folder, source):
    """A corpus with one pair in each split."""
    return write_parallel(folder, {split: [(source, "a")] for split in ("train", "dev", "test")})


def test_a_length_that_the_spec_leaves_out_is_that_of_the_class(tmp_path):
    with pytest.raises(ValueError, match=r"has 1025 sub-words, <eos> .* is 1024: set it"):
        check_longest_pair(TRANSLATOR, three_pairs(tmp_path / "data", "a " * 1024))


def test_models_of_any_length_and_corpora_of_other_kinds_are_let_pass(tmp_path, copies):
    corpus = three_pairs(tmp_path / "data", "a a a")
    check_longest_pair(part("architectures.lstm_classifier:LSTMClassifier", max_length=1), corpus)
    check_longest_pair(TRANSLATOR | {"max_length": 1}, copies)


CLASSES = part("objectives.classification:Classification")
FRAMED = part("objectives.classification:BinaryClassification")
LANGUAGE = part("objectives.language_modelling:LanguageModelling")
STREAMS = part("objectives.stream_modelling:StreamModelling", segment=5)


@pytest.mark.parametrize(
    ("objective", "batch", "per_epoch"),
    [
        (CLASSES, {"examples": 2}, 4),
        (CLASSES, {"examples": 7}, 1),
        (CLASSES, {"tokens": 12}, 3),  # of four words each, with what stands before a text
        (STREAMS, {"tokens": 10}, 2),
    ],
)
def test_checkpoints_end_with_the_updates_that_training_makes_of_its_epochs(
    tmp_path, objective, batch, per_epoch
):
    """Of seven texts of three words, 21 words in all."""
    corpus = write_corpus(tmp_path / "data", {"train": [[4, 5, 6]] * 7, "dev": [[4]]}, 9, {})
    training = {"epochs": 3, "batch": batch}
    spec = {"objective": objective, "training": training, "seed": 0}
    last = 3 * per_epoch
    check_last_checkpoint(spec | {"checkpoints": [1, last]}, corpus)
    check_last_checkpoint(spec | {"checkpoints": []}, corpus)
    sentence = (
        rf"checkpoints: {last + 1} is beyond the last update, {last} \(training.epochs 3, of "
        rf"{per_epoch} updates each in .*data\); take it away, or raise training.epochs"
    )
    with pytest.raises(ValueError, match=sentence):
        check_last_checkpoint(spec | {"checkpoints": [1, last + 1, 999]}, corpus)


def test_more_labels_than_classes_are_refused(tmp_path):
    splits = {name: [[3], [4], [5]] for name in ("train", "dev", "test")}
    labels = {name: {"label": [0, 1, 2]} for name in splits}
    corpus = write_corpus(tmp_path / "data", splits, 9, {}, labels)
    check_classes({"classes": 3}, corpus)
    check_classes({"classes": 1}, texts(tmp_path / "two", 2))
    for classes in (1, 2):
        said = rf"3 labels, and model.classes is {classes}: set it to 3"
        with pytest.raises(ValueError, match=said):
            check_classes({"classes": classes}, corpus)


def texts(folder, length):
    """A corpus whose longest text stands in `dev`."""
    splits = {"train": [[3]], "dev": [[3], [4] * length], "test": [[3, 4]]}
    labels = {name: {"label": [0] * len(texts)} for name, texts in splits.items()}
    return write_corpus(folder, splits, 9, {}, labels)


def reader(objective, limit):
    """The spec of a Transformer of a maximal length."""
    encoder = part(
        "architectures.transformer:Transformer",
        **shape(8, 8), normalizer=SOFTMAX, max_length=limit,
    )  # fmt: skip
    if objective is LANGUAGE:
        model = part("architectures.language_model:LanguageModel", decoder=encoder)
    else:
        classes = 1 if objective is FRAMED else 2
        model = part("architectures.classifier:Classifier", encoder=encoder, classes=classes)
    return {"model": model, "objective": objective, "seed": 0}


@pytest.mark.parametrize(("objective", "more"), [(CLASSES, 1), (FRAMED, 2), (LANGUAGE, 0)])
@pytest.mark.parametrize("length", [2, 3, 30])
def test_a_text_that_a_model_can_not_read_is_named(tmp_path, objective, more, length):
    corpus = texts(tmp_path / "data", length)
    check_longest_text(reader(objective, length + more), corpus)
    place = "decoder" if objective is LANGUAGE else "encoder"
    for limit in {1, length + more - 1}:
        sentence = (
            rf"data: text \d of '\w+' has \d+ tokens with those around it, and "
            rf"model.{place}.max_length is {limit}: set it to \d+ or more"
        )
        with pytest.raises(ValueError, match=sentence):
            check_longest_text(reader(objective, limit), corpus)


def test_models_without_positions_read_any_text(tmp_path):
    classifier = part("architectures.lstm_classifier:LSTMClassifier")
    check_longest_text({"model": classifier, "objective": CLASSES}, texts(tmp_path / "data", 99))
