"""Arguments that the programs of jobs share; a lent machine reads them, too."""

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from model.build import Node

DEVICES = ("auto", "cpu", "cuda")


def of_data(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of recipe and output folder, with a script's description."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--recipe", type=mapping("dataset"), required=True, help="the recipe")
    made.add_argument("--out", type=Path, required=True, help="folder to write to")
    return made


def of_run(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of what a job of a run reads and writes, with a script's description."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of the encoded corpus")
    parser.add_argument("--store", type=Path, required=True, help="the store of runs")
    parser.add_argument("--device", choices=DEVICES, default="auto")
    parser.add_argument("--out", type=Path, required=True, help="where to write to")
    return parser


def of_trained_run(description: str | None) -> argparse.ArgumentParser:
    """Return such a parser for a job that reads the trained run."""
    parser = of_run(description)
    parser.add_argument("--spec", type=Path, required=True, help="its spec.json")
    parser.add_argument("--run", type=Path, required=True, help="folder of the trained run")
    return parser


def named(text: str) -> tuple[str, Path]:
    """Return name and path of a text `name=path`; the type of an argument."""
    name, _, path = text.partition("=")
    return name, Path(path)


def mapping(*keys: str) -> Callable[[str], Node]:
    """Return the type of an argument that is a mapping with these keys, as JSON."""
    return _json(lambda value: _has(value, keys), f"a mapping with {', '.join(keys)}")


def mappings(*keys: str) -> Callable[[str], Node]:
    """Return the type of an argument that is such mappings by name, as JSON."""
    return _json(
        lambda value: _has(value, ()) and all(_has(one, keys) for one in value.values()),
        f"mappings by name, each with {', '.join(keys)}",
    )


def _json(fits: Callable[[Any], bool], wanted: str) -> Callable[[str], Node]:
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
