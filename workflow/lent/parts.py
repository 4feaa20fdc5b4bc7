"""What is computed on a device and on the CPU: every mechanism, layers, models, searches, probes.

Dimensions: B texts, H heads, T queries, S keys, D width, K = D / H, N packed tokens.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model import normalizers
from model.architectures.translation.beam_search import Beam
from model.batches.batching import collate
from model.batches.corpus import Corpus
from model.batches.pairs import collate_pairs
from model.build import Node, build
from model.layers.attention import Routing, Values, padding_mask
from model.layers.blocks import Embedding, FeedForward, Residual
from model.layers.packing import Layout
from model.layers.role_interaction import RoleInteraction, Roles
from model.layers.steps import context_after, scores_before
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.importance.explanations import explanations
from model.training.optimization import uses_bf16
from workflow.lent.tiny import HEADS, WIDTH, WORDS

TEXTS, QUERIES, KEYS, OPEN = 2, 12, 40, 30
"""B, T and S of scores, and the keys that the second text has."""
SHAPE = {"width": WIDTH, "hidden": 2 * WIDTH, "layers": 2, "heads": HEADS}
SINGLE, HALF = torch.float32, torch.bfloat16


Computed = Callable[[torch.device, torch.dtype], list[Tensor]]
"""From a device and `SINGLE` or `HALF` to numbers, seeded alike."""


class ComparedPart(NamedTuple):
    """Something that is computed.

    Attributes:
        name: of it.
        computed: that is compared.
        kinds: `SINGLE`, `HALF` or both.
        exact: whether nothing may differ.
    """

    name: str
    computed: Computed
    kinds: tuple[torch.dtype, ...] = (SINGLE, HALF)
    exact: bool = False


class SameNoise(TorchFunctionMode):
    """Uniform noise that is the same on every device and in every precision."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call a function of torch, but for `rand_like`."""
        if func is torch.rand_like:
            return torch.randint(1, 256, args[0].shape).div(256).to(args[0])
        return func(*args, **(kwargs or {}))


def parts(data: Mapping[str, Corpus]) -> Iterator[ComparedPart]:
    """Yield all that is checked.

    Args:
        data: a corpus by each name that `workflow.lent.tiny.corpus` knows.
    """
    for path in mechanisms():
        yield ComparedPart(path.removeprefix("model."), of_mechanism(path))
    for name, layer in LAYERS.items():
        yield ComparedPart(f"layers.{name}", of_layer(layer))
    for name, (model, objective, kind) in MODELS.items():
        # Rounding chooses other keys; and oneDNN has no LSTM in bf16 on a CPU without bf16.
        single = model is SPARSE or (name == "recurrent" and not has_bf16())
        kinds = (SINGLE,) if single else (SINGLE, HALF)
        yield ComparedPart(f"architectures.{name}", of_model(model, objective, data[kind]), kinds)
        if kind == "pairs":
            for beams in (1, 4):
                computed = of_search(model, beams, data[kind])
                yield ComparedPart(f"beam {beams}, {name}", computed, (SINGLE,), exact=True)
    yield ComparedPart("architectures.transformer_xl", of_segments)
    for name in explanations(4):
        yield ComparedPart(f"probes.{name}", of_probe(name, data["texts"]), (SINGLE,))


def has_bf16() -> bool:
    """Whether the device that is checked, a GPU or else the CPU, would train in bf16."""
    return uses_bf16("bf16", torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def mechanisms() -> list[str]:
    """Paths of all mechanisms, `model.normalizers.softmax:Softmax` and the like."""
    found = []
    for module in pkgutil.iter_modules(normalizers.__path__, f"{normalizers.__name__}."):
        for name, part in vars(importlib.import_module(module.name)).items():
            own = isinstance(part, type) and part.__module__ == module.name
            if own and issubclass(part, nn.Module) and not name.startswith("_"):
                found.append(f"{module.name}:{name}")
    return found


def of_mechanism(path: str) -> Computed:
    """Weights, in training and afterwards, and what its step after reading makes; gradients."""

    def computed(device: torch.device, kind: torch.dtype) -> list[Tensor]:
        # Multiples of 1/4, all different, so that bf16 has them too and chooses the same keys.
        order = torch.rand(TEXTS, HEADS, QUERIES, KEYS).argsort(-1)
        scores = ((order - KEYS // 2) / 4).to(device, kind)
        scores[1, ..., OPEN:] = -math.inf
        context = torch.randn(TEXTS, HEADS, QUERIES, WIDTH // HEADS).to(device, kind)
        queries, keys = (
            torch.randn(TEXTS, length, WIDTH).to(device, kind) for length in (QUERIES, KEYS)
        )
        leaves = [one.requires_grad_() for one in (scores, context)]
        part = build({"path": path}, heads=HEADS, width=WIDTH, head_width=WIDTH // HEADS)
        part.to(device)
        with autocast(device, kind):
            changed = scores_before(part, scores, queries, keys)
            read = [context_after(part, context, queries)] if hasattr(part, "after") else []
        found = [*(part.train(training)(changed) for training in (True, False)), *read]
        grown = gradients(found, [*leaves, *part.parameters()])
        grown[0] = grown[0].masked_fill(scores.isinf(), 0)
        return found + grown

    return computed


class AttentionStep(nn.Module):
    """Attention, explicit or by the device's fused kernel."""

    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.routing, self.values, self.fused = Routing(WIDTH, HEADS), Values(WIDTH, HEADS), fused

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """x (N, D) to what is read (N, D)."""
        x, mask = padded(x, layout), padding_mask(layout.real)
        if self.fused:
            return layout.pack(self.routing.read_fused(x, x, mask, self.values))
        return layout.pack(self.values(x, self.routing(x, x, mask).softmax(dim=-1)))


class Blocks(nn.Module):
    """Embedding, feed-forward part and residual connection."""

    def __init__(self, norm: str, positions: str) -> None:
        super().__init__()
        self.embedding = Embedding(WORDS, WIDTH, positions, 64, 0.0)
        self.residual = Residual(WIDTH, norm, 0.0)
        self.feed_forward = FeedForward(WIDTH, 2 * WIDTH, 0.0)

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """x (N, D), and a word for each, to (N, D)."""
        words = (layout.real.cumsum(dim=1) * layout.real) % WORDS
        x = x + layout.pack(self.embedding(words))
        return self.residual.leave(x, self.feed_forward(self.residual.enter(x)))


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "attention": partial(AttentionStep, fused=False),
    "attention, fused": partial(AttentionStep, fused=True),
    "blocks, pre": partial(Blocks, "pre", "learned"),
    "blocks, post": partial(Blocks, "post", "sinusoidal"),
    "role_interaction, soft": lambda: roles(assignment=Softmax()),
    "role_interaction, one-hot": lambda: roles(assignment=Gumbel()),
    "role_interaction, rank 1": lambda: roles(combination="rank_1"),
    "role_interaction, causal convolution": lambda: roles(causal=True, window=3),
}


def roles(causal: bool = False, **kind: Any) -> RoleInteraction:
    """The Role Interaction Layer with 5 roles."""
    return RoleInteraction(WIDTH, Roles(5, **kind), causal, 0.0)


def part(path: str, **arguments: Any) -> Node:
    """The node of a part of `model`."""
    return {"path": f"model.{path}", **arguments}


SOFTMAX, GUMBEL = part("normalizers.softmax:Softmax"), part("normalizers.gumbel:Gumbel")
TRANSLATION = part("objectives.translation:Translation")
TRANSLATORS = "architectures.translation"
RECURRENT = {"width": WIDTH, "hidden": WIDTH, "normalizer": SOFTMAX}
TRANSFORMER = part(f"{TRANSLATORS}.encoder_decoder:EncoderDecoder", **SHAPE, normalizer=SOFTMAX)
# Its weights are formed, where soft attention on a GPU is fused.
SPARSE = {**TRANSFORMER, "normalizer": part("normalizers.topk:TopK", k=4)}
LSTM = part("architectures.lstm_classifier:LSTMClassifier", **RECURRENT)
BINARY = part("objectives.classification:BinaryClassification")
ROLES = part("layers.role_interaction:Roles", number=5, assignment=SOFTMAX)


def classifier(encoder: str, normalizer: Node) -> Node:
    """The node of a classifier."""
    encoder_node = part(f"architectures.{encoder}", **SHAPE, normalizer=normalizer)
    return part("architectures.classifier:Classifier", classes=2, encoder=encoder_node)


SOFT_CLASSIFIER = classifier("transformer:Transformer", SOFTMAX)
CLASSIFICATION = part("objectives.classification:Classification")
MODELS: dict[str, tuple[Node, Node, str]] = {
    "transformer": (SOFT_CLASSIFIER, CLASSIFICATION, "texts"),
    "two_stream": (classifier("two_stream:TwoStreamTransformer", GUMBEL), CLASSIFICATION, "texts"),
    "lstm_classifier": (LSTM, BINARY, "texts"),
    "copying": (
        part("architectures.copying:CopyingModel", width=WIDTH, hidden=WIDTH),
        part("objectives.copying:Copying"),
        "copies",
    ),
    "encoder_decoder": (TRANSFORMER, TRANSLATION, "pairs"),
    "encoder_decoder, top-k": (SPARSE, TRANSLATION, "pairs"),
    "two_stream_translator": (
        part(f"{TRANSLATORS}.two_stream:TwoStreamEncoderDecoder", **SHAPE, normalizer=GUMBEL),
        TRANSLATION,
        "pairs",
    ),
    "with_roles": (
        part(
            f"{TRANSLATORS}.with_roles:RoleEncoderDecoder", **SHAPE, normalizer=SOFTMAX, roles=ROLES
        ),
        TRANSLATION,
        "pairs",
    ),
    "recurrent": (
        part(f"{TRANSLATORS}.recurrent:RecurrentTranslator", **RECURRENT, layers=2, dropout=0.0),
        TRANSLATION,
        "pairs",
    ),
}
"""Model, objective, and the data that they read."""
RUNS = {"Transformer": MODELS["encoder_decoder"], "LSTM": MODELS["lstm_classifier"]}
"""What is trained, and watched."""


def of_layer(make: Callable[[], nn.Module]) -> Computed:
    """What a layer makes of three texts side by side; gradients."""

    def computed(device: torch.device, kind: torch.dtype) -> list[Tensor]:
        layer, lengths = make(), torch.tensor([5, 11, 8])
        layout = Layout(torch.arange(11)[None] < lengths[:, None])
        x = torch.randn(int(lengths.sum()), WIDTH).to(device).requires_grad_()
        with autocast(device, kind):
            found = layer.to(device)(x, layout.to(device))
        return [found, *gradients([found], [x, *layer.parameters()])]

    return computed


def of_model(node: Node, objective: Node, data: Corpus) -> Computed:
    """A model's loss on a batch; gradients."""

    def computed(device: torch.device, kind: torch.dtype) -> list[Tensor]:
        model = build(node, vocabulary_size=WORDS).to(device)
        split = data.split("train")
        gather = collate_pairs if "source" in split.columns else collate
        batch: Any = gather(split, np.arange(16))
        with autocast(device, kind):
            loss = build(objective).loss(model, batch.to(device), 0.0).mean
        return [loss, *gradients([loss], model.parameters())]

    return computed


def of_segments(device: torch.device, kind: torch.dtype) -> list[Tensor]:
    """What a Transformer-XL says of a text's second segment, after the first; gradients."""
    node = part(
        "architectures.transformer_xl:TransformerXL",
        **SHAPE,
        normalizer=SOFTMAX,
        memory=8,
        streams=4,
    )
    model = build(node, vocabulary_size=WORDS).to(device)
    first, second = torch.randint(0, WORDS, (2, 4, 8)).to(device)
    with autocast(device, kind):
        found = model(second, model(first).memory).logits
    return [found, *gradients([found], model.parameters())]


def of_search(node: Node, beams: int, data: Corpus) -> Computed:
    """Translations of sixteen sentences."""

    def computed(device: torch.device, kind: torch.dtype) -> list[Tensor]:
        model = build(node, vocabulary_size=WORDS).to(device).eval()
        batch = collate_pairs(data.split("test"), np.arange(16)).to(device)
        return [Beam(beams).search(model, batch.source, batch.source_layout).tokens]

    return computed


def of_probe(method: str, data: Corpus) -> Computed:
    """Scores of the tokens of sixteen texts by a method of explanation."""

    def computed(device: torch.device, kind: torch.dtype) -> list[Tensor]:
        model = build(SOFT_CLASSIFIER, vocabulary_size=WORDS).to(device).eval()
        batch = collate(data.split("test"), np.arange(16)).to(device)
        return [explanations(4)[method](model, batch).masked_fill(~batch.real, 0)]

    return computed


def autocast(device: torch.device, kind: torch.dtype) -> torch.autocast:
    """Products in a precision, whether the device has it in hardware or not."""
    return torch.autocast(device.type, HALF, enabled=kind == HALF)


def gradients(found: Sequence[Tensor], leaves: Iterable[Tensor]) -> list[Tensor]:
    """Of a sum with weights that are drawn, by each leaf; 0 where nothing depends on it."""
    total = torch.zeros(())
    for one in found:
        slope = torch.randn(one.shape).to(one.device)
        total = total.to(one.device) + (one.float() * slope).sum()
    leaves = list(leaves)
    if not total.requires_grad:
        return [torch.zeros_like(leaf) for leaf in leaves]
    return list(torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True))


def padded(x: Tensor, layout: Layout) -> Tensor:
    """x (N, D) to (B, T, D), 0 at padding."""
    out = x.new_zeros(*layout.real.shape, x.shape[-1])
    return out.masked_scatter(layout.real[..., None], x)
