"""How a command line ends when something goes wrong that a person can mend."""

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow import PUBLISHED
from workflow.runtime.atomic import DISK_FULL
from workflow.runtime.errors import UserError
from workflow.runtime.integrity import Damaged, quarantine

NO_MEMORY = re.compile("allocate memory|out of memory")
"""What torch says of a CPU, and of a GPU."""


@contextmanager
def exit_on_user_error(results: Path | None = None) -> Iterator[None]:
    """Turn an expected failure inside the block into its sentence on stderr and exit status 1.

    What is found damaged below `results`, by default the workflow's, is set aside.
    """
    try:
        yield
    except UserError as error:
        sys.exit(f"error: {printable(str(error))}")
    except Damaged as error:
        sys.exit(f"error: {printable(str(error))}; {_remedy(error.path, results)}.")
    except BrokenPipeError:  # whoever reads the output has enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        where = f" ({printable(str(error.filename))})" if error.filename else ""
        remedy = ""
        if error.errno in DISK_FULL:
            remedy = "; make room and run again"
        elif isinstance(error, PermissionError):
            remedy = "; make it readable and writable"
        sys.exit(f"error: {error.strerror or error}{where}{remedy}.")
    except (MemoryError, RuntimeError) as error:
        reason = str(error).partition("\n")[0].rstrip(". ") or "none is left"
        if not isinstance(error, MemoryError) and not NO_MEMORY.search(reason):
            raise
        sys.exit(
            f"error: there is not enough memory ({printable(reason)}); lower what is computed at "
            "once (training.batch.micro_tokens, an evaluator's tokens), or give the job more."
        )


def printable(sentence: str) -> str:
    """Return a sentence that stays one line, whatever a name in it holds."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in sentence)


def _remedy(damaged: Path, results: Path | None) -> str:
    """Set aside what is damaged, where it is among the results, and say how to get it anew."""
    if damaged.absolute().is_relative_to(PUBLISHED):
        return f"restore it: git restore {damaged}"
    if results is None and "SACCADE_STORE" in os.environ:
        results = Path(os.environ["SACCADE_STORE"]).parent
    if results is None or not damaged.absolute().is_relative_to(results.absolute()):
        return "where it is one of the results, make mend makes it anew"
    aside = quarantine(made_with(damaged, results))
    return f"{aside} is what was set aside: run the same command again to make it anew"


def made_with(path: Path, results: Path) -> Path:
    """Return what has to go with a damaged file below `results` for a rule to make it anew.

    The files of a stage of data are one output of a rule, and so are weights along training; a
    result in the store counts as a whole, and so does a run that is not finished.
    """
    parts = path.absolute().relative_to(results.absolute()).parts
    match parts:
        case ("store", run, "result", *_):
            return results / "store" / run / "result"
        case ("store", run, "kept", *_):
            return results / "store" / run
        case ("data", dataset, recipe, stage, _, *_) if dataset not in ("sources", "manual"):
            return results / "data" / dataset / recipe / stage
        case (*_, "checkpoints", _):
            return path.parent
    return path


def failures(folders: Iterable[Path], since: float) -> list[str]:
    """Return the last line of every log that ends with an error, after the log's name.

    Snakemake's `--quiet rules` hides what a job said when it failed.

    Args:
        folders: of logs, searched with what is below.
        since: seconds; logs that were last written before are of other calls.
    """
    paths = sorted({path for folder in folders for path in folder.rglob("*.log")})
    recent = [path for path in paths if path.stat().st_mtime >= since]
    return [f"{path}: {said}" for path in recent if (said := last_error(path))]


def last_error(log: Path) -> str | None:
    """Return the last line of a log that ends with an error, None of another."""
    if not log.is_file():
        return None
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if lines and (lines[-1].startswith("error: ") or "Traceback" in "".join(lines)):
        return lines[-1].removeprefix("error: ")
    return None
