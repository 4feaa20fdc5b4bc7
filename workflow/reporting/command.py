"""What the command lines of this stage share."""

import argparse
from pathlib import Path


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
