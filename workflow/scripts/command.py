"""What the command lines of tables, figures and claims share."""

import argparse
from pathlib import Path


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of paper, measures, runs and scale, with a script's description."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--paper", required=True, help="folder below workflow/papers")
    files = {"--measures": "measures; missing: not run", "--runs": "their run.json files"}
    for name, what in files.items():
        made.add_argument(name, type=Path, nargs="*", default=[], help=what)
    made.add_argument("--scale", required=True, help="the scale, or <scale>+<overlay>")
    return made
