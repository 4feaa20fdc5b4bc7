"""How a command line ends when something goes wrong that a person can mend."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from model.files import DISK_FULL
from workflow.errors import Mistake


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an expected failure inside the block into its sentence on stderr and exit status 1."""
    try:
        yield
    except Mistake as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        remedy = ""
        if error.errno in DISK_FULL:
            remedy = "; make room and run again"
        elif isinstance(error, PermissionError):
            remedy = "; make it readable and writable"
        sys.exit(f"error: {error.strerror or error}{where}{remedy}.")
