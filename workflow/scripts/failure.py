"""How a command line ends when something goes wrong that a person can mend."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model.checksums import Damaged, set_aside
from model.files import DISK_FULL
from workflow.errors import Mistake
from workflow.paths import PUBLISHED


@contextmanager
def one_sentence(results: Path | None = None) -> Iterator[None]:
    """Turn an expected failure inside the block into its sentence on stderr and exit status 1.

    What is found damaged below `results`, by default the workflow's, is set aside.
    """
    try:
        yield
    except Mistake as error:
        sys.exit(f"error: {error}")
    except Damaged as error:
        sys.exit(f"error: {error}; {_remedy(error.path, results)}.")
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        remedy = ""
        if error.errno in DISK_FULL:
            remedy = "; make room and run again"
        elif isinstance(error, PermissionError):
            remedy = "; make it readable and writable"
        sys.exit(f"error: {error.strerror or error}{where}{remedy}.")


def _remedy(damaged: Path, results: Path | None) -> str:
    """Set aside what is damaged, where it is among the results, and say how to get it anew."""
    if results is None and "SACCADE_STORE" in os.environ:
        results = Path(os.environ["SACCADE_STORE"]).parent
    if damaged.absolute().is_relative_to(PUBLISHED):
        return f"restore it: git restore {damaged}"
    if results is None or not damaged.absolute().is_relative_to(results.absolute()):
        return "it is not below the folder of results, and was left as it is"
    return f"it is now {set_aside(damaged)}: run the same command again to make it anew"
