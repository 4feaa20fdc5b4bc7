"""The committed schemas are those of the types, and each definition names its own."""

import json
import shutil

import pytest

from workflow.definitions.claims import Claims
from workflow.definitions.schemas import FILES, schema_of
from workflow.paths import ROOT
from workflow.scripts.schemas import FOLDER, stale

DEFINED = sorted(ROOT.glob("workflow/papers/*/*.yaml"))


def test_the_committed_schemas_are_those_of_the_types():
    assert stale() == []


def test_what_is_stale_is_named(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "schemas")
    (folder / "claims.json").write_text("{}\n")
    (folder / "tables.json").unlink()
    (folder / "others.json").write_text("{}\n")
    assert stale(folder) == ["claims.json", "others.json", "tables.json"]


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
