"""Runs of scale demo as the workflow leaves them, but not trained: weights as they are drawn."""

from pathlib import Path

import pytest
from safetensors.torch import save_file

from model.batches.corpus import Corpus
from model.training.loop import build_model
from tests.sealing import put
from workflow import ROOT
from workflow.datasets.kinds.dataset import Dataset
from workflow.datasets.kinds.recipe import load
from workflow.planning.configured import configured
from workflow.planning.identity import complete
from workflow.planning.plan import Plan, named
from workflow.runtime.integrity import checksums_of

LANGUAGE = "stack_language/uniform_discrete/seed-0"
REVIEWS = "mechanism_matrix/sst_gumbel_two_stream/seed-0"
TRANSLATION = "translation/multi30k_en_de_discrete/seed-0"
RECURRENT = "translation_learning/multi30k/seed-0"
LSTM = "classification_learning/sst_attention/seed-0"
STREAM = "language_modelling/prefix_topk/seed-0"
TOY = "keyword_toy/std_1/seed-0"
PROXY = "classification_learning/sst_proxy/seed-0"
MULTIVIEW = "multiview_arithmetic/multiview/seed-0"
KEYS = (LANGUAGE, REVIEWS, TRANSLATION, RECURRENT, LSTM, STREAM, TOY, PROXY, MULTIVIEW)


def make(dataset: Dataset, folder: Path) -> Corpus:
    """Make the data of a dataset that is generated."""
    raw, encoded = folder / "raw", folder / "encoded"
    if not encoded.is_dir():
        raw.mkdir(parents=True)
        (folder / "prepared").mkdir()
        dataset.synthesise(raw)
        dataset.prepare([raw / name for name in dataset.raw], folder / "prepared")
        dataset.encode(folder / "prepared", encoded)
    return Corpus(encoded)


def write_run(plan: Plan, key: str) -> Path:
    """Write a run and its data; return its folder."""
    run = plan.run(*named(key))
    corpus = make(load(run.recipe), Path(plan.results) / "data" / run.data)
    spec = complete(plan.draft(run), corpus.manifest["digest"], {})
    folder = Path(plan.folder) / "runs" / key
    folder.mkdir(parents=True)
    weights = {name: one.clone() for name, one in build_model(spec, corpus).state_dict().items()}
    save_file(weights, folder / "weights.safetensors")
    files = checksums_of(folder, ["weights.safetensors"])
    record = {"identity": spec["identity"], "spec": spec, "files": files, "checkpoints": {}}
    put(folder / "run.json", record)
    return folder


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Return the plan of scale demo, its runs written; change nothing of them."""
    results = tmp_path_factory.mktemp("trained") / "results"
    plan = configured(ROOT, scale="demo", results=str(results))
    for key in KEYS:
        write_run(plan, key)
    return plan
