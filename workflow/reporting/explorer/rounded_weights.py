"""The weights of a run as the page has them: rounded, of the words that it knows, in one text."""

import base64
from dataclasses import dataclass
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from model.build import build
from model.layers.blocks import Embedding
from model.training.loop import TrainingFailed, load_weights
from workflow.reporting.explorer.shown import Arrays, ExplorerRun
from workflow.reporting.explorer.words import Words
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import Damaged


@dataclass(frozen=True)
class RoundedWeights:
    """The weights of one model."""

    rounded: Arrays
    """The state dict, float16; embeddings have a row for each of the page's words."""
    positions: Arrays
    """Positions that are computed, not trained, float32."""
    embeddings: list[str]
    """Names of the embeddings, with their own positions."""

    @property
    def longest(self) -> int:
        """The most tokens of an input, BOS counted."""
        both = {**self.rounded, **self.positions}
        return min(len(both[f"{name}.position"]) for name in self.embeddings)

    def cut(self, length: int) -> Arrays:
        """Return all arrays, the positions for inputs of at most so many tokens, BOS counted."""
        short = {f"{name}.position" for name in self.embeddings}
        both = {**self.rounded, **self.positions}
        return {name: one[:length] if name in short else one for name, one in both.items()}


def read_weights(run: ExplorerRun, words: Words) -> RoundedWeights:
    """Read the weights of a run, of all words or the kept ones, as `read_model` does."""
    model = read_model(run, words)
    rounded = {name: one.half().numpy() for name, one in model.state_dict().items()}
    parts = _embeddings(model)
    positions = {
        f"{name}.position": part.position.numpy()
        for name, part in parts.items()
        if f"{name}.position" not in rounded
    }
    return RoundedWeights(rounded, positions, [*parts])


def read_model(run: ExplorerRun, words: Words) -> nn.Module:
    """Read the trained model of a run, with all words or the kept ones.

    Raises:
        Damaged: the file of its weights can't be read.
        ReportingError: they are of another model, or a number of theirs is not finite.
    """
    path, prefix = run.weights, run.prefix
    try:
        every = load_file(path)
    except (OSError, SafetensorError) as error:
        raise Damaged(path, f"{path} cannot be read ({error})") from None
    given = {name[len(prefix) :]: one for name, one in every.items() if name.startswith(prefix)}
    for name, one in given.items():
        if not one.isfinite().all():
            raise ReportingError(
                f"{path}: {name} has numbers that are NaN or infinite, so this model computes "
                "nothing; lower training.optimizer.lr and train it again"
            )
    model: nn.Module = build(run.record["spec"]["model"], vocabulary_size=len(words.texts))
    tables = {f"{name}.token.weight" for name in _embeddings(model)}
    kept = {name: _kept(one, words) if name in tables else one for name, one in given.items()}
    try:
        load_weights(model, kept, str(path))
    except TrainingFailed as error:
        raise ReportingError(str(error)) from None
    return model.eval()


def _embeddings(model: nn.Module) -> dict[str, Embedding]:
    return {name: part for name, part in model.named_modules() if isinstance(part, Embedding)}


def _kept(table: Tensor, words: Words) -> Tensor:
    """Return the rows of the page's words, of a table that may have these alone already."""
    return table[words.kept] if len(table) == words.whole else table


def packed(arrays: Arrays) -> tuple[dict[str, Any], str]:
    """Return arrays as the page's index of them and one text.

    Returns:
        For each tensor `shape`, `type` (`f2` or `f4`, little-endian) and `at`, the byte where it
        begins; and all bytes in base64.
    """
    index, content = {}, bytearray()
    for name, array in arrays.items():
        kind = f"f{array.itemsize}"
        index[name] = {"shape": list(array.shape), "type": kind, "at": len(content)}
        content += array.astype(f"<{kind}").tobytes()
    return index, base64.b64encode(content).decode()
