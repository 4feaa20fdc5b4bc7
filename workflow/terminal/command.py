"""Arguments that commands, or the programs of jobs, share."""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from model.build import Node
from workflow import ROOT
from workflow.planning.configured import configured, read_files
from workflow.planning.plan import Plan

DEVICES = ("auto", "cpu", "cuda")
SETTINGS = ("scale", "results", "device", "mirror")
"""Shared arguments that are keys of the configuration, too."""


class Parser(argparse.ArgumentParser):
    """Of a command, which `make` calls: of a wrong value it names the variable, and no usage."""

    def error(self, message: str) -> NoReturn:
        """End with a sentence and status 2."""
        if found := re.fullmatch(r"argument --(\w+): (.*)", message):
            self.exit(2, f"error: {found[1].upper()}= (--{found[1]}): {found[2]}\n")
        super().error(message)


def share(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the arguments that commands share."""
    shared: dict[str, dict[str, Any]] = {
        "targets": {"nargs": "*", "help": "papers, experiments, tables or files; else everything"},
        "--scale": {"help": "demo, lite or paper, or <scale>+<overlay>; else as configured"},
        "--results": {"help": "folder of results; else as configured"},
        "--device": {"type": one_of(*DEVICES), "help": f"{', '.join(DEVICES)}; else as configured"},
        "--mirror": {"help": "folder of source files; else as configured"},
        "--configfile": {
            "type": Path,
            "nargs": "*",
            "default": [],
            "metavar": "FILE",
            "help": "your own changes of settings (OVERLAY= of make)",
        },
    }
    for name in names:
        parser.add_argument(name, **shared[name])


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the settings among the arguments of a command."""
    return {name: value for name in SETTINGS if (value := getattr(args, name, None))}


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the plan that the arguments of a command ask for."""
    return configured(ROOT, args.configfile, **settings(args))


def results_of(args: argparse.Namespace) -> Path:
    """Return the folder of results that a command is of."""
    return Path(args.results or str(read_files(ROOT)[0]["results"]))


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
    made.add_argument("--device", choices=DEVICES, default="auto")
    made.add_argument("--out", type=Path, required=True, help="where to write to")
    return made


def of_trained_run(description: str | None) -> argparse.ArgumentParser:
    """Return such a parser for a job that reads the trained run."""
    made = of_run(description)
    made.add_argument("--spec", type=Path, required=True, help="its spec.json")
    made.add_argument("--run", type=Path, required=True, help="folder of the trained run")
    return made


def snakemake_arguments(
    targets: Iterable[str], settings: Mapping[str, str], files: Iterable[Path]
) -> list[str]:
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
