"""What several command lines share."""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from model.build import Node

SETTINGS = {
    "scale": "the scale, or <scale>+<overlay>; else as configured",
    "results": "folder of results, else as configured",
    "device": "else as configured",
    "mirror": "mirror to take files from, else as configured",
}
CHOICES: dict[str, tuple[str, ...]] = {"device": ("auto", "cpu", "cuda")}


class Parser(argparse.ArgumentParser):
    """Of a program that `make` calls: of a wrong value it names the variable too, and no usage."""

    def error(self, message: str) -> NoReturn:
        """End with a sentence and status 2."""
        if found := re.fullmatch(r"argument --(\w+): (.*)", message):
            self.exit(2, f"error: {found[1].upper()}= (--{found[1]}): {found[2]}\n")
        super().error(message)


def planner(description: str | None, *settings: str) -> argparse.ArgumentParser:
    """Return a parser of some of SETTINGS and of files of changes, with a script's description."""
    made = Parser(description=description)
    for name in settings:
        read = one_of(*CHOICES[name]) if name in CHOICES else str
        made.add_argument(f"--{name}", type=read, help=SETTINGS[name])
    made.add_argument("--configfile", type=Path, nargs="*", default=[], help="your own changes")
    return made


def settings(given: argparse.Namespace) -> dict[str, str]:
    """Return those of SETTINGS that were given."""
    return {name: value for name in SETTINGS if (value := getattr(given, name, None))}


def of_data(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of recipe and output folder, with a script's description."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--recipe", type=mapping("dataset"), required=True, help="the recipe")
    made.add_argument("--out", type=Path, required=True, help="folder to write to")
    return made


def of_run(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of what a job of a run reads and writes, with a script's description."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--data", type=Path, required=True, help="folder of the encoded corpus")
    made.add_argument("--store", type=Path, required=True, help="the store of runs")
    made.add_argument("--device", choices=CHOICES["device"], default="auto")
    made.add_argument("--out", type=Path, required=True, help="where to write to")
    return made


def of_trained_run(description: str | None) -> argparse.ArgumentParser:
    """Return such a parser for a job that reads the trained run."""
    made = of_run(description)
    made.add_argument("--spec", type=Path, required=True, help="its spec.json")
    made.add_argument("--run", type=Path, required=True, help="folder of the trained run")
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


def named(text: str) -> tuple[str, Path]:
    """Return name and path of a text `name=path`; the type of an argument."""
    name, _, path = text.partition("=")
    return name, Path(path)


def one_of(*names: str) -> Callable[[str], str]:
    """Return the type of an argument that is one of some names."""

    def read(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"{json.dumps(text)} is none of {', '.join(names)}")
        return text

    return read


def whole(least: int, *words: str) -> Callable[[str], int | str]:
    """Return the type of an argument that is a whole number, at least so large, or a word."""

    def read(text: str) -> int | str:
        if text in words:
            return text
        if not re.fullmatch("[0-9]{1,18}", text) or int(text) < least:
            wanted = " or ".join((f"a whole number of {least} or more", *words))
            raise argparse.ArgumentTypeError(f"{json.dumps(text)} is not {wanted}")
        return int(text)

    return read


def minutes(text: str) -> float:
    """Return a number of minutes; the type of an argument."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not number > 0:
        said = f"{json.dumps(text)} is not a number of minutes above 0; leave it out for all"
        raise argparse.ArgumentTypeError(said)
    return number


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
