"""What a model makes of a line is what the project's own code makes of the same example."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from model.batches.batching import collate
from model.batches.pairs import collate_pairs
from model.probes.fields.effective_field import field_of_first
from model.probes.importance.explanations import gradient
from model.probes.measure import Subject
from model.probes.quality.translation_scores import detokenised, translate
from tests.trained.conftest import (
    LANGUAGE,
    LSTM,
    MULTIVIEW,
    PROXY,
    RECURRENT,
    REVIEWS,
    STREAM,
    TOY,
    TRANSLATION,
)
from workflow.planning.plan import Plan
from workflow.reporting.explorer.rounded_weights import read_weights
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.words import Words
from workflow.runtime.errors import InputError, UserError
from workflow.trained import finding
from workflow.trained import model as trained
from workflow.trained.finding import find
from workflow.trained.model import Reading, TrainedModel, load, model_of


def loaded(plan: Plan, key: str) -> TrainedModel:
    """Return the model of a run."""
    return model_of(plan, find(plan, key))


def example(model: TrainedModel, number: int, space: str = " ") -> tuple[str, Reading]:
    """Return the text of an example of the test split, and what the model makes of it."""
    split = model.corpus.split("test")
    ids = split.tokens[split.offsets[number] : split.offsets[number + 1]]
    text = space.join(model.corpus.vocabulary[one] for one in ids)
    return text, model.read(text)


def test_a_review_is_read_as_the_example_that_it_is(plan: Plan) -> None:
    model = load(REVIEWS, scale="demo", results=plan.results)
    batch = collate(model.corpus.split("test"), np.array([3]))
    _, reading = example(model, 3)
    assert torch.equal(reading.batch.tokens, batch.tokens)
    output = model.model(batch.tokens, batch.real)
    shares = output.logits.softmax(dim=-1)[0].tolist()
    assert [*reading.prediction["probabilities"]] == ["negative", "positive"]
    assert [*reading.prediction["probabilities"].values()] == pytest.approx(shares)
    assert reading.prediction["label"] == ("negative", "positive")[int(shares[1] > shares[0])]
    for layer, own in zip(output.weights, reading.attention["text"], strict=True):
        assert torch.equal(layer[0], own)
    assert torch.equal(reading.field(), field_of_first(output.weights)[0])
    assert torch.equal(reading.importance(), gradient(model.model, batch)[0])
    assert len(reading.tokens) == len(reading.field()) == batch.tokens.shape[1]


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("key", [REVIEWS, LANGUAGE])
def test_weights_that_are_not_finite_are_refused(
    plan: Plan, tmp_path: Path, key: str, number: float
) -> None:
    run = find(plan, key)
    weights = load_file(run.weights)
    name = max(weights)
    weights[name].flat[-1] = number
    save_file(weights, tmp_path / "weights")
    with pytest.raises(UserError, match=f"{tmp_path}/weights: {name} has .* train it again"):
        model_of(plan, replace(run, weights=tmp_path / "weights"))


def test_a_changed_word_is_read_in_its_place(plan: Plan) -> None:
    text, reading = example(loaded(plan, REVIEWS), 0)
    other = reading.replaced(1, "blorp")
    words = text.split()
    assert other.words == [words[0], "blorp", *words[2:]] and other.unknown == ["blorp"]
    assert other.tokens[2] == "<unk>" and reading.unknown == []
    assert other.prediction != reading.prediction


@pytest.mark.parametrize(("key", "space"), [(LANGUAGE, ""), (STREAM, "")])
def test_log_probabilities_sum_to_the_loss(plan: Plan, key: str, space: str) -> None:
    model = loaded(plan, key)
    split = model.corpus.split("test")
    ids = split.tokens[: min(30, split.offsets[1])]
    reading = model.read(space.join(model.corpus.vocabulary[one] for one in ids))
    found = reading.prediction["log_probabilities"]
    tokens = torch.tensor([[1, *ids.tolist()]])
    sides = (tokens,) if key == STREAM else (tokens, torch.ones_like(tokens).bool())
    logits = model.model(*sides).logits[0, :-1]
    loss = torch.nn.functional.cross_entropy(logits, tokens[0, 1:])
    assert -np.mean(found) == pytest.approx(loss.item(), abs=1e-5)
    assert len(found) == len(reading.tokens) - 1 == len(ids)


def test_a_field_of_a_language_model_is_what_its_gradient_can_reach(plan: Plan) -> None:
    _, reading = example(loaded(plan, LANGUAGE), 0)
    field, importance = reading.field(), reading.importance()
    assert field.shape == (len(reading.tokens),) * 2 and not field.triu(1).any()
    assert not importance[~field[-1]].any() and importance[field[-1]].any()


def test_a_sentence_is_translated_as_the_test_split_is(plan: Plan) -> None:
    model = loaded(plan, TRANSLATION)
    split = model.corpus.split("test")
    subject = Subject(model.model, model.corpus, torch.device("cpu"), 0)
    said = detokenised(model.corpus, translate(subject, split, model.search, 4096))
    sources = (model.corpus.folder / "test.source.txt").read_text().splitlines()
    for number in (0, 7):
        reading = model.read(sources[number])
        assert torch.equal(reading.batch.source, collate_pairs(split, np.array([number])).source)
        assert reading.prediction["translation"] == said[number]
    assert model.search.beam == 5


def test_a_field_of_a_translation_is_what_its_gradients_can_reach(plan: Plan) -> None:
    model = loaded(plan, TRANSLATION)
    sources = (model.corpus.folder / "test.source.txt").read_text().splitlines()
    reading = model.read(" ".join(sources[:6]))
    field, importance = reading.field(), reading.importance()
    shape = len(reading.prediction["target"]), len(reading.tokens)
    assert field.shape == importance.shape == shape
    assert field.any() and not field.all()
    assert not importance[~field].any() and importance[field].any()
    places = {place: len(layers) for place, layers in reading.attention.items()}
    assert places == {"encoder": 2, "decoder": 2, "cross": 2}
    assert torch.equal(field, _slow_field(reading))


def _slow_field(reading: Reading) -> torch.Tensor:
    """The field as sets, by the recursion of discrete2020 section 5."""
    encoder, decoder, cross = (
        [(layer != 0).any(dim=0) for layer in layers] for layers in reading.attention.values()
    )
    sources = [{j} for j in range(len(encoder[0]))]
    for reads in encoder:
        sources = [
            set.union(own, *(sources[k] for k in range(len(sources)) if reads[j, k]))
            for j, own in enumerate(sources)
        ]
    reached: list[set[int]] = [set() for _ in range(len(decoder[0]))]
    for own, other in zip(decoder, cross, strict=True):
        reached = [
            set.union(fields, *(reached[k] for k in range(t + 1) if own[t, k]))
            for t, fields in enumerate(reached)
        ]
        reached = [
            set.union(fields, *(one for k, one in enumerate(sources) if other[t, k]))
            for t, fields in enumerate(reached)
        ]
    return torch.tensor([[j in fields for j in range(len(sources))] for fields in reached])


def test_recurrent_models_give_their_attention_alone(plan: Plan) -> None:
    _, review = example(loaded(plan, LSTM), 0)
    (weights,) = review.attention["text"]
    assert weights.shape == (1, 1, len(review.tokens)) and review.tokens[-1] == "<bos>"
    shares = review.prediction["probabilities"].values()
    odds = review.by.model(torch.tensor([_framed(review)])).logits.item()
    assert [*shares] == pytest.approx([1 / (1 + math.exp(odds)), 1 / (1 + math.exp(-odds))])
    translated = loaded(plan, RECURRENT).read("Ein Mann läuft.")
    (cross,) = translated.attention["cross"]
    assert cross.shape == (1, len(translated.prediction["target"]), len(translated.tokens))
    for reading in (review, translated):
        for ask in (reading.field, reading.importance):
            with pytest.raises(InputError, match=r"no [a-z ]+ is computed for a \w+; leave it out"):
                ask()


def _framed(reading: Reading) -> list[int]:
    return [1, *(one for word in reading.words for one in reading.by.form.ids(word)), 1]


@pytest.mark.parametrize(
    ("key", "name"), [(TOY, "LSTMC"), (PROXY, "ClassProxy"), (MULTIVIEW, "MultiviewClassifier")]
)
def test_a_model_that_reads_no_lines_is_refused(plan: Plan, key: str, name: str) -> None:
    with pytest.raises(InputError, match=f"^{key} is a {name}.*, which reads no lines of text"):
        loaded(plan, key)


def test_what_cannot_be_read_is_said(plan: Plan) -> None:
    language = loaded(plan, LANGUAGE)
    with pytest.raises(InputError, match=r'^"\?" is no symbol of the data; these are: \( \) 0 1'):
        language.read("( ? )")
    with pytest.raises(InputError, match=r"^65 tokens are more than the 64 that the model has pos"):
        language.read("(" * 64)
    assert len(language.read("(" * 63).tokens) == 64


def test_published_weights_know_the_words_of_the_explorer(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = find(plan, REVIEWS)
    model = model_of(plan, run)
    few = Words.of(model.corpus, 5)
    arrays = read_weights(run, few).rounded
    file = tmp_path / "weights.safetensors"
    save_file({f"line/{name}": one for name, one in arrays.items()}, file)
    task: Any = {"experiment": "mechanism_matrix", "models": [REVIEWS.split("/")[1]], "words": 5}
    monkeypatch.setattr(trained, "tasks_of", lambda papers: {"sentiment": task})
    kept = model_of(plan, ExplorerRun(run.record, file, "line/"))
    assert kept.form.symbols == few.texts
    *_, frequent, last = few.texts
    text = f"{frequent} {last}"
    own, rounded = model.read(text), kept.read(text)
    assert own.tokens == rounded.tokens
    assert own.prediction["probabilities"] == pytest.approx(
        rounded.prediction["probabilities"], abs=0.01
    )
    rare = next(word for word in model.form.symbols[3:] if word not in few.texts)
    assert kept.read(rare).unknown == [rare] and model.read(rare).unknown == []


def test_a_run_is_found_in_the_results_the_store_and_what_is_published(
    plan: Plan, tmp_path: Path
) -> None:
    run = find(plan, LANGUAGE)
    identity = run.record["identity"]
    store = Path(plan.results) / "store" / identity
    store.mkdir(parents=True)
    (store / "result").symlink_to(run.weights.parent.resolve())
    assert find(plan, identity).weights == store / "result/weights.safetensors"
    lite = trained.configured(trained.ROOT, scale="lite", results=str(tmp_path / "results"))
    published = find(lite, LANGUAGE)
    assert published.prefix == "uniform_discrete/seed-0/"
    assert find(lite, published.record["identity"]) == published
    with pytest.raises(
        InputError, match="the data of stack_language/uniform_discrete/seed-0 are n"
    ):
        model_of(lite, published)


def test_a_name_that_is_no_run_is_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r'RUN="\.\./x": write <experiment>/<variant>/seed-<n>'):
        find(plan, "../x")
    with pytest.raises(
        InputError, match=r'unknown run of scale demo "stack_langage/.*did you mean'
    ):
        find(plan, LANGUAGE.replace("language", "langage"))

    def refuse(spec: object) -> None:
        raise UserError("the code has changed")

    monkeypatch.setattr(finding, "check_run_code", refuse)
    with pytest.raises(UserError, match="the code has changed"):
        find(plan, LANGUAGE)
