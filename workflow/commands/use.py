"""Give lines of text to a trained model, which translates, classifies or weighs them.

An empty line stays empty. Words that the model does not know are said on standard error, as are
bytes that are no UTF-8, and tabs.
"""

import argparse
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from workflow.commands import explore
from workflow.runtime.errors import InputError
from workflow.runtime.failure import printable
from workflow.terminal import arguments

ON_DEMAND = ("attention", "field", "importance")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.share(parser, "--scale", "--results", "--mirror", "--configfile")
    parser.add_argument("run", help="<experiment>/<variant>/seed-<n>, or an identity")
    parser.add_argument("--input", type=Path, help="file of lines; else standard input")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    for name in ON_DEMAND:
        parser.add_argument(f"--{name}", action="store_true", help=f"with {name}, as JSON")


def main(args: argparse.Namespace) -> None:
    """Answer line by line."""
    # What computes is slow to import; a wrong argument doesn't wait for it.
    from workflow.datasets.io.left_out import Dropped, check_beginning
    from workflow.trained.finding import find
    from workflow.trained.model import model_of

    plan = arguments.plan_of(args)
    run = find(plan, args.run)
    with redirect_stdout(sys.stderr):
        explore.encode(plan, [run], args)
    model, asked = model_of(plan, run), [name for name in ON_DEMAND if getattr(args, name)]
    try:
        stream = open(args.input or 0, "rb")  # noqa: SIM115
    except OSError as error:
        where = f"INPUT={args.input}" if args.input else "standard input"
        raise InputError(f"{where}: {error.strerror}; name a file of lines (INPUT=)") from None
    name, left_out = args.input or Path("standard input"), Dropped()
    for number, line in enumerate(stream, start=1):
        if number == 1:
            check_beginning(name, line)
        # Bytes that are no text become a sign that no model knows.
        before = left_out.replaced_bytes
        text = left_out.decode_line(name, line)
        if wrong := left_out.replaced_bytes - before:
            note(number, f"{wrong} of its bytes are no UTF-8; save it as UTF-8")
        if "\t" in text:
            note(number, "a tab is read as a space, as a line is one text; give one column alone")
        try:
            reading = model.read(text.rstrip("\r\n")) if text.strip() else None
            as_json = args.json or asked
            print((in_json(reading, asked) if as_json else in_text(reading)) if reading else "")
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None
        if reading and reading.unknown:
            note(number, f"read as <unk>: {', '.join(reading.unknown)}")


def note(number: int, sentence: str) -> None:
    """Say on standard error what is odd about a line."""
    print(printable(f"line {number}: {sentence}"), file=sys.stderr)


def in_json(reading: Any, asked: list[str]) -> str:
    """Return a reading as a JSON object, with what is asked for."""
    more = {name: getattr(reading, name)().tolist() for name in asked if name != "attention"}
    if "attention" in asked:
        places = reading.attention.items()
        more["attention"] = {
            place: [layer.tolist() for layer in layers] for place, layers in places
        }
    return json.dumps({"tokens": reading.tokens, **reading.prediction, **more}, ensure_ascii=False)


def in_text(reading: Any) -> str:
    """Return the prediction of a reading, its columns between tabs."""
    prediction = reading.prediction
    if "translation" in prediction:
        return str(prediction["translation"])
    if "label" in prediction:
        return "\t".join(
            [prediction["label"], *(f"{k} {p:.4f}" for k, p in prediction["probabilities"].items())]
        )
    pairs = zip(reading.tokens[1:], prediction["log_probabilities"], strict=True)
    return "\t".join(f"{token} {share:.4f}" for token, share in pairs)
