"""What the command lines of this stage share."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workflow.planning.errors import InputError


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what tabulate, plot and claims share: paper, measures, runs, scale."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--paper", required=True, help="folder below workflow/papers")
    made.add_argument(
        *("--measures",), type=Path, nargs="*", default=[], help="measures; missing: not run"
    )
    made.add_argument(
        *("--runs",), type=Path, nargs="*", default=[], help="the run.json files behind them"
    )
    made.add_argument("--scale", required=True, help="the scale, or <scale>+<overlay>")
    return made


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an expected failure inside the block into its sentence on stderr and exit status 1."""
    try:
        yield
    except InputError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}; make it readable and writable.")
