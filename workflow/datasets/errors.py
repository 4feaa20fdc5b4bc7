"""Errors that a person reads: one sentence saying what is wrong, where, and the way out."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
FETCH_AGAIN = "delete the file and fetch it again (one got by hand: replace it under data/manual)"


class DataError(ValueError):
    """A file or a recipe of a dataset that can't be used; the message is one whole sentence."""


class RecipeError(DataError):
    """A dataset's recipe with an unknown or impossible option."""


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an expected failure inside the block into its sentence on stderr and exit status 1."""
    try:
        yield
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        remedy = "; make room and run again" if error.errno in DISK_FULL else ""
        print(f"error: {error.strerror or error}{where}{remedy}.", file=sys.stderr)
        raise SystemExit(1) from None
