"""A trained model, and what it makes of a text: `load(run, scale="demo").read("( 1 ( 2 ) )")`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.architectures.classifier import Classifier
from model.architectures.language_model import LanguageModel
from model.architectures.lstm_classifier import LSTMClassifier
from model.architectures.transformer_xl import TransformerXL
from model.architectures.translation.beam_search import Beam
from model.architectures.translation.captioner import Captioner
from model.architectures.translation.recurrent import RecurrentTranslator
from model.architectures.translation.translator import Translator
from model.architectures.translation.with_roles import RoleEncoderDecoder
from model.batches.batching import BOS, Batch
from model.batches.corpus import Corpus
from model.batches.pairs import EOS, PairBatch
from model.build import build
from model.layers.blocks import Embedding
from model.layers.packing import Layout
from model.layers.receptive_field import receptive_field
from model.objectives.classification import framed
from model.probes.importance.classification import token_scores
from model.probes.importance.translation import prediction_scores
from model.probes.next_symbol import as_classifier
from model.probes.quality.translation_scores import detokenised
from model.probes.words.subwords import plain
from workflow import ROOT
from workflow.definitions.configuration import CommandSettings
from workflow.definitions.explorer import explorer_runs
from workflow.definitions.paper import Paper
from workflow.planning.configured import configured
from workflow.planning.plan import Plan, named
from workflow.reporting.explorer.data import corpus_of, tasks_of
from workflow.reporting.explorer.rounded_weights import read_model
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.words import Words
from workflow.runtime.errors import InputError
from workflow.trained.finding import find
from workflow.trained.lines import Form, form_of

TRANSLATORS = (Translator, RecurrentTranslator)
READ = (*TRANSLATORS, Classifier, LSTMClassifier, LanguageModel, TransformerXL)
BEYOND_ATTENTION = (RecurrentTranslator, RoleEncoderDecoder, LSTMClassifier, TransformerXL)
"""Models whose tokens reach a prediction by more than attention, or whose attention is not kept."""
OPINIONS = dict.fromkeys(("sst", "imdb", "yelp", "amazon"), ("negative", "positive"))
CLASSES = {"ag_news": ("World", "Business"), "newsgroups": ("baseball", "hockey"), **OPINIONS}
CLASSES["sms_spam"] = ("ham", "spam")
"""What the two labels of a dataset mean; others are called by their numbers."""


def load(run: str, **settings: Unpack[CommandSettings]) -> "TrainedModel":
    """Return the model of a run, named as in `find`.

    `settings` are keys of the configuration, such as `scale` and `results`.
    """
    plan = configured(ROOT, **settings)
    return model_of(plan, find(plan, run))


def model_of(plan: Plan, run: ExplorerRun) -> "TrainedModel":
    """Return the model of a run; InputError where its data are not here, or it reads no lines."""
    corpus, words = corpus_and_words(plan, run)
    model = read_model(run, words)
    toy = isinstance(model, LSTMClassifier) and run.dataset == "keyword_toy"
    if toy or not isinstance(model, READ) or isinstance(model, Captioner):
        raise InputError(
            f"{run.key} is a {type(model).__name__} on {run.dataset}, which reads no lines of "
            "text; name a run of a translator, a classifier or a language model"
        )
    search = _search(plan.run(*named(run.key)).settings.evaluators)
    return TrainedModel(model, corpus, form_of(corpus, words.texts), search or Beam())


def corpus_and_words(plan: Plan, run: ExplorerRun) -> tuple[Corpus, Words]:
    """Return the data of a run, and the words that its weights have; InputError without data."""
    data = Path(plan.results) / "data"
    if not (run.data(data) / "manifest.json").is_file():
        raise InputError(
            f"{run.data(data)}: the data of {run.key} are not here; python -m workflow use or "
            f"check makes them, and {plan.folder}/logs/explore_data.log says why it can't, such "
            "as without a network or MIRROR="
        )
    corpus, pair = corpus_of(run, data), named(run.key)[:2]
    tasks = [task for task in tasks_of(Paper.all()).values() if pair in explorer_runs(task)]
    # What is published has the words of the explorer alone.
    return corpus, Words.of(corpus, tasks[0].get("words") if run.prefix and tasks else None)


def _search(node: Any) -> Any:
    """Return the search that one of some evaluators translates with, if any does."""
    if not isinstance(node, Mapping):
        return None
    if "search" in node:
        return build(node["search"])
    return next(filter(None, map(_search, node.values())), None)


@dataclass(frozen=True)
class TrainedModel:
    """A model in evaluation mode, its data, and how a text becomes what it reads."""

    model: Any
    corpus: Corpus
    form: Form
    search: Beam

    def read(self, text: str) -> "Reading":
        """Return what the model makes of a text; InputError where it can't be read."""
        return self.read_words(self.form.words(text))

    def read_words(self, words: Sequence[str]) -> "Reading":
        """Return the same of words in the form of the corpus."""
        form, ids = self.form, [self.form.ids(word) for word in words]
        unknown = [word for word, own in zip(words, ids, strict=True) if form.unknown in own]
        if unknown and not form.any_word:
            symbols = " ".join(form.symbols[form.unknown + 1 :])
            raise InputError(f'"{unknown[0]}" is no symbol of the data; these are: {symbols}')
        begin = () if isinstance(self.model, TRANSLATORS) else (BOS,)
        tokens = [*begin, *(token for own in ids for token in own), *form.end]
        parts = [part for part in self.model.modules() if isinstance(part, Embedding)]
        longest = min((len(part.position) for part in parts), default=len(tokens))
        longest = getattr(self.model, "max_length", longest)
        if len(tokens) > longest:
            raise InputError(
                f"{len(tokens)} tokens are more than the {longest} that the model has positions "
                "for; shorten the line"
            )
        made = _read(self, tokens) if begin else _translated(self, tokens)
        return Reading(self, [*words], unknown, *made)


class Prediction(TypedDict, total=False):
    """What is predicted: of a class the first two, of a text or a translation those named so."""

    label: str
    probabilities: dict[str, float]
    """By label."""
    log_probabilities: list[float]
    """Of each token after the first, in nats."""
    translation: str
    target: list[str]
    """The tokens of the translation."""


@dataclass(frozen=True)
class Reading:
    """What a model makes of a text of S tokens; a translator, as T target tokens."""

    by: TrainedModel
    words: list[str]
    """In the form of the corpus."""
    unknown: list[str]
    """Those that the model reads as `<unk>`, wholly or in part."""
    batch: Any
    tokens: list[str]
    """What the model reads: (S,)."""
    prediction: "Prediction"
    attention: dict[str, list[Tensor]]
    """By place of attention the weights (H, queries, keys) of each layer."""

    def field(self) -> Tensor:
        """Return what a prediction can depend on as long as each head looks where it looks.

        Booleans: (S,) of a class; (S, S) of a language model, row i after token i; (T, S).
        """
        self._require_attention("receptive field")
        if "text" in self.attention:
            field = _field(self.attention["text"])
            return field[0] if isinstance(self.by.model, Classifier) else field
        # Both sides are one sequence, the source first.
        encoder, decoder, cross = self.attention.values()
        T, S = cross[0].shape[1:]
        layers = [F.pad(layer, (0, T, 0, T)) for layer in encoder]
        for own, other in zip(decoder, cross, strict=True):
            layers += [F.pad(own, (S, 0, S, 0)), F.pad(other, (0, T, S, 0))]
        return _field(layers)[S:, :S]

    def importance(self) -> Tensor:
        """Return the gradient's norm, at each token, of the predicted probability: (S,) or (T, S).

        Of a language model it is that of the token which is predicted after the text.
        """
        self._require_attention("importance")
        if "text" in self.attention:
            return token_scores(as_classifier(self.by.model), self.batch).norm[0]
        return torch.stack(
            [scores.norm[0] for scores in prediction_scores(self.by.model, self.batch)]
        )

    def replaced(self, place: int, word: str) -> "Reading":
        """Return what the model makes of the text with another of its `words`, from 0."""
        return self.by.read_words([*self.words[:place], word, *self.words[place + 1 :]])

    def _require_attention(self, what: str) -> None:
        if isinstance(self.by.model, BEYOND_ATTENTION):
            name = type(self.by.model).__name__
            raise InputError(f"no {what} is computed for a {name}; leave it out")


def _field(layers: Sequence[Tensor]) -> Tensor:
    return receptive_field([(layer[None] != 0).double() for layer in layers])[0] > 0


@torch.no_grad()
def _read(by: TrainedModel, ids: list[int]) -> tuple[Any, ...]:
    """Return batch, tokens, prediction and attention of a classifier or a language model."""
    tokens, layout = _unpadded(ids)
    batch = Batch(tokens, layout.real, {}, np.zeros(1), 0)
    lstm, stream = isinstance(by.model, LSTMClassifier), isinstance(by.model, TransformerXL)
    sides = framed(batch) if lstm else (tokens,) if stream else (tokens, layout.real)
    output = by.model(*sides)
    # Log-odds are the scores of two classes of which the first has 0.
    logits = F.pad(output.logits[:, None], (1, 0)) if lstm else output.logits
    shares = logits[0].log_softmax(dim=-1)
    if isinstance(by.model, LanguageModel | TransformerXL):
        prediction: Prediction = {
            "log_probabilities": shares[range(len(ids) - 1), ids[1:]].tolist()
        }
    else:
        names = CLASSES.get(by.corpus.manifest["dataset"], ())
        labels = names if len(names) == len(shares) else [*map(str, range(len(shares)))]
        probabilities = dict(zip(labels, shares.exp().tolist(), strict=True))
        prediction = {"label": labels[int(shares.argmax())], "probabilities": probabilities}
    weights = [output.weights[:, None, None]] if lstm else getattr(output, "weights", [])
    attention = {"text": [layer[0] for layer in weights]} if weights else {}
    return batch, [by.form.symbols[token] for token in sides[0][0].tolist()], prediction, attention


@torch.no_grad()
def _translated(by: TrainedModel, ids: list[int]) -> tuple[Any, ...]:
    """Return the same of a translator; the batch has its own translation."""
    source, words = _unpadded(ids), by.corpus.vocabulary
    (best,) = by.search.search(by.model, *source).best()
    target, layout = _unpadded([BOS, *best])
    batch = PairBatch(*source, F.pad(target, (0, 1), value=EOS), layout, np.zeros(1), 0)
    recurrent = isinstance(by.model, RecurrentTranslator)
    asked, read = ({}, [BOS, *ids]) if recurrent else ({"need_weights": True}, ids)
    weights = by.model(*source, target, layout, **asked).weights._asdict()
    pieces = [words[token] for token in best]
    (text,) = detokenised(by.corpus, [plain(pieces)])
    prediction: Prediction = {"translation": text, "target": [*pieces, words[EOS]]}
    attention = {
        place: [layer[0] for layer in layers] for place, layers in weights.items() if layers
    }
    return batch, [by.form.symbols[token] for token in read], prediction, attention


def _unpadded(ids: list[int]) -> tuple[Tensor, Layout]:
    tokens = torch.tensor([ids])
    return tokens, Layout(torch.ones_like(tokens, dtype=torch.bool))
