"""The committed schemas are those of the types, and each definition names its own."""

import json
import re
import shutil

import pytest

from workflow import ROOT
from workflow.__main__ import main
from workflow.commands import schemas
from workflow.commands.schemas import FOLDER, stale
from workflow.definitions.claims import Claims
from workflow.definitions.schemas import FILES
from workflow.validation import schema_of

DEFINED = sorted(ROOT.glob("workflow/papers/*/*.yaml"))


def test_the_committed_schemas_are_those_of_the_types():
    assert stale() == []


def test_what_is_stale_is_named(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "schemas")
    (folder / "claims.json").write_text("{}\n")
    (folder / "tables.json").unlink()
    (folder / "others.json").write_text("{}\n")
    assert stale(folder) == ["claims.json", "others.json", "tables.json"]


def test_the_page_is_todays_and_a_planted_line_fails(tmp_path, monkeypatch):
    main(["schemas", "--check"])
    planted = tmp_path / "configuration.md"
    planted.write_text(schemas.PAGE.read_text().replace("| `scale` |", "| `scales` |", 1))
    monkeypatch.setattr(schemas, "PAGE", planted)
    says = r"stale: docs/configuration\.md; run python -m workflow"
    with pytest.raises(SystemExit, match=says):
        main(["schemas", "--check"])
    planted.unlink()
    with pytest.raises(SystemExit, match=says):
        main(["schemas", "--check"])


@pytest.mark.parametrize("kind", FILES)
def test_the_page_has_each_key_of_each_mapping(kind):
    page = schemas.page().partition(f"\n## {kind}.yaml\n")[2].partition("\n## ")[0]
    schema = schema_of(FILES[kind])
    of_mapping = dict(re.findall(r"### \w+: (\w+)\n(.*?)(?=\n### |$)", page, re.S))
    of_mapping[""] = page.partition("\n### ")[0]
    mappings = {"": schema, **schema["$defs"]}
    assert set(of_mapping) == set(mappings) - set(schemas.PARTS)
    for title, text in of_mapping.items():
        for key in mappings[title]["properties"]:
            assert f"`{key}`" in text, (title, key)


def test_the_page_says_what_values_may_be():
    page = schemas.page()
    for line in (
        "| `lr` | number > 0 |  | the rate at the end of the warm-up |",
        "| `weight_decay` | number ≥ 0 or `null` |  | of AdamW; Adam where it is left out |",
        '| `precision` | `"fp32"`, `"bf16"` |  | `fp32` where nothing says it |',
        "| `select` | [Select](#experiments-select) or `null` |  "
        "| Which weights are kept: those of the best epoch. |",
        "| `scales` | [Scales](#experiments-scales) |  | Changes by scale. |",
    ):
        assert f"\n{line}\n" in page


@pytest.mark.parametrize("kind", FILES)
def test_a_schema_refers_to_nothing_outside(kind):
    text = json.dumps(schema_of(FILES[kind]))
    named = {one.partition('"')[0] for one in text.split('"$ref": "#/$defs/')[1:]}
    assert named <= set(schema_of(FILES[kind])["$defs"])
    assert '"$part"' not in text


@pytest.mark.parametrize("path", [ROOT / "config.yaml", *DEFINED], ids=lambda path: str(path))
def test_each_file_names_its_schema_for_editors(path):
    (first, *_) = path.read_text().splitlines()
    said = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / said).resolve() == FOLDER / f"{path.stem}.json"


def test_what_has_a_default_may_be_left_out_and_says_so():
    claim = schema_of(Claims)["$defs"]["Claim"]
    assert claim["properties"]["margin"] == {"default": 0, "type": "number"} | {
        "description": "the difference to exceed"
    }
    assert {"margin", "direction", "over"} & {*claim["required"]} == set()
    assert {"id", "measure", "left"} < {*claim["required"]}
