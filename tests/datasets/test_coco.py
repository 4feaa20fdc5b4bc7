"""COCO with Karpathy's split: captions and features to arrays, and what is wrong with them."""

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from model.batches.corpus import Corpus
from tests.datasets.test_scripts import refused
from workflow.datasets.fetched import origins
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.kinds import feature_files
from workflow.datasets.kinds.captioned_images import FEATURES
from workflow.datasets.kinds.image_features import find, open_features, write_index
from workflow.errors import DataError

Script = Callable[..., "subprocess.CompletedProcess[str]"]
RECIPE = {"dataset": "coco", "regions": 3, "threshold": 1}
SPLIT_OF = {11: "train", 12: "restval", 13: "val", 14: "test"}


def karpathy(**changes: Any) -> bytes:
    """Return Karpathy's archive with four images, one of them changed."""
    images = [
        {
            "cocoid": number,
            "split": split,
            "sentences": [
                {"tokens": ["a", "dog"], "raw": "A dog."},
                {"tokens": ["image", str(number)], "raw": f"Image\t{number}.\n"},
            ],
        }
        for number, split in SPLIT_OF.items()
    ]
    images[1] |= changes
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("dataset_flickr8k.json", "{}")
        archive.writestr("dataset_coco.json", json.dumps({"images": images}))
    return buffer.getvalue()


def rows(number: int, count: int, width: int = 4) -> np.ndarray:
    return np.arange(count * width, dtype=np.float32).reshape(count, width) + number


def put(manual: Path, widths: dict[int, int] | None = None) -> None:
    """Put features of every image below `manual`, as archives, arrays and a grid."""
    folder = manual / "coco" / "features"
    folder.mkdir(parents=True)
    width = {**dict.fromkeys(SPLIT_OF, 4), **(widths or {})}
    np.savez(folder / "11.npz", feat=rows(11, 5, width[11]))
    np.save(folder / "12.npy", rows(12, 2, width[12]))
    np.save(folder / "13.npy", rows(13, 3, width[13]))
    np.savez_compressed(folder / "14.npz", rows(14, 2, width[14]).reshape(1, 2, -1))


@pytest.fixture
def prepare(script: Script, tmp_path: Path) -> Callable[[bytes], Any]:
    """Return a function that runs the programs up to `prepare` and returns its process."""

    def run(archive: bytes) -> Any:
        index = tmp_path / FEATURES
        found = script(
            "index_features", "--dataset", "coco", "--manual", tmp_path / "manual", "--out", index
        )
        if found.returncode:
            return found
        path = tmp_path / "caption_datasets.zip"
        path.write_bytes(archive)
        origins.write(path, Origin("bundle", origins.sha256(path), len(archive), "test"))
        out = ["--out", tmp_path / "prepared"]
        return script("prepare", "--recipe", json.dumps(RECIPE), "--sources", path, index, *out)

    return run


def test_captions_and_features_become_arrays(
    prepare: Callable[[bytes], Any], script: Script, tmp_path: Path
) -> None:
    put(tmp_path / "manual")
    assert prepare(karpathy()).stderr == ""
    out = ["--prepared", tmp_path / "prepared", "--out", tmp_path / "encoded"]
    assert script("encode", "--recipe", json.dumps(RECIPE), *out).stderr == ""
    corpus = Corpus(tmp_path / "encoded")
    train = corpus.split("train")
    assert train.columns["regions"].tolist() == [3, 2]
    features = train.columns["features"]
    assert features.shape == (2, 3, 4) and features.dtype == np.float16
    assert np.array_equal(features[0], rows(11, 5)[:3])
    assert np.array_equal(features[1], np.pad(rows(12, 2), ((0, 1), (0, 0))))
    assert np.array_equal(corpus.split("test").columns["features"][0, :2], rows(14, 2))
    assert (tmp_path / "encoded/test.references.txt").read_text() == "A dog.\tImage 14.\n"
    assert (tmp_path / "encoded/dev.images.txt").read_text() == "13\n"
    assert corpus.vocabulary[4:] == ["a", "dog", "image", "11", "12"]


def test_bad_input_is_one_sentence_of_the_program(
    prepare: Callable[[bytes], Any], tmp_path: Path
) -> None:
    sentence = refused(prepare(karpathy()))
    folder = tmp_path / "manual" / "coco" / "features"
    assert "There are no features of the images of `coco`" in sentence
    assert "github.com/peteanderson80" in sentence and f"for each image at {folder}" in sentence
    folder.mkdir(parents=True)
    assert "has no file `<image>.npz` or `.npy`" in refused(prepare(karpathy()))
    folder.rmdir()
    put(tmp_path / "manual")
    wrong = {
        "of split 'valid', and Karpathy's are train": {"split": "valid"},
        "has no features of image 99, which the captions name; add 99.npz or": {"cocoid": 99},
        "image 2 is of split \"['val']\", and Karpathy's": {"split": ["val"]},
        "image 2 lacks 'tokens'": {"sentences": [{"raw": "A dog."}]},
        "image 12 of split `train` has an empty caption, or none": {"sentences": []},
    }
    for said, changes in wrong.items():
        assert said in refused(prepare(karpathy(**changes)))
    np.save(folder / "13.npy", rows(13, 3, width=5))
    assert "13.npy: these features are 5 wide, and others are 4" in refused(prepare(karpathy()))
    (folder / "13.npy").write_bytes(b"no array")
    assert "13.npy can't be read" in refused(prepare(karpathy()))
    np.save(folder / "13.npy", np.zeros(4))
    assert "found float64 of shape (4,); replace it" in refused(prepare(karpathy()))


def test_an_archive_without_the_list_is_told(
    prepare: Callable[[bytes], Any], tmp_path: Path
) -> None:
    put(tmp_path / "manual")
    no_list = 'dataset_coco.json is no JSON object with a list "images"; delete the file and fetch'
    wrong = {"": "has no file dataset_coco.json", "[]": no_list}
    wrong |= dict.fromkeys(('{"images": 5}', '{"images": null}', '{"images": {"a": 1}}'), no_list)
    for content, said in wrong.items():
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("dataset_coco.json" if content else "other.json", content)
        assert said in refused(prepare(buffer.getvalue()))


class StandIn:
    """What the reader uses of `h5py.File`, kept as an archive of arrays; `a/b` is b of group a."""

    def __init__(self, path: Path, mode: str) -> None:
        self.path, self.mode = path, mode
        self.arrays: dict[str, np.ndarray] = {}
        if mode == "r":
            try:
                self.arrays = dict(np.load(path.open("rb")))
            except ValueError as error:
                raise OSError(str(error)) from None

    def __enter__(self) -> "StandIn":
        return self

    def __exit__(self, *_: object) -> None:
        if self.mode == "w":
            with self.path.open("wb") as stream:
                np.savez(stream, **self.arrays)  # type: ignore[arg-type]

    def __setitem__(self, name: str, array: np.ndarray) -> None:
        self.arrays[name] = array

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({name.partition("/")[0] for name in self.arrays}))

    def __contains__(self, name: str) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name] if name in self.arrays else object()


@pytest.fixture(params=["h5py", "stand-in"])
def hdf5(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what opens HDF5 files: the package where it is installed, and always a stand-in."""
    if request.param == "h5py":
        return pytest.importorskip("h5py").File
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=StandIn))
    return StandIn


def test_features_of_an_hdf5_file_are_those_of_a_folder(tmp_path: Path, hdf5: Any) -> None:
    (tmp_path / "coco").mkdir()
    path = tmp_path / "coco" / "features.hdf5"
    with hdf5(path, "w") as file:
        file["11_features"], file["12"] = rows(11, 5), rows(12, 4).reshape(2, 2, 4)
        file["11_boxes"], file["11_cls_prob"] = rows(11, 5, width=6), rows(11, 5, width=7)
        file["13"] = rows(13, 2, width=3)
        file["15/features"] = rows(15, 2)
    index = find(tmp_path, "coco")
    size = {"files": 1, "bytes": path.stat().st_size, "newest": path.stat().st_mtime_ns}
    assert index == {"schema": 1, "path": str(path.resolve()), "contents": size, "width": 4}
    write_index(index, tmp_path / "i.json")
    with open_features(tmp_path / "i.json") as found:
        assert np.array_equal(found.read("11"), rows(11, 5))
        assert np.array_equal(found.read("12"), rows(12, 4))
        with pytest.raises(DataError, match="13: these features are 3 wide, and others are 4"):
            found.read("13")
        with pytest.raises(DataError, match="no features of image 14, which the captions name"):
            found.read("14")
        with pytest.raises(DataError, match="hdf5: 15 is a group, not an image's array; replace"):
            found.read("15")
    path.write_bytes(b"no file")
    with pytest.raises(DataError, match="can't be read"):
        find(tmp_path, "coco")


@pytest.mark.parametrize(
    ("names", "width"),
    [
        (["11_boxes", "11_features", "9"], 5),
        (["11_boxes", "9"], 5),
        (["11", "11_features"], 5),
        (["a_photo.jpg", "b_photo.jpg"], 4),
    ],
)
def test_the_width_is_that_of_features_whatever_comes_first(
    tmp_path: Path, hdf5: Any, names: list[str], width: int
) -> None:
    (tmp_path / "coco").mkdir()
    with hdf5(tmp_path / "coco" / "features.hdf5", "w") as file:
        for number, name in enumerate(names):
            file[name] = rows(0, 2, width=4 + number)
    assert find(tmp_path, "coco")["width"] == width


def test_without_h5py_a_folder_is_advised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "features.hdf5").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match="the package h5py, which reads HDF5, is not installed"):
        find(tmp_path, "coco")


def test_a_file_of_features_is_what_it_holds_whatever_it_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "coco" / "features"
    folder.mkdir(parents=True)
    with (folder / "11.npz").open("wb") as stream:
        np.save(stream, rows(11, 5))
    with (folder / "12.npy").open("wb") as stream:
        np.savez(stream, boxes=rows(12, 2, width=3), x=rows(12, 2))
    np.savez_compressed(folder / "13.npz", feat=np.zeros((90, 4)))
    damaged = bytearray((folder / "13.npz").read_bytes())
    damaged[60:70] = b"\xff" * 10
    (folder / "13.npz").write_bytes(damaged)
    np.savez(folder / "14.npz")
    with zipfile.ZipFile(folder / "15.npz", "w") as archive:
        archive.writestr("notes.txt", "no array")
    write_index(find(tmp_path, "coco"), tmp_path / "i.json")
    with open_features(tmp_path / "i.json") as found:
        assert np.array_equal(found.read("11"), rows(11, 5))
        assert np.array_equal(found.read("12"), rows(12, 2))
        with pytest.raises(DataError, match=r"13.npz can't be read \(.*\); replace it"):
            found.read("13")
        for image in ("14", "15"):
            with pytest.raises(DataError, match=f"{image}.npz holds no array; replace it"):
                found.read(image)


def test_the_index_changes_with_the_features_and_not_with_what_is_beside_them(
    tmp_path: Path,
) -> None:
    put(tmp_path)
    folder = tmp_path / "coco" / "features"
    index = find(tmp_path, "coco")
    files = [path.stat() for path in folder.iterdir()]
    assert index["contents"] == {
        "files": 4,
        "bytes": sum(one.st_size for one in files),
        "newest": max(one.st_mtime_ns for one in files),
    }
    (folder / "README").write_text("of another network")
    (folder / "15.npy").symlink_to(folder / "gone")
    assert find(tmp_path, "coco") == index
    write_index(index, tmp_path / "i.json")
    known = feature_files.state(tmp_path, "coco", tmp_path / "i.json")
    np.save(folder / "13.npy", rows(7, 3))
    os.utime(folder / "13.npy", ns=(0, index["contents"]["newest"] + 1))
    assert find(tmp_path, "coco") != index
    assert feature_files.state(tmp_path, "coco", tmp_path / "i.json") != known
    shutil.rmtree(folder)
    assert feature_files.state(tmp_path, "coco", tmp_path / "i.json") == known
    (tmp_path / "i.json").unlink()
    assert feature_files.state(tmp_path, "coco", tmp_path / "i.json") == "{}"


def test_features_that_are_gone_are_told(tmp_path: Path) -> None:
    index = {"schema": 1, "path": str(tmp_path / "gone.hdf5"), "width": 4}
    write_index(index, tmp_path / "i.json")
    with (
        pytest.raises(DataError, match=r"gone.hdf5, where .*i.json says .* is gone; .* delete .*i"),
        open_features(tmp_path / "i.json"),
    ):
        pass


def test_where_features_of_other_datasets_go_is_told(script: Script, tmp_path: Path) -> None:
    out = ["--manual", tmp_path / "manual", "--out", tmp_path / "i.json"]
    sentence = refused(script("index_features", "--dataset", "flickr8k", *out))
    folder = tmp_path / "manual" / "flickr8k" / "features"
    assert "no features of the images of `flickr8k`; put a folder" in sentence
    assert f"for each image at {folder}" in sentence


def test_an_index_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "i.json").write_text("{}")
    with (
        pytest.raises(DataError, match="has no `path` and `width` of features; delete it"),
        open_features(tmp_path / "i.json"),
    ):
        pass
