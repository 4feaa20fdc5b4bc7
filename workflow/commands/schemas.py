"""Write the JSON Schemas of all definitions, and docs/configuration.md."""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from workflow import ROOT
from workflow.definitions.schemas import FILES, for_editors
from workflow.validation import Schema, schema_of, values_of

FOLDER = ROOT / "workflow" / "schemas"
PAGE = ROOT / "docs" / "configuration.md"
HEAD = """# Configuration

Change any setting, for one call or in a file of your own. The second half lists every key.

## Change something

`config.yaml` says what is run. Each of its keys can be given for one call:

```
snakemake --cores all stack_language --config scale=lite device=cpu
```

Settings of experiments are changed in a file of your own, under a name:

```yaml
# mine.yaml
overlay:
  name: slower
  experiments:
    stack_language:
      training: {optimizer: {lr: 5e-4}}
```

```
make plan ONLY=stack_language OVERLAY=mine.yaml     # says what would run
make run ONLY=stack_language OVERLAY=mine.yaml      # trains its runs, and nothing else
```

Results go to `results/demo+slower/`. Their tables show the difference to the scale below, where
that has been run. A mistake is reported with file, line, key and the nearest valid key.

One variant, and fewer seeds:

```text
    stack_language:
      variants:
        uniform_soft: {seeds: [0], training: {optimizer: {lr: 5e-4}}}
```

- Each table of an overlay says below itself what the overlay changes. Where it puts in other data,
  the label has the dataset's name in brackets, and the paper's caption and notes and the Δ go.
- Later wins: experiment, its variant, scale, the scale's variant, overlay, the overlay's variant.
- Mappings are merged, other values replaced. `null` removes a key.
- A different `path` drops the arguments of the old part too.
- A part (a model, an objective, a probe) may be yours: name it as `my_module:Name`.
- With `snakemake` itself, put the target before `--configfile`.

What there is to change stands in `workflow/papers/*/experiments.yaml`.

## Keys

Made of the types in `workflow/definitions` by `python -m workflow schemas`. *Needed* keys
have to be there; the others may be left out.
"""
ORDER = ("config", "experiments", "tables", "claims", "figures", "explorer", "corpora", "paper")
PARTS = {
    "Argument": "anything",
    "DatasetOptions": "`dataset` and its options",
    "OwnPart": "a part: `path` and its arguments",
    "Part": "a part: `path` and its arguments",
}
SAME = 4
"""So many keys alike are said once, and of the second mapping referred to."""


def texts() -> dict[str, str]:
    """Return the text of each schema by its file's name."""
    return {f"{name}.json": _text(for_editors(schema_of(kind))) for name, kind in FILES.items()}


def _text(schema: Schema) -> str:
    """Write a schema with a line for each of its definitions."""
    lines = [f'"$defs": {{\n{_lines(schema["$defs"])}\n}}', _lines({**schema, "$defs": {}})]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(values: Schema) -> str:
    return ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values.items() if v != {})


def page() -> str:
    """Return docs/configuration.md."""
    return HEAD + "".join(part for name in ORDER for part in _of_file(name, FILES[name]))


def _of_file(name: str, kind: type) -> Iterator[str]:
    """Write the keys of a file, then those of each mapping in it."""
    schema, described, waiting = schema_of(kind), dict[str, Schema](), [""]
    for title in waiting:
        rules = schema["$defs"][title] if title else schema
        yield f"\n### {name}: {title}\n" if title else f"\n## {name}.yaml\n"
        yield f"\n{rules['description']}\n" + _keys(name, rules, described, schema["$defs"])
        described[title] = rules["properties"]
        waiting += [one for one in _mappings(rules["properties"]) if one not in waiting]


def _mappings(rules: Schema) -> list[str]:
    """Name the mappings with keys of their own that rules speak of."""
    named = re.findall(r'"#/\$defs/(\w+)"', json.dumps(rules))
    return [one for one in dict.fromkeys(named) if one not in PARTS]


def _keys(name: str, rules: Schema, described: dict[str, Schema], mappings: Schema) -> str:
    """Write the keys of a mapping, but for those that are as in one `described` before.

    A key without a meaning of its own has that of the mapping that is its value.
    """
    keys, alike = rules["properties"], dict[str, str]()
    for title, others in described.items():
        shared = {key: title for key, one in keys.items() if others.get(key) == one}
        alike = max(alike, shared if title else {}, key=len)
    rows = {key: one for key, one in keys.items() if len(alike) < SAME or key not in alike}
    text = ""
    if len(rows) < len(keys):
        (title, *_) = alike.values()
        text = f"\nAs in {_link(name, title)}: {', '.join(f'`{key}`' for key in alike)}.\n"
    if rows:
        text += "\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n"
    for key, one in rows.items():
        absent = f"`{json.dumps(one['default'])}`" if "default" in one else ""
        default = "*needed*" if key in rules.get("required", ()) else absent
        said_of_it = [mappings[title]["description"] for title in _mappings(one)]
        meaning = one.get("description") or "".join(said_of_it[:1])
        meaning = " ".join(meaning.split()).replace("|", "\\|")
        text += f"| `{key}` | {_value(name, one | {'description': ''})} | {default} | {meaning} |\n"
    return text


def _value(name: str, rules: Schema) -> str:
    if "$ref" in rules:
        title = rules["$ref"].rpartition("/")[2]
        return PARTS.get(title) or _link(name, title)
    if options := rules.get("anyOf"):
        return " or ".join(dict.fromkeys(_value(name, one) for one in options))
    if "enum" in rules or "const" in rules:
        return ", ".join(f"`{json.dumps(one)}`" for one in rules.get("enum", [rules.get("const")]))
    match rules["type"]:
        case "array":
            return f"list of {_value(name, rules['items'])}"
        case "object":
            of = values_of(rules)
            return f"mapping from names to {_value(name, of)}" if of is not True else "mapping"
        case "boolean":
            return "true or false"
        case "string":
            return rules.get("description") or "text"
        case "null":
            return "`null`"
    bounds = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {rules[key]:,}" for key, sign in bounds.items() if key in rules]
    number = "whole number" if rules["type"] == "integer" else "number"
    return f"{number} {', '.join(limits)}".strip()


def _link(name: str, title: str) -> str:
    return f"[{title}](#{name}-{title.lower()})"


def stale(folder: Path = FOLDER) -> list[str]:
    """Return the names of schemas that are missing, outdated or of no kind of definition."""
    expected, present = texts(), {path.name: path.read_text("utf-8") for path in folder.glob("*")}
    return sorted(name for name in {*expected, *present} if expected.get(name) != present.get(name))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="write nothing, fail if one is stale")


def main(args: argparse.Namespace) -> None:
    """Write everything; with `--check` only say what of it is stale."""
    if args.check:
        names = [f"workflow/schemas/{name}" for name in stale()]
        if not PAGE.is_file() or PAGE.read_text("utf-8") != page():
            names.append("docs/configuration.md")
        if names:
            sys.exit(f"error: stale: {', '.join(names)}; run python -m workflow schemas")
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
