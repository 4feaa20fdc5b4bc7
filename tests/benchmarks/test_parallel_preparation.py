"""The generated corpus that memory is measured on, small, and the measuring itself."""

import json
import re
import sys
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from benchmarks import parallel_preparation
from benchmarks.parallel_preparation import RARE, WHOLE, main, memory, sentences, vocabulary

MEGABYTE = 1 << 20


@pytest.mark.parametrize("language", ["de", "en"])
def test_frequent_words_fall_by_a_power_law_and_rare_ones_come_once(
    monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setattr(parallel_preparation, "FREQUENT", 50)
    pairs = 400
    lines = [it.decode().removesuffix(".\n").lower().split() for it in sentences(language, pairs)]
    assert len(lines) == pairs and {len(line) for line in lines} == {26}
    each = RARE[language] * 10 / WHOLE
    seed = sum(language.encode())
    words = vocabulary(50 + int(each * pairs) + 2, np.random.default_rng(seed))
    assert len(set(words)) == len(words)
    counts = Counter(word for line in lines for word in line)
    rare = {word: count for word, count in counts.items() if word not in words[:50]}
    assert rare == dict.fromkeys(words[50 : 50 + int(each * pairs)], 1)
    frequent = [counts[word] for word in words[:50]]
    share = [1 / rank for rank in range(1, 51)]
    expected = np.array(share) / sum(share) * sum(frequent)
    assert np.abs(np.array(frequent) - expected).max() < 5 * np.sqrt(expected.max())


def test_both_stages_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parallel_preparation, "FREQUENT", 50)
    monkeypatch.setattr(parallel_preparation, "INTERVAL", 0.01)
    options = {"--pairs": 60, "--merges": 20, "--cores": 1, "--folder": tmp_path}
    line = [str(part) for option in options.items() for part in option]
    monkeypatch.setattr(sys, "argv", ["program", *line])
    main()
    first, *peaks, last = capsys.readouterr().out.splitlines()
    assert first == "60 pairs, 20 merges, 1 cores"
    found = [re.fullmatch(r"(\w+): peak (\d+) MB", peak) for peak in peaks]
    assert [match[1] for match in found if match] == ["prepare", "encode"]
    assert all(10 < int(match[2]) < 1000 for match in found if match)
    told: dict[str, Any] = json.loads(last)
    assert told["splits"]["train"]["examples"] == 60 + 2  # and one of each further archive


def hold(megabytes: int, ready: Any, done: Any) -> None:
    """Hold memory until told to end."""
    held = b"x" * (megabytes * MEGABYTE)
    ready.set()
    done.wait(60)
    assert held


def test_the_memory_of_all_processes_counts() -> None:
    context = get_context("spawn")
    ready, done = context.Event(), context.Event()
    before = memory(psutil.Process())
    child = context.Process(target=hold, args=(100, ready, done))
    child.start()
    assert ready.wait(60)
    grown = memory(psutil.Process()) - before
    done.set()
    child.join()
    assert 100 * MEGABYTE < grown < 250 * MEGABYTE
