"""The program of the project: `python -m workflow COMMAND ...` is what `make COMMAND` calls."""

import ast
import sys
from importlib import import_module
from pathlib import Path

from workflow.runtime.errors import nearest
from workflow.runtime.failure import exit_on_user_error
from workflow.runtime.fork_server import say_interrupted
from workflow.terminal.arguments import Parser

PROGRAM = "python -m workflow"


def main(arguments: list[str]) -> None:
    """Run a command; without one, list them."""
    name, *others = arguments or ["--help"]
    commands = {path.stem.replace("_", "-"): path for path in _files()}
    if name in ("-h", "--help"):
        print(f"usage: {PROGRAM} COMMAND ...\n\n{listing(commands)}\n")
        print(f"{PROGRAM} COMMAND --help has its arguments.")
    elif name not in commands:
        near = nearest(name, commands)
        sys.exit(f'error: no command "{name}"{near}; {PROGRAM} --help lists them')
    else:
        command = import_module(f"workflow.commands.{commands[name].stem}")
        parser = Parser(prog=f"{PROGRAM} {name}", description=summary(commands[name]))
        command.add_arguments(parser)
        with exit_on_user_error():
            command.main(parser.parse_args(others))


def _files() -> list[Path]:
    return sorted(Path(__file__).with_name("commands").glob("[a-z]*.py"))


def listing(commands: dict[str, Path]) -> str:
    """Return a line for each command: its name, and what it does."""
    return "\n".join(f"  {name:12}{summary(path)}" for name, path in commands.items())


def summary(path: Path) -> str:
    """Return what a command does: the first sentence of its file."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


if __name__ == "__main__":
    sys.excepthook = say_interrupted
    main(sys.argv[1:])
