"""A small project on disk: two experiments of one paper and the parts that they name."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

PARTS = {
    "model/__init__.py": "",
    "model/training/loop.py": "from model.loop import STEPS\ndef train(): return STEPS\n",
    "model/batches/corpus.py": "class Corpus: ...\n",
    "model/training/process_group.py": "def join(): ...\n",
    "model/probes/checkpoint_ranks.py": "class Record: ...\n",
    "model/probes/measure.py": "class Subject: ...\n",
    "model/loop.py": "STEPS = 1\n",
    "model/network.py": "class Network:\n    def __init__(self, width, layers=1): ...\n",
    "model/objectives/loss.py": "def loss(weight: float = 1.0, *, sign: int = 1): ...\n",
    "model/probe.py": "def probe(subject, **options): ...\n",
}

TRAINING = {
    "updates": 10,
    "batch": {"examples": 8},
    "optimizer": {"lr": 0.01, "betas": [0.9, 0.98]},
    "schedule": {"name": "constant"},
    "precision": "fp32",
    "threads": 1,
    "matmul": "highest",
}

EXPERIMENT: dict[str, Any] = {
    "title": "One",
    "source": "nowhere",
    "data": {"dataset": "stack_language", "length": 8, "train": 10, "dev": 5, "test": 5},
    "model": {"path": "model.network:Network", "width": 4},
    "objective": {"path": "model.objectives.loss:loss"},
    "training": TRAINING,
    "evaluators": {"probe": {"path": "model.probe:probe"}},
    "seeds": 3,
    "variants": {"small": {"label": "small"}, "large": {"model": {"width": 8}}},
    "scales": {
        "demo": {"seeds": 1, "only": ["small"], "training": {"updates": 2}},
        "lite": {"variants": {"large": {"training": {"updates": None, "epochs": 1}}}},
    },
}

ABOUT = {
    "title": "Paper",
    "papers": {
        "kinley2020": {
            "title": "A paper",
            "authors": ["A. Author"],
            "year": 2020,
            "venue": "nowhere",
            "link": "https://example.org",
        }
    },
}

CONFIG: dict[str, Any] = {
    "scale": "demo",
    "experiments": "all",
    "seeds": None,
    "mirror": None,
    "device": "auto",
    "overlay": None,
}


class Project:
    """Experiments that a test changes before it writes them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        child = deepcopy(EXPERIMENT)
        child["parents"] = {"first": {"experiment": "one", "variant": "small"}}
        child["training"]["start_from"] = "first"
        child["variants"] = {"tuned": {}}
        child["scales"] = {}
        self.experiments: dict[str, Any] = {"one": deepcopy(EXPERIMENT), "two": child}
        self.config = {**CONFIG, "results": str(root / "results")}
        for path, text in PARTS.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def save(self) -> Path:
        """Write the experiments and return the folder of papers."""
        text = yaml.safe_dump({"experiments": self.experiments}, sort_keys=False)
        self.write("workflow/papers/paper/experiments.yaml", text)
        self.write("workflow/papers/paper/paper.yaml", yaml.safe_dump(ABOUT))
        return self.root / "workflow/papers"


def sentence(make: Callable[..., object], *given: Any, **config: Any) -> str:
    """The one line with which something is refused."""
    with pytest.raises(InputError) as caught:
        make(*given, **config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The small project."""
    return Project(tmp_path)
