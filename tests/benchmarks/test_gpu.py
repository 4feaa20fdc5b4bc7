"""What is timed on a GPU runs, on a CPU at tiny sizes, and its page tells it."""

import json
import multiprocessing
import re

import pytest
import torch

from benchmarks import ceiling, gpu, gpu_table
from benchmarks.models import SHAPES
from benchmarks.record import FOLDER

TINY = {"width": 16, "hidden": 16, "layers": 1, "heads": 4}


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "SHAPES", dict.fromkeys(SHAPES, TINY))
    monkeypatch.setattr(gpu, "PROGRAMS", (1,))
    monkeypatch.setattr(gpu, "CUDA", False)
    monkeypatch.setattr(ceiling, "SIZE", 64)
    # A fork knows these sizes; a new program, as where there is a GPU, would take the real ones.
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: fork)
    threads, mode = torch.get_num_threads(), torch.get_float32_matmul_precision()
    gpu.main(["training", "mechanisms", "search", "sharing", "--out", str(tmp_path)])
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(mode)
    return tmp_path


def test_everything_is_timed(measured):
    rows = json.loads((measured / gpu.MEASURED).read_text())["rows"]
    assert not [row for row in rows.values() if "fails" in row]
    assert all(row["tokens_per_second"] > 0 for row in rows.values())
    starts = {name.split(",")[0].split(" ")[0] for name in rows}
    assert starts == {"train", "mechanisms", "search", "sharing"}


def test_the_page_is_made_of_what_was_measured():
    told = json.loads((FOLDER / gpu.MEASURED).read_text())
    page = gpu_table.page(told)
    assert page == (FOLDER / "gpu.md").read_text()
    line = re.search(r"^\| 32,768 \| ([\d,]+) \| ([\d.]+) \|", page, re.M)
    rate = told["rows"]["train iwslt, 32768 tokens, ours"]["tokens_per_second"]
    share = rate * told["gflop_per_token"]["iwslt"] / told["machine"]["matrix_tflops"]["bf16"] / 1e3
    assert line and line[1] == f"{rate:,.0f}" and float(line[2]) == pytest.approx(share, abs=5e-4)
