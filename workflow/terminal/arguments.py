"""Arguments that commands share."""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn, cast

from workflow import ROOT
from workflow.definitions.configuration import CommandSettings
from workflow.planning.configured import configured, read_files
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError, nearest
from workflow.terminal.job_arguments import DEVICES


class Parser(argparse.ArgumentParser):
    """Of a command, which `make` calls: of a wrong value it names the variable, and no usage."""

    def error(self, message: str) -> NoReturn:
        """End with a sentence and status 2."""
        if wrong := re.fullmatch(r"argument --(\w+): (.*)", message):
            self.exit(2, f"error: {wrong[1].upper()}= (--{wrong[1]}): {wrong[2]}\n")
        if unknown := re.match(r"unrecognized arguments: ([^\s=]+)", message):
            self.exit(2, f"error: {unknown[1]}: {self._instead(unknown[1])}\n")
        super().error(message)

    def _instead(self, unknown: str) -> str:
        """Say what the command takes in the place of an argument that it does not know."""
        if unknown == "--only" and any(it.dest == "targets" for it in self._actions):
            return f"names stand alone: {self.prog} zhao2019 (ONLY=zhao2019 of make)"
        options = [name for action in self._actions for name in action.option_strings]
        takes = [name for name in options if name[:2] == "--"]
        hint = nearest(unknown, takes) or f"; there are {', '.join(takes)}"
        return f"no such argument{hint}"


def share(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the arguments that commands share."""
    shared: dict[str, dict[str, Any]] = {
        "targets": {"nargs": "*", "help": "papers, experiments, tables or files; else everything"},
        "--scale": {"help": "demo, lite or paper, or <scale>+<overlay>; else as configured"},
        "--limit": {
            "type": whole(1),
            "help": "try it on so many examples of each split, apart from whole results",
        },
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


def settings(args: argparse.Namespace) -> CommandSettings:
    """Return the settings among the arguments of a command."""
    names = CommandSettings.__annotations__
    return cast(CommandSettings, {n: value for n in names if (value := getattr(args, n, None))})


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the plan that the arguments of a command ask for."""
    return configured(ROOT, args.configfile, **settings(args))


def results_of(args: argparse.Namespace) -> Path:
    """Return the folder of results that a command is of."""
    return Path(args.results or str(read_files(ROOT)[0]["results"]))


def snakemake_arguments(
    targets: Iterable[str], settings: CommandSettings, files: Iterable[Path]
) -> list[str]:
    """Return arguments of Snakemake; targets stand first, as after a file they would be files.

    Raises InputError for a target without a name, such as a shell's variable that is not set.
    """
    if "" in (targets := [*targets]):
        raise InputError('command line: "" names no target; leave it out for everything')
    config = [f"{name}={value}" for name, value in settings.items()]
    changes = [str(file) for file in files]
    return [
        *targets,
        *(["--config", *config] if config else []),
        *(["--configfile", *changes] if changes else []),
    ]


def make_quietly(
    targets: Iterable[str],
    settings: CommandSettings,
    files: Iterable[Path],
    leave_out: str = "rules",
    log: Path | None = None,
) -> int:
    """Have Snakemake make targets on all cores, and return its exit status.

    Args:
        targets: files or names.
        settings: keys of the configuration.
        files: of the user's own changes.
        leave_out: what it is not to say, as for its `--quiet`.
        log: file that takes what it says; each target is then made that can be, whatever fails.
    """
    asked = snakemake_arguments(targets, settings, files)
    snakemake = [sys.executable, "-m", "snakemake", *asked, "--cores", "all", "--quiet", leave_out]
    if log is None:
        return subprocess.run(snakemake, check=False).returncode
    log.parent.mkdir(parents=True, exist_ok=True)
    snakemake += ["--keep-going"]
    with log.open("w") as out:
        return subprocess.run(snakemake, check=False, stdout=out, stderr=out).returncode


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
        raise argparse.ArgumentTypeError(
            f"{json.dumps(text)} is not a number of minutes above 0; leave it out for all"
        )
    return number
