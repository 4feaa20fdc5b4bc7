"""The data programs as processes: the whole chain, and one sentence instead of a traceback."""

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.sealing import flip
from workflow.datasets.io import multicore
from workflow.datasets.io.checksums import NAME, read_manifest, write_checksums
from workflow.datasets.kinds.recipe import files, load
from workflow.datasets.kinds.recipe import threads as recipe_threads
from workflow.runtime.integrity import read_verified
from workflow.scripts import encode, prepare

GENERATED = {"dataset": "sst", "source": "generated", "train": 9, "dev": 3, "test": 3, "seed": 0}
STACK = {"dataset": "stack_language", "train": 9, "dev": 3, "test": 3}


@pytest.mark.parametrize("recipe", [GENERATED, STACK], ids=["sst", "stack_language"])
def test_the_chain_writes_a_manifest(script, tmp_path, recipe):
    text = json.dumps(recipe)
    raw = [tmp_path / "raw" / name for name in files(recipe)["raw"]]
    for name, arguments in {
        "synthesise": ["--out", tmp_path / "raw"],
        "prepare": ["--sources", *raw, "--out", tmp_path / "prepared"],
        "encode": ["--prepared", tmp_path / "prepared", "--out", tmp_path / "encoded"],
    }.items():
        result = script(name, "--recipe", text, *arguments)
        assert (result.returncode, result.stderr) == (0, "")
    manifest = read_manifest(tmp_path / "encoded")
    assert manifest["splits"]["train"]["examples"] == 9


DAMAGES = [("raw", partial(flip, bit=99)), ("prepared", Path.unlink)]


@pytest.mark.parametrize(("stage", "damage"), DAMAGES)
def test_a_damaged_stage_is_set_aside_and_not_read(script, tmp_path, monkeypatch, stage, damage):
    monkeypatch.setenv("SACCADE_STORE", str(tmp_path / "store"))
    data, text, dataset = tmp_path / "data/sst/0123456789ab", json.dumps(GENERATED), load(GENERATED)
    raw = [data / "raw" / name for name in files(GENERATED)["raw"]]
    dataset.synthesise(data / "raw")
    write_checksums(data / "raw")
    dataset.prepare(raw, data / "prepared")
    write_checksums(data / "prepared")
    path = next(file for file in (data / stage).iterdir() if file.name != NAME)
    damage(path)
    arguments = {
        "raw": ("prepare", "--sources", *raw, "--out", tmp_path / "out"),
        "prepared": ("encode", "--prepared", data / "prepared", "--out", tmp_path / "out"),
    }[stage]
    sentence = refused(script(*arguments, "--recipe", text))
    assert sentence == (
        f"error: {path} is {'missing' if damage is Path.unlink else 'damaged'}; "
        f"{data / stage}.damaged is what was set aside: run the same command again to make it "
        "anew.\n"
    )
    assert not (data / stage).exists() and not (tmp_path / "out").exists()


def test_the_number_of_threads_changes_no_byte(tmp_path, monkeypatch):
    """The programs are called here, so that small chunks are enough for processes to be started."""
    recipe = {"dataset": "multi30k", "source": "generated", "merges": 80, "seed": 1}
    recipe |= {"train": 60, "dev": 9, "test": 9}
    made = load(recipe)
    made.synthesise(tmp_path / "raw")
    write_checksums(tmp_path / "raw")
    raw = [tmp_path / "raw" / name for name in files(recipe)["raw"]]
    monkeypatch.setattr("workflow.datasets.encoded.moses.CHUNK", 6)
    monkeypatch.setattr("workflow.datasets.encoded.byte_pairs.CHUNK", 20)
    monkeypatch.setattr(multicore, "_cores", 1)
    pools = []

    def pool(processes: int, context: object) -> ProcessPoolExecutor:
        pools.append(processes)
        return ProcessPoolExecutor(processes, context)

    monkeypatch.setattr(multicore, "ProcessPoolExecutor", pool)
    written = {}
    for threads in (1, 2):
        prepared, encoded = (tmp_path / f"{stage}{threads}" for stage in ("prepared", "encoded"))
        for program, arguments in (
            (prepare, ["--sources", *raw, "--out", prepared]),
            (encode, ["--prepared", prepared, "--out", encoded]),
        ):
            line = ["--recipe", json.dumps(recipe), *arguments, "--threads", threads]
            monkeypatch.setattr(sys, "argv", ["program", *map(str, line)])
            program.main()
        paths = [*prepared.iterdir(), *encoded.iterdir()]
        written[threads] = {path.name: path.read_bytes() for path in paths}
        assert pools == ([] if threads == 1 else [2, 2, 2])  # for texts, and for words of each side
    assert written[1] == written[2]


def test_the_threads_that_a_recipe_can_use():
    assert recipe_threads({"dataset": "wmt14"}) == multicore.MOST
    assert recipe_threads(STACK) == 1
    generated = {"dataset": "multi30k", "source": "generated", "seed": 1}
    assert recipe_threads(generated | {"train": 9, "dev": 1, "test": 1}) == 1


def refused(result: "subprocess.CompletedProcess[str]") -> str:
    """Return the sentence of a program that refused its input."""
    assert result.returncode == 1
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr


def test_a_wrong_recipe_is_refused(script, tmp_path):
    text = json.dumps({**STACK, "max_depth": 0})
    sentence = refused(script("synthesise", "--recipe", text, "--out", tmp_path / "raw"))
    assert "`max_depth` of dataset `stack_language` is 0" in sentence
    official = json.dumps({"dataset": "sst"})
    sentence = refused(script("synthesise", "--recipe", official, "--out", tmp_path / "raw"))
    assert "`sst` is not generated here: fetch its files" in sentence
    assert not list(tmp_path.iterdir())


def test_an_official_file_put_by_hand_is_verified(script, tmp_path):
    paths = [tmp_path / f"stsa.binary.{split}" for split in ("train", "dev", "test")]
    for path in paths:
        path.write_text("1 good\n")
    arguments = ["--sources", *paths, "--out", tmp_path / "prepared"]
    sentence = refused(script("prepare", "--recipe", '{"dataset": "sst"}', *arguments))
    assert f"{paths[0]}: expected sha256 " in sentence
    assert "(7 bytes); where it is one of the results, make mend makes it anew" in sentence
    assert paths[0].is_file() and not (tmp_path / "prepared").exists()


def test_a_file_that_is_not_listed_and_a_mirror_that_is_none(script, tmp_path):
    out = tmp_path / "out"
    folder = ["--manual", tmp_path / "manual", "--out", out]
    sentence = refused(script("fetch", "--dataset", "sst", "--file", "no", *folder))
    assert "sources.tsv: sst/no is not listed; add a line for it." in sentence
    arguments = ["--dataset", "sst", "--file", "stsa.binary.dev", "--mirror", tmp_path / "no"]
    sentence = refused(script("fetch", *arguments, *folder))
    assert "is not a folder" in sentence
    assert not out.exists()


def test_a_file_got_by_hand_is_recorded(script, tmp_path):
    name = "yelp_academic_dataset_review.json"
    arguments = ["--dataset", "yelp", "--file", name, "--manual", tmp_path / "manual"]
    arguments += ["--out", tmp_path / name]
    sentence = refused(script("fetch", *arguments))
    assert f"data/manual/yelp/{name}, or into a mirror" in sentence
    (tmp_path / "manual" / "yelp").mkdir(parents=True)
    (tmp_path / "manual" / "yelp" / name).write_text("{}\n")
    result = script("fetch", *arguments)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / name).read_text() == "{}\n"
    origin = read_verified(tmp_path / f"{name}.origin.json")
    assert (origin["from"], origin["files"][name]["bytes"]) == ("manual", 3)


def test_a_folder_that_cannot_be_written_is_named(script, tmp_path):
    (tmp_path / "file").write_text("in the way")
    out = tmp_path / "file" / "raw"
    sentence = refused(script("synthesise", "--recipe", json.dumps(STACK), "--out", out))
    assert sentence == f"error: Not a directory ({out}).\n"
