"""A mirror that was built holds its sources, costs nothing the second time, and can be used."""

import csv
from pathlib import Path

import pytest

from tests.datasets.loopback import CONTENT, NO_PAUSES, WRONG, Answer, mirror, source
from workflow.datasets.fetched.fetching import fetch
from workflow.datasets.fetched.mirroring import build
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import Source

GONE = "http://127.0.0.1:9/a"


def gather(folder: Path, *sources: Source, mirror: Path | None = None) -> list[str]:
    """Build a mirror; return why some files could not be had."""

    def get(item: Source, out: Path) -> Origin:
        return fetch(item, mirror, folder / "manual", out, NO_PAUSES)

    return build(folder, sources, get)


def index(folder: Path) -> list[dict[str, str]]:
    with (folder / "SOURCES.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, dialect="excel-tab"))


def test_a_mirror_is_built_once_and_then_used(server, tmp_path):
    item = source(server.url("a", Answer(body=CONTENT)))
    assert gather(tmp_path / "m", item) == gather(tmp_path / "m", item) == []
    assert server.requests == ["/a"]
    (row,) = index(tmp_path / "m")
    assert row["licence_or_terms"] == "free for all" and row["kind"] == "the url's bytes"
    assert (row["url"], row["dataset"], row["file"]) == (item.url, "toy", "toy/toy.train")
    origin = fetch(item, tmp_path / "m", tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT and origin.kind == "mirror"
    assert server.requests == ["/a"]


def test_a_bundle_goes_from_mirror_to_mirror(tmp_path):
    item = source(GONE)
    first = mirror(tmp_path / "first", WRONG, kind="bundle", stands_for=f"{GONE} (a part)")
    assert gather(tmp_path / "second", item, mirror=first) == []
    assert index(tmp_path / "second")[0]["kind"] == "bundle"
    assert gather(tmp_path / "second", item) == []
    origin = fetch(item, tmp_path / "second", tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == WRONG and origin.kind == "bundle"


def test_a_file_that_was_got_by_hand_goes_along(tmp_path):
    item = source("https://x/form", checksum="")
    assert "can't be downloaded; get it from" in gather(tmp_path / "m", item)[0]
    (tmp_path / "m" / "manual" / "toy").mkdir(parents=True)
    (tmp_path / "m" / "manual" / "toy" / "toy.train").write_bytes(WRONG)
    assert gather(tmp_path / "m", item) == []
    origin = fetch(item, tmp_path / "m", tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == WRONG and origin.kind == "mirror"


@pytest.mark.parametrize("damage", [WRONG, None], ids=["swapped", "removed"])
def test_what_was_damaged_is_fetched_again(server, tmp_path, damage):
    item = source(server.url("a", Answer(body=CONTENT)))
    gather(tmp_path / "m", item)
    path = tmp_path / "m" / "toy" / "toy.train"
    path.write_bytes(damage) if damage else path.unlink()
    assert gather(tmp_path / "m", item) == []
    assert path.read_bytes() == CONTENT and len(index(tmp_path / "m")) == 1
    assert server.requests == ["/a", "/a"]


def test_one_file_that_is_gone_does_not_stop_the_others(server, tmp_path):
    lost = Source("lost", "b", GONE, (), "0" * 64, 1, "none")
    item = source(server.url("a", Answer(body=CONTENT)))
    (failure,) = gather(tmp_path / "m", lost, item)
    assert failure.startswith("lost/b could not be downloaded")
    assert [row["file"] for row in index(tmp_path / "m")] == ["toy/toy.train"]


def test_a_mirror_keeps_what_it_had(server, tmp_path):
    folder = mirror(tmp_path / "m", WRONG, url="https://x/other", repository="someone/else")
    item = source(server.url("a", Answer(body=CONTENT)))
    assert gather(folder, item) == []
    old, new = index(folder)
    assert (old["file"], old["repository"]) == ("toy/file", "someone/else")
    assert (new["file"], new["repository"]) == ("toy/toy.train", "")
