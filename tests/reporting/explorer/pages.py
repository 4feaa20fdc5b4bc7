"""Small models with random weights, a page of them, and what is asked of both alike."""

import base64
import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page
from safetensors.torch import save_file
from torch import Tensor, nn

from model.build import build
from model.layers.attention import Routing
from workflow.reporting.explorer.page import render
from workflow.reporting.explorer.rounded_weights import packed, read_weights
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.reporting.explorer.words import Words

WORDS = ["<pad>", "<bos>", "<unk>", *"()+*01234"]
LONGEST = 24
WIDTHS = {"width": 16, "hidden": 24, "layers": 3, "heads": 2, "max_length": LONGEST}
PARTS = "model.architectures"
NORMALIZERS: Mapping[str, Mapping[str, Any]] = {
    "gumbel:Gumbel": {},
    "softmax:Softmax": {},
    "uniform:Uniform": {},
    "topk:TopK": {"k": 3},
    "topk:TopKOfMany": {"k": 4},
    "sparsemax:Sparsemax": {},
    "entmax15:Entmax15": {},
    "entmax_alpha:EntmaxAlpha": {"heads": 2},
}


def encoder(path: str, normalizer: str, norm: str, positions: str, **more: Any) -> dict[str, Any]:
    """Return the node of an encoder."""
    given = {"path": f"model.normalizers.{normalizer}", **NORMALIZERS[normalizer]}
    return {
        "path": f"{PARTS}.{path}",
        "normalizer": given,
        "norm": norm,
        "positions": positions,
        **WIDTHS,
        **more,
    }


def nodes() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield task, name and node of models that have, together, all that the page computes."""
    language = f"{PARTS}.language_model:LanguageModel"
    classifier = {"path": f"{PARTS}.classifier:Classifier", "classes": 3}
    single, two = "transformer:Transformer", "two_stream:TwoStreamTransformer"
    for normalizer, norm in (("gumbel:Gumbel", "pre"), ("softmax:Softmax", "post")):
        decoder = encoder(single, normalizer, norm, "learned")
        yield "next", normalizer.split(":")[1], {"path": language, "decoder": decoder}
    yield (
        "class",
        "two_stream",
        classifier | {"encoder": encoder(two, "gumbel:Gumbel", "pre", "sinusoidal")},
    )
    for normalizer in NORMALIZERS:
        node = encoder(single, normalizer, "pre", "sinusoidal")
        yield "class", normalizer.split(":")[1], classifier | {"encoder": node}
    shared = encoder(two, "gumbel:Gumbel", "post", "learned", share_embeddings=True)
    yield "class", "shared", classifier | {"encoder": shared}
    views = encoder("multiview:MultiviewTransformer", "gumbel:Gumbel", "pre", "sinusoidal", views=2)
    yield (
        "views",
        "multiview",
        {"path": f"{PARTS}.multiview:MultiviewClassifier", "classes": 5, "encoder": views},
    )


def random_model(node: Mapping[str, Any], seed: int) -> nn.Module:
    """Return a model whose heads look in different places, its weights rounded as the page's."""
    torch.manual_seed(seed)
    model: nn.Module = build(node, vocabulary_size=len(WORDS))
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, Routing):
                part.query.weight *= 5
        for name, parameter in model.named_parameters():
            if name.endswith(("bias", "logit")):
                parameter.normal_(std=0.3)
            parameter.copy_(parameter.half().float())
    return model.eval()


def pages(folder: Path) -> tuple[dict[str, Any], dict[tuple[str, str], nn.Module]]:
    """Return a page's data, and its models by task and name."""
    words = Words(WORDS, np.arange(len(WORDS)), len(WORDS))
    models, tasks = {}, []
    for kind, group in itertools.groupby(nodes(), lambda one: one[0]):
        shown = []
        for _, name, node in group:
            models[kind, name] = random_model(node, len(models))
            # Shared weights are two tensors of the file, as training writes them.
            weights = {key: one.clone() for key, one in models[kind, name].state_dict().items()}
            run = ExplorerRun({"spec": {"model": node}}, folder / "weights.safetensors")
            save_file(weights, run.weights)
            read = read_weights(run, words)
            index, content = packed(read.cut(LONGEST))
            shown.append(
                {"name": name, "label": name.replace("_", " "), "view": None, "spec": node}
                | {"run": f"{kind}/{name}/seed-0", "identity": "1234", "commit": "5678"}
                | {"command": "make run", "tensors": index, "weights": content}
            )
        tasks.append(task(kind, shown))
    return {
        "scale": "demo",
        "tasks": tasks,
        "recorded": [recording("soft", 0.2), recording("sharp", 0.0)],
        "lacking": [],
    }, models


def task(kind: str, models: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a task of some models, with two examples; a class may have a word unknown to it."""
    texts = ["( 1 1 ) ( ( 2 ) 1 )", "( ( ) 0 )"] if kind != "views" else ["( 4 + 1 ) * 3", "1 + 2"]
    texts += ["( <unk> ) 1"] if kind == "class" else []
    tokens = [[WORDS.index(word) for word in text.split()] for text in texts]
    return {
        "name": kind,
        "title": kind,
        "about": "A task.",
        "kind": kind,
        "words": WORDS,
        "specials": 2 if kind == "class" else 3,
        "first": 1,
        "classes": {"class": ["bad", "fair", "good"], "views": list("01234")}.get(kind),
        "opens": {"text": "( 3 )", "place": 2, "word": "4"} if kind == "class" else None,
        "longest": LONGEST,
        "closes": 20 if kind == "next" else None,
        "trained": 20,
        "examples": [
            {
                "tokens": one if kind != "views" else {"infix": one},
                "label": 2 if kind == "class" else None,
            }
            for one in tokens
        ],
        "models": models,
    }


def recording(name: str, elsewhere: float) -> dict[str, Any]:
    """Return a translation of three tokens to two that reads along the diagonal, and elsewhere."""
    rows = [[1 - 2 * elsewhere if i == j else elsewhere for j in range(3)] for i in range(3)]
    sentence = {
        "source": ["ein", "Hund", "</s>"],
        "target": ["a", "</s>"],
        "predicted": ["the", "</s>"],
        "encoder": [[rows]],
        "decoder": [[[[1.0, 0.0], [0.0, 1.0]]]],
        "cross": [[rows[:2]]],
        "importance": [[0.1, 0.3, 0.0], [0.0, 0.0, 0.2]],
    }
    told = {"name": name, "label": name, "run": f"toy/{name}/seed-0"}
    return {**told, "sentences": [sentence] * 2}


def write(folder: Path) -> tuple[Path, dict[tuple[str, str], nn.Module]]:
    """Write the page; return it and its models."""
    data, models = pages(folder)
    file = folder / "explorer.html"
    file.write_text(render(data), encoding="utf-8")
    return file, models


def sentences(count: int, length: int, seed: int) -> Tensor:
    """Return random tokens (N, T), BOS first."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(3, len(WORDS), (count, length), generator=generator)
    tokens[:, 0] = 1
    return tokens


CHANGE = """async ([task, model, all]) => {
  const found = [];
  for (const [tokens, at, place, word] of all) {
    const asked = { task, model, view: 0, tokens, at, place, word };
    const { outside, flips, same } = await ask({ ask: "counterfactual", ...asked });
    found.push([outside, flips.length > 0, same]);
  }
  return found;
}"""


def changes(page: Page, task: str, model: str, asked: list[list[Any]]) -> Any:
    """Return of each tokens, position, place and word: outside, flipped, same."""
    return page.evaluate(CHANGE, [task, model, asked])


def decoded(model: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays of a model of a page."""
    content = base64.b64decode(model["weights"])
    return {
        name: np.frombuffer(
            content, f"<{told['type']}", math.prod(told["shape"]), told["at"]
        ).reshape(told["shape"])
        for name, told in model["tensors"].items()
    }


def rebuilt(model: Mapping[str, Any], words: int) -> nn.Module:
    """Return a model of a page as a module."""
    made: nn.Module = build(model["spec"], vocabulary_size=words)
    own = made.state_dict()
    for name, array in decoded(model).items():
        if name in own:  # computed positions are not
            own[name][: len(array)] = torch.from_numpy(array.astype(np.float32))
    return made.eval()


def of_torch(model: Any, tokens: Tensor, view: int = 0) -> tuple[Tensor, list[Tensor]]:
    """Return log-probabilities (N, ...) of tokens (N, T) and the weights of each layer."""
    real = torch.ones_like(tokens, dtype=torch.bool)
    with torch.no_grad():
        if not hasattr(getattr(model, "encoder", None), "controllers"):
            found = model(tokens, real)
            return found.logits.log_softmax(-1), found.weights
        both, shown = tokens.expand(2, *tokens.shape), real.expand(2, *real.shape)
        rows = slice(view * len(tokens), (view + 1) * len(tokens))
        weights = [one[rows] for one in model.encoder(both, shown).weights]
        return model(both, shown)[view].log_softmax(-1), weights
