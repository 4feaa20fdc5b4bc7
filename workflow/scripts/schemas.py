"""Write the JSON Schemas of all definitions to `workflow/schemas`, where editors read them."""

import argparse
import json
import sys
from pathlib import Path

from workflow.definitions.schemas import FILES, Schema, for_editors, schema_of
from workflow.paths import ROOT

FOLDER = ROOT / "workflow" / "schemas"


def texts() -> dict[str, str]:
    """Return the text of each schema by its file's name."""
    return {f"{name}.json": _text(for_editors(schema_of(kind))) for name, kind in FILES.items()}


def _text(schema: Schema) -> str:
    """Write a schema with a line for each of its definitions."""
    lines = [f'"$defs": {{\n{_lines(schema["$defs"])}\n}}', _lines({**schema, "$defs": {}})]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(values: Schema) -> str:
    return ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values.items() if v != {})


def stale(folder: Path = FOLDER) -> list[str]:
    """Return the names of files that are missing, outdated or of no kind of definition."""
    made, there = texts(), {path.name: path.read_text("utf-8") for path in folder.glob("*")}
    return sorted(name for name in {*made, *there} if made.get(name) != there.get(name))


def main() -> None:
    """Write all schemas; with `--check` only say which of them are stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if one is stale")
    if parser.parse_args().check:
        names = stale()
        if names:
            sys.exit(
                f"workflow/schemas: stale: {', '.join(names)}; run python -m "
                f"workflow.scripts.schemas"
            )
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
