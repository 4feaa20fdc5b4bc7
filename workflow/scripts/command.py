"""What several command lines share."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of paper, measures, runs and scale, with a script's description."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--paper", required=True, help="folder below workflow/papers")
    files = {"--measures": "measures; missing: not run", "--runs": "their run.json files"}
    for name, what in files.items():
        made.add_argument(name, type=Path, nargs="*", default=[], help=what)
    made.add_argument("--scale", required=True, help="the scale, or <scale>+<overlay>")
    return made


def asked(targets: Iterable[str], settings: Mapping[str, str], files: Iterable[Path]) -> list[str]:
    """Return arguments of Snakemake; targets stand first, as after a file they would be files."""
    config = [f"{name}={value}" for name, value in settings.items()]
    changes = [str(file) for file in files]
    return [
        *targets,
        *(["--config", *config] if config else []),
        *(["--configfile", *changes] if changes else []),
    ]


def mapping(*keys: str) -> Callable[[str], dict[str, Any]]:
    """Return the type of an argument that is a mapping with these keys, as JSON."""
    return _json(lambda value: _has(value, keys), f"a mapping with {', '.join(keys)}")


def mappings(*keys: str) -> Callable[[str], dict[str, Any]]:
    """Return the type of an argument that is such mappings by name, as JSON."""
    return _json(
        lambda value: _has(value, ()) and all(_has(one, keys) for one in value.values()),
        f"mappings by name, each with {', '.join(keys)}",
    )


def _json(fits: Callable[[Any], bool], wanted: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> Any:
        try:
            value: Any = json.loads(text)
        except ValueError:
            value = None
        if not fits(value):
            raise argparse.ArgumentTypeError(f"expected {wanted}, as JSON")
        return value

    return read


def _has(value: Any, keys: Iterable[str]) -> bool:
    return isinstance(value, dict) and set(keys) <= value.keys()
