"""`make mirror` gathers what experiments need, and the workflow takes its data from there."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest
import yaml

from tests.datasets.loopback import Answer, Server
from workflow.datasets.fetched.sources import COLUMNS
from workflow.datasets.kinds.captioned_images import FEATURES
from workflow.datasets.kinds.recipe import complete
from workflow.planning.identity import data_folder, recipe_hash

RECIPE = complete({"dataset": "sst"})
ENCODED = f"results/data/sst/{recipe_hash(RECIPE)}/encoded"
STACK = "{dataset: stack_language, train: 64, dev: 16, test: 16, length: 8, max_depth: 2}"


@pytest.fixture
def small(fresh):
    """The toy project with an experiment on three small files of a server on this machine."""
    fresh.edit("workflow/papers/toy/experiments.yaml", STACK, "{dataset: sst}")
    with Server.running() as server:
        rows = [COLUMNS]
        for split in ("train", "dev", "test"):
            name, body = f"stsa.binary.{split}", f"1 good {split}\n0 dull {split}\n".encode()
            url = server.url(name, Answer(body=body))
            checksum = hashlib.sha256(body).hexdigest()
            rows.append(("sst", name, url, "", checksum, str(len(body)), "free"))
        table = "".join("\t".join(row) + "\n" for row in rows)
        (fresh.root / "workflow/sources.tsv").write_text(table)
        fresh.server = server
        yield fresh


def test_a_mirror_is_gathered_once_and_feeds_the_workflow(small):
    said = small.command("mirror", "--to", "kept here", "--scale", "lite")
    assert "kept here has 3 of the 3 files that scale lite downloads" in said
    small.command("mirror", "--to", "kept here", "--scale", "lite")
    assert sorted(small.server.requests) == [f"/stsa.binary.{s}" for s in ("dev", "test", "train")]

    small.snakemake(ENCODED, config=("mirror=kept here",))
    assert len(small.server.requests) == 3
    manifest = json.loads((small.root / ENCODED / "manifest.json").read_text())
    assert manifest["splits"]["train"]["examples"] == 2
    sources = small.root / "results/data/sources/sst"
    origin = json.loads((sources / "stsa.binary.dev.origin.json").read_text())
    assert (origin["from"], origin["note"]) == ("mirror", "sst/stsa.binary.dev")
    assert len(list(sources.iterdir())) == 6

    shutil.rmtree(sources)
    (small.root / "kept here/sst/stsa.binary.dev").write_text("1 swapped\n")
    quiet = ("--forcerun", "fetch", "--quiet", "rules", "--config", "mirror=kept here")
    said = small.snakemake(ENCODED, *quiet, fails=True).said
    log = (small.root / "results/logs/fetch/sst/stsa.binary.dev.log").read_text()
    assert log.startswith("error: ") and log.count("\n") == 1
    assert "SOURCES.tsv, line 2: " in log and "stsa.binary.dev is not the file that the" in log
    assert f"stsa.binary.dev.log: {log.removeprefix('error: ')}" in said


def test_without_a_mirror_files_are_downloaded_and_a_mirror_later_changes_nothing(small):
    small.snakemake(ENCODED)
    assert sorted(small.server.requests) == [f"/stsa.binary.{s}" for s in ("dev", "test", "train")]
    small.command("mirror", "--to", "kept here", "--scale", "lite")
    assert len(small.server.requests) == 6
    small.snakemake(ENCODED, config=("mirror=kept here",))
    assert len(small.server.requests) == 6
    origin = small.root / "results/data/sources/sst/stsa.binary.dev.origin.json"
    assert json.loads(origin.read_text())["from"] == "url"


def test_a_scale_without_downloads_and_a_missing_folder_are_said(fresh):
    said = fresh.command("mirror", "--to", "there", "--scale", "demo")
    assert "there has 0 of the 0 files that scale demo downloads" in said
    said = fresh.command("mirror", "--to", "", "--scale", "dmo", fails=True)
    assert "name one: make mirror TO=<folder>" in said and "dmo" not in said
    said = fresh.command("mirror", "--to", "there", "--scale", "dmo", fails=True)
    assert said.startswith("error: ") and '"dmo" is not allowed' in said


INDEX = f"results/data/features/coco/{FEATURES}"
DATA = {"dataset": "coco", "regions": 3}


def test_replaced_features_are_encoded_again_and_removed_ones_are_not_missed(fresh):
    papers = fresh.root / "workflow/papers/toy/experiments.yaml"
    listed = yaml.safe_load(papers.read_text())
    listed["experiments"]["toy_pictures"] = listed["experiments"]["toy_language"] | {"data": DATA}
    papers.write_text(yaml.safe_dump(listed))
    features = fresh.root / "results/data/manual/coco/features"
    features.mkdir(parents=True)
    np.save(features / "11.npy", np.zeros((2, 4)))
    fresh.snakemake(INDEX)
    data = fresh.root / "results/data" / data_folder(complete(DATA))
    archive = fresh.root / "results/data/sources/coco/caption_datasets.zip"
    archive.parent.mkdir(parents=True)
    for file in (archive, archive.with_name(f"{archive.name}.origin.json")):
        file.write_text("as if fetched")
    for folder in (data / "prepared", data / "encoded"):
        folder.mkdir(parents=True)
    encoded = str((data / "encoded").relative_to(fresh.root))
    assert fresh.plan(encoded).jobs == []

    np.save(features / "11.npy", np.ones((2, 4)))
    os.utime(features / "11.npy", ns=(0, (features / "11.npy").stat().st_mtime_ns + 10**9))
    assert fresh.plan(encoded).jobs == ["encode", "index_features", "prepare"]

    shutil.rmtree(features)
    assert fresh.plan(encoded).jobs == []
