"""Edit what a person writes or a disk holds, at random: each edit is accepted, or is a sentence.

    python -m tests.laboratory.swept [--edits 1000] [--seed 0]

Overlays, the files of an own dataset, archives, results and environment variables take turns. What
reads them is called in this process. An edit may be accepted, with the right value, or refused:
status 1 and one sentence. A traceback, a hang or a wrong value fails.
"""

import argparse
import contextlib
import gzip
import io
import os
import random
import re
import shutil
import signal
import sys
import tarfile
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.datasets.folders import tar, zipped
from tests.reporting.synthetic import Results
from workflow import ROOT
from workflow.commands import merge
from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.io.archives import members
from workflow.datasets.io.dataset_files import read_records
from workflow.datasets.kinds.recipe import load
from workflow.datasets.multi30k import NAMES
from workflow.definitions.loader import read_yaml
from workflow.definitions.paper import Paper
from workflow.planning.configured import configured
from workflow.planning.folders import check_home, check_surroundings
from workflow.reporting.measures import Measures
from workflow.reporting.tables.tabulating import tabulate
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.integrity import with_checksum, write_archive

LONGEST = 30
"""Seconds after which a call hangs."""
ODD = (
    *("-1", "0", "1", "1e9", "1e-300", "1e400", ".nan", ".inf", "3.5", "null", "true", "[]", "{}"),
    *("text", '""', "'a b'", "../x", "$HOME", "~", "ü", '"\\u0000"', "[1, 2]", "{a: 1}", "9" * 400),
    *("2026-11-27", "0x1f", "1_000", "&a", "*a", "!!python/object:os.system", "[" * 200, "%", "@x"),
)
"""What a value of YAML or a variable becomes."""
BYTES = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\t", b"\n\n", b'"', "\u2028".encode())
"""What gets into a file by chance."""
OVERLAY = """
experiments: all
seeds: 1
device: cpu
budget: {gpu_hours: 3}
overlay:
  name: swept
  experiments:
    stack_language:
      training: {epochs: 2, optimizer: {lr: 5e-4, betas: [0.9, 0.98]}, batch: {examples: 64}}
      model: {decoder: {width: 32, hidden: 64, heads: 2, layers: 1, dropout: 0.1}}
      resources: {memory: 2GB, runtime: 1h}
      seeds: 2
    copying_mechanisms:
      training: {optimizer: {lr: 2e-3}}
      variants: {control_softmax: {seeds: [0]}}
"""
MESSAGES = [f"{label}\tText {label} {n}, OK?" for n in range(20) for label in ("ham", "spam")]
PACKED = {f"corpus/{name}.txt": name.encode() * 500 for name in ("train", "dev", "test")}
VARIABLES = (
    *("HOME", "TMPDIR", "XDG_CACHE_HOME", "SACCADE_STORE", "SACCADE_MIRROR", "LANG", "COLUMNS"),
    *("OMP_NUM_THREADS", "SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES", "PYTHONUTF8", "SACCADE_FORKS"),
)


class Wrong(Exception):
    """An edit was accepted with another value than the right one."""


def edited(draw: random.Random, content: bytes) -> tuple[str, bytes]:
    """Change some bytes, lines, values or the length of a file; say what was done."""
    at = draw.randrange(len(content))
    lines = content.split(b"\n")
    line = draw.randrange(len(lines))
    values = [*re.finditer(rb"[\w.-]+(?=[,}\]\n])", content)]
    words = [*re.finditer(rb"[a-z_]{3,}", content)]
    word = draw.choice(words) if words else None
    choices = {
        f"a bit at {at}": content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)])
        + content[at + 1 :],
        f"cut at {at}": content[:at],
        f"line {line + 1} away": b"\n".join(lines[:line] + lines[line + 1 :]),
        f"line {line + 1} twice": b"\n".join([*lines[: line + 1], *lines[line:]]),
        f"odd bytes at {at}": content[:at] + draw.choice(BYTES) + content[at:],
    }  # fmt: skip
    for value in draw.choices(values, k=4) if values else ():  # so often as all else together
        other = draw.choice(ODD).encode()
        told = f"{value[0].decode(errors='replace')} -> {other.decode()[:20]}"
        choices[told] = content[: value.start()] + other + content[value.end() :]
    if word:
        swapped = word[0][1:2] + word[0][:1] + word[0][2:]
        choices[f"{word[0].decode()} misspelt"] = (
            content[: word.start()] + swapped + content[word.end() :]
        )
    what = draw.choice(sorted(choices))
    return what, choices[what]


class Sweep:
    """Edits of every kind, each in a folder of its own.

    Args:
        folder: to work in.
        seed: of what is drawn.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.draw = folder, random.Random(seed)
        self.results = Results(folder / "made", "lite")
        for seed_ in (0, 1):
            self.results.add("stack_language", "uniform_soft", seed_)
        self.paper = Paper("discrete_transformer")
        self.table = self._table(folder / "made")
        self.kinds: Mapping[str, Callable[[Path], tuple[str, Callable[[], None]]]] = {
            "overlay": self.overlay,
            "dataset": self.dataset,
            "pairs": self.pairs,
            "archive": self.archive,
            "bundle": self.bundle,
            "result": self.result,
            "variable": self.variable,
        }

    def run(self, edits: int, say: Callable[[str], None]) -> list[str]:
        """Make so many edits; return what was wrong."""
        wrong, counts = [], Counter[str]()
        for number in range(edits):
            kind = [*self.kinds][number % len(self.kinds)]
            folder = self.folder / str(number)
            folder.mkdir()
            what, call = self.kinds[kind](folder)
            outcome = outcome_of(call)
            counts[outcome.partition(":")[0]] += 1
            say(f"{number} {kind}, {what}: {outcome}")
            if not outcome.startswith(("accepted", "refused")):
                wrong.append(f"{number} {kind}, {what}: {outcome}")
            shutil.rmtree(folder)
        say(f"{dict(counts)}")
        return wrong

    def overlay(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change an overlay: each setting that it has is that of its runs."""
        what, content = edited(self.draw, OVERLAY.encode())
        file = folder / "mine.yaml"
        file.write_bytes(content)

        def call() -> None:
            plan = configured(ROOT, [file], results=str(folder / "results"))
            overlay: Any = read_yaml(file).get("overlay") or {}
            asked = overlay.get("experiments") or {}
            for name, settings in asked.items():
                for run in plan.runs(name):
                    plan.parents(run)
                    draft = plan.draft(run)
                    for part in ("model", "training"):
                        require(settings.get(part) or {}, draft[part], f"{name}.{part}")

        return what, call

    def dataset(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change a file of labelled texts: each that has words is in a split, or is counted."""
        content = "\n".join([*MESSAGES, ""]).encode()
        what, content = edited(self.draw, content)
        file = folder / "raw" / "SMSSpamCollection"
        file.parent.mkdir()
        file.write_bytes(content)

        def call() -> None:
            dataset = load({"dataset": "sms_spam"})
            dataset.prepare([file], folder / "prepared")
            dataset.encode(folder / "prepared", folder / "encoded")
            found = [
                (record["text"], record["label"])
                for split in ("train", "dev")
                for record in read_records(folder / "prepared" / f"{split}.jsonl")
            ]
            lines = re.split("\r\n|\n", content.decode(errors="replace").removeprefix("\ufeff"))
            labels = Counter(int(line.startswith("spam")) for line in lines if worded(line))
            if labels != Counter(label for _, label in found):
                raise Wrong(f"{labels} in the file, {Counter(label for _, label in found)} taken")

        return what, call

    def pairs(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change a side of a parallel corpus: but for the lines in question, both sides agree."""
        texts = {
            f"{name}.{language}": "".join(f"{word} {n}, {n}.\n" for n in range(10, 30)).encode()
            for name in NAMES.values()
            for language, word in (("de", "Männer"), ("en", "men"))
        }
        name = self.draw.choice(sorted(texts))
        what, texts[name] = edited(self.draw, texts[name])
        (folder / "raw").mkdir()
        for file, content in texts.items():
            (folder / "raw" / f"{file}.gz").write_bytes(gzip.compress(content))

        def call() -> None:
            dataset = load({"dataset": "multi30k", "merges": 5})
            dataset.prepare([*(folder / "raw").iterdir()], folder / "prepared")
            dataset.encode(folder / "prepared", folder / "encoded")
            for split in NAMES:
                sides = [
                    prepared_lines(folder / "prepared" / f"{split}.{side}.txt")
                    for side in ("source", "target")
                ]
                found = [[re.findall(r"\d+", line) for line in side] for side in sides]
                apart = sum(one != other for one, other in zip(*found, strict=True))
                if apart > 1:
                    raise Wrong(f"{apart} pairs of {split} are of different lines")

        return f"{name}, {what}", call

    def archive(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change an archive: where it has checksums of its own, its files are the same."""
        form = self.draw.choice(("w:gz", "w:xz", "w:bz2", "zip"))
        whole = zipped(PACKED) if form == "zip" else tar(PACKED, form)
        what, content = edited(self.draw, whole)
        file = folder / "corpus"
        file.write_bytes(content)

        def call() -> None:
            found = dict(members(file, lambda name: name.endswith(".txt")))
            if any(PACKED.get(name, content) != content for name, content in found.items()):
                raise Wrong("another content was read")

        return f"{form}, {what}", call

    def bundle(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Give `merge` an archive with odd members, or an odd listing: nothing is added."""
        file = folder / "results.tar"
        name = self.draw.choice(("/etc/x", "../x", "store/a/result/run.json", "a\nb", "x" * 300))
        listing: dict[str, Any] = {"schema": 1, "files": {name: {"sha256": "0", "bytes": 1}}}
        key = self.draw.choice(("schema", "files", "sha256"))
        odd: Any = self.draw.choice((None, [], {}, "text", 7, {"a": 1}))
        match key:
            case "sha256":
                listing["files"][name] = odd
            case _ if self.draw.random() < 0.5:
                del listing[key]
            case _:
                listing[key] = odd
        if self.draw.random() < 0.3:
            write_archive(file, {"a": b"1"}, "results.json", {"schema": 1})
            what, content = edited(self.draw, file.read_bytes())
            file.write_bytes(content)
        else:
            what = f"{name[:30]!r}, {key} {odd!r}"
            with tarfile.open(file, "w") as packed:
                for path, content in ((name, b"1"), ("results.json", with_checksum(listing))):
                    member = tarfile.TarInfo(path)
                    member.size = len(content)
                    packed.addfile(member, io.BytesIO(content))

        def call() -> None:
            (folder / "unpacked").mkdir()
            found, _ = merge.checked(file, folder / "unpacked")
            if found or (folder / "x").exists() or Path("/etc/x").exists():
                raise Wrong("something was taken")

        return what, call

    def result(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change a file of results: the table is as before, or there is none."""
        shutil.copytree(self.results.folder, folder / "lite")
        file = self.draw.choice(sorted(path for path in (folder / "lite").rglob("*.json*")))
        way = self.draw.choice(("edited", "gone", "a folder", "a link", "empty"))
        what, content = edited(self.draw, file.read_bytes())
        if way == "edited":
            file.write_bytes(content)
        else:
            file.unlink()
            what = way
        match way:
            case "a folder":
                file.mkdir()
            case "a link":
                file.symlink_to(folder / "nowhere")
            case "empty":
                file.touch()

        def call() -> None:
            reading = file.name != "history.jsonl"
            if self._table(folder) != self.table and (reading and way == "edited"):
                raise Wrong("another table was made")

        return f"{file.relative_to(folder)}, {what}", call

    def variable(self, folder: Path) -> tuple[str, Callable[[], None]]:
        """Change a variable of the environment: the plan is as before."""
        name, value = self.draw.choice(VARIABLES), self.draw.choice(ODD).replace("\\u0000", "")
        value = self.draw.choice((value, "/proc", "/dev/null", str(folder), "/nowhere", ""))

        def call() -> None:
            before = dict(os.environ)
            os.environ[name] = value
            try:
                check_home()
                check_surroundings(ROOT)
                configured(ROOT, results=str(folder / "results"))
            finally:
                os.environ.clear()
                os.environ.update(before)

        return f"{name}={value[:30]}", call

    def _table(self, folder: Path) -> bytes:
        results = folder / "lite"
        runs, measures = (
            sorted(results.rglob(name)) for name in ("run.json", "measures/*/*/*.json")
        )
        tabulate(self.paper, "stack_language", "lite", Measures.read(measures, runs), folder / "t")
        return (folder / "t.csv").read_bytes()


def require(asked: Any, found: Any, where: str) -> None:
    """Raise Wrong where a setting of an overlay is not that of a run."""
    if isinstance(asked, Mapping) and isinstance(found, Mapping):
        for key, value in asked.items():
            if value is not None:
                require(value, found.get(key), f"{where}.{key}")
        return
    if isinstance(found, float | int) and isinstance(asked, str):
        asked = float(asked)  # of YAML 1.1, where 5e-4 is a text
    if asked != found or isinstance(asked, bool) != isinstance(found, bool):
        raise Wrong(f"{where} is {found!r}, not {asked!r}")


def worded(line: str) -> bool:
    """Whether a line has a message with a word."""
    return any(letter.isalnum() for letter in line.partition("\t")[2])


def outcome_of(call: Callable[[], None]) -> str:
    """Call something as a program does; say how it ended."""
    said = io.StringIO()
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(LONGEST)
    try:
        with (
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(said),
            exit_on_user_error(),
        ):
            call()
    except SystemExit as end:
        sentence = str(end.code)
        whole = re.fullmatch(r"error: [^\n]+", sentence)
        return f"refused: {sentence}" if whole else f"NO SENTENCE: {sentence!r}"
    except Wrong as error:
        return f"WRONG: {error}"
    except _Hangs:
        return "HANGS"
    except BaseException:
        return f"TRACEBACK: {' | '.join(traceback.format_exc().splitlines()[-6:])}"
    finally:
        signal.alarm(0)
    return "accepted"


class _Hangs(BaseException):
    """Passes by whoever catches errors."""


def _hangs(*_: object) -> None:
    raise _Hangs


def swept(edits: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """Make so many edits; return what was wrong, and say what happens."""
    with tempfile.TemporaryDirectory() as folder:
        return Sweep(Path(folder), seed).run(edits, say)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong = swept(given.edits, given.seed, lambda line: print(line, flush=True))
    print("\n".join(wrong))
    print(f"{len(wrong)} of {given.edits} edits (seed {given.seed}) ended in no sentence, or wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
