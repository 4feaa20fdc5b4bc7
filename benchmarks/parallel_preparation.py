"""Memory and time of preparing a generated corpus as large as a tenth of WMT'14 English-German.

    python -m benchmarks.parallel_preparation --pairs 450000 --folder <folder>

The corpus has as many different words as the whole of WMT'14 (0.95 million English, 1.9 million
German), because memory is needed for these. What else grows is in proportion: `prepare` reads one
text of an archive at a time (90 MB here, 340 MB there), and `encode` holds 64 bytes a pair.

Measured with 450,000 pairs on 2 cores of a busy machine, all processes together: `prepare` 117 MB
and 85 seconds of one core, `encode` with 3,000 merges 813 MB and 219 seconds (each process beside
the main one needs 62 MB). While more merges are learned there is the main process alone, 860 MB
when 24,000 of 32,000 were there. So 4.5 million pairs take about 0.4 GB in `prepare`, and in
`encode`, on 4 cores, less than 0.81 + 2 x 0.06 + 4.05 x 0.064 = 1.2 GB.
"""

import argparse
import io
import json
import resource
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from workflow.datasets.io.multicore import MOST, use
from workflow.datasets.kinds.recipe import load

WHOLE = 4_500_000  # pairs
WORDS = 26  # of a sentence
INTERVAL = 1  # seconds between two looks at the memory
FREQUENT = 100_000  # words that most tokens are
RARE = {"en": 0.85e6, "de": 1.8e6}
"""Further words in a tenth of the pairs, each of which comes once."""
SYLLABLES = [
    first + vowel + last
    for last in ("", "n", "r", "s", "t", "ch", "ng", "l", "st")
    for vowel in ("e", "a", "i", "o", "u", "ei")
    for first in ("", "s", "t", "d", "r", "n", "b", "g", "v", "l", "h", "m", "st", "sch", "k", "w")
]
"""The parts of words; how often they come falls by a power law, as in natural words."""


def vocabulary(count: int, generator: np.random.Generator) -> list[str]:
    """Return so many different words, the first ones shorter."""
    bounds = _bounds(len(SYLLABLES))
    found: dict[str, None] = {}
    while len(found) < count:
        most = 3 if len(found) < FREQUENT else 6
        sizes = generator.integers(1, most, size=50_000, endpoint=True)
        drawn = np.searchsorted(bounds, generator.random(sizes.sum()))
        for end, size in zip(sizes.cumsum().tolist(), sizes.tolist(), strict=True):
            found["".join(SYLLABLES[place] for place in drawn[end - size : end])] = None
    return [word for word in found if word][:count]


def sentences(language: str, pairs: int) -> Iterator[bytes]:
    """Yield lines: words by a power law, and among them the rare ones, evenly spread."""
    generator = np.random.default_rng(sum(language.encode()))
    each, rare = RARE[language] * 10 / WHOLE, 0.0
    words = vocabulary(FREQUENT + int(each * pairs) + 2, generator)
    bounds = _bounds(FREQUENT)
    for _ in range(pairs):
        line = [words[place] for place in np.searchsorted(bounds, generator.random(WORDS))]
        start, rare = int(rare), rare + each
        line[: int(rare) - start] = words[FREQUENT + start : FREQUENT + int(rare)]
        yield f"{' '.join(line).capitalize()}.\n".encode()


def _bounds(count: int) -> NDArray[np.float64]:
    """Return where the ranks of a power law end in [0, 1]."""
    weights = 1 / np.arange(1, count + 1)
    return (weights.cumsum() / weights.sum()).clip(max=1) + 1e-9


def synthesise(folder: Path, pairs: int) -> list[Path]:
    """Write the official files of `wmt14`, nearly all pairs in the first archive."""
    paths = [folder / name for name in load({"dataset": "wmt14"}).files]
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(paths[0], "w:gz", compresslevel=1) as archive:
        for language in ("de", "en"):
            content = b"".join(sentences(language, pairs))
            entry = tarfile.TarInfo(f"training/europarl-v7.de-en.{language}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
            del content
    with tarfile.open(paths[1], "w:gz") as archive:
        for language in ("de", "en"):
            entry = tarfile.TarInfo(f"commoncrawl.de-en.{language}")
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"a b.\n"))
    with zipfile.ZipFile(paths[2], "w") as zipped:
        for language in ("de", "en"):
            zipped.writestr(
                f"training-parallel-nc-v11/news-commentary-v11.de-en.{language}", "a b.\n"
            )
    for path in paths[3:]:
        path.write_bytes(b"a b.\n" * 3000)
    return paths


def measured(stage: str, cores: int, recipe: str, *paths: object) -> None:
    """Run a stage in a process of its own; print its time and the peak of all its processes."""
    process = get_context("spawn").Process(target=_stage, args=(stage, cores, recipe, *paths))
    process.start()
    peak = 0
    while process.is_alive():
        peak = max(peak, memory(psutil.Process(process.pid)))
        process.join(INTERVAL)
    if process.exitcode:
        sys.exit(f"{stage} failed")
    print(f"{stage}: peak {peak / 1e6:.0f} MB", flush=True)


def memory(process: psutil.Process) -> int:
    """Return the bytes that a process and those it started hold, what they share counted once."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += one.memory_full_info().pss
    return total


def _stage(stage: str, cores: int, recipe: str, *paths: object) -> None:
    use(cores)
    made = load(json.loads(recipe))
    start = time.perf_counter()
    getattr(made, stage)(*paths)
    seconds = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    computed = sum(one.ru_utime + one.ru_stime for one in used)
    print(f"{stage}: {seconds:.0f} s, of all cores {computed:.0f} s", flush=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=WHOLE // 10)
    parser.add_argument("--merges", type=int, default=32_000)
    parser.add_argument("--cores", type=int, default=MOST)
    parser.add_argument("--folder", type=Path, required=True, help="to write to; 2 GB")
    arguments = parser.parse_args()
    raw, prepared, encoded = (arguments.folder / name for name in ("raw", "prepared", "encoded"))
    paths = synthesise(raw, arguments.pairs)
    recipe = json.dumps({"dataset": "wmt14", "merges": arguments.merges})
    sizes = (f"{getattr(arguments, name)} {name}" for name in ("pairs", "merges", "cores"))
    print(", ".join(sizes), flush=True)
    measured("prepare", arguments.cores, recipe, paths, prepared)
    measured("encode", arguments.cores, recipe, prepared, encoded)
    manifest = json.loads((encoded / "manifest.json").read_text(encoding="utf-8"))
    print(json.dumps({name: manifest[name] for name in ("splits", "vocabulary_size")}))


if __name__ == "__main__":
    main()
