"""Tiny runs and their data, as the workflow leaves them, for pages to be made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from model.batches.corpus import Corpus
from model.build import build
from tests.model.corpora import write_corpus
from tests.model.specs import GUMBEL, SOFTMAX, Node, part, shape
from tests.sealing import put
from workflow.definitions.explorer import Task
from workflow.reporting.explorer.data import page_data
from workflow.reporting.explorer.shown import ExplorerRun
from workflow.runtime.integrity import checksums_of

TRANSFORMER = part("architectures.transformer:Transformer", **shape(8, 12, 2), normalizer=SOFTMAX)
LEARNED = {**TRANSFORMER, "normalizer": GUMBEL, "positions": "learned", "max_length": 40}
STREAMS = {**LEARNED, "path": "model.architectures.two_stream:TwoStreamTransformer"}
VIEWS = {**STREAMS, "path": "model.architectures.multiview:MultiviewTransformer", "views": 2}
LANGUAGE_MODEL = part("architectures.language_model:LanguageModel", decoder=LEARNED)
CLASSIFIER = part("architectures.classifier:Classifier", classes=2, encoder=TRANSFORMER)
MULTIVIEW = part("architectures.multiview:MultiviewClassifier", classes=5, encoder=VIEWS)
RECIPE = "0123456789ab"


def task(kind: str, *models: str, **more: Any) -> dict[str, Task]:
    """Return a task `toy` of variants of an experiment `tiny`."""
    said: Any = {"title": "Toy", "about": "A toy.", "kind": kind, "experiment": "tiny"}
    return {"toy": {**said, "models": list(models), "examples": 3, **more}}


class Tiny:
    """A folder of results at scale demo."""

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, root / "data"

    def corpus(
        self,
        splits: Mapping[str, Sequence[Sequence[int]]],
        vocabulary: int | Sequence[str] = 8,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        recipe: str = RECIPE,
        **options: Any,
    ) -> Corpus:
        """Write data as they are encoded."""
        folder = self.data / "toy" / recipe / "encoded"
        corpus = write_corpus(folder, splits, vocabulary, {}, columns, options=options)
        put(folder / "manifest.json", corpus.manifest | {"digest": recipe})
        return corpus

    def run(
        self, variant: str, node: Node, seed: int = 0, recipe: str = RECIPE, words: int = 8
    ) -> nn.Module:
        """Write a run of a model with drawn weights; return the model."""
        torch.manual_seed(100 * len(variant) + seed)
        model: nn.Module = build(node, vocabulary_size=words).eval()
        folder = self.file(variant, seed).parent
        folder.mkdir(parents=True)
        save_file(model.state_dict(), folder / "weights.safetensors")
        labels = {"experiment": "tiny", "variant": variant, "label": variant, "seed": seed}
        data = {"dataset": "toy", "recipe": recipe, "digest": recipe}
        record = {
            "identity": f"{variant}-{seed}",
            "commit": "1234567890abcdef",
            "finished": "2026-07-29",
            "spec": {"run": labels, "model": node, "data": data},
            "files": checksums_of(folder, ["weights.safetensors"]),
            "checkpoints": {},
        }
        put(folder / "run.json", record)
        return model

    def file(self, variant: str, seed: int = 0) -> Path:
        """Return the `run.json` of a run."""
        return self.root / "demo" / "runs" / "tiny" / variant / f"seed-{seed}" / "run.json"

    def page(self, tasks: Mapping[str, Task], scale: str = "demo") -> dict[str, Any]:
        """Return what a page of every run holds."""
        files = sorted(self.root.rglob("run.json"))
        return page_data(scale, tasks, [ExplorerRun.of(path) for path in files], self.data)
