"""COCO with Karpathy's split: captions and features to arrays, and what is wrong with them."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from model.batches.corpus import Corpus
from tests.datasets.folders import decoded, zipped
from tests.datasets.test_scripts import refused
from workflow.datasets import coco
from workflow.datasets.fetched import origins
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.io.dataset_files import read_records
from workflow.datasets.io.left_out import Dropped, read_left_out
from workflow.datasets.kinds import feature_files
from workflow.datasets.kinds.captioned_images import FEATURES, Captioned
from workflow.datasets.kinds.image_features import find, open_features, write_features, write_index
from workflow.datasets.kinds.recipe import load
from workflow.runtime.errors import DataError

RECIPE = {"dataset": "coco", "regions": 3, "threshold": 1}
SPLIT_OF = {11: "train", 12: "restval", 13: "val", 14: "test"}


def karpathy(**changes: Any) -> bytes:
    """Return Karpathy's archive with four images, one of them changed."""
    images = []
    for number, split in SPLIT_OF.items():
        own = {"tokens": ["image", str(number)], "raw": f"Image\t{number}.\n"}
        sentences = [{"tokens": ["a", "dog"], "raw": "A dog."}, own]
        images.append({"cocoid": number, "split": split, "sentences": sentences})
    images[1] |= changes
    listed = json.dumps({"images": images}).encode()
    return zipped({"dataset_flickr8k.json": b"{}", "dataset_coco.json": listed})


def rows(number: int, count: int, width: int = 4) -> np.ndarray:
    return np.arange(count * width, dtype=np.float32).reshape(count, width) + number


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for features, and nothing in it."""
    path = tmp_path / "manual" / "coco" / "features"
    path.mkdir(parents=True)
    return path


def put(folder: Path) -> None:
    """Put features of every image, as archives, arrays and a grid."""
    np.savez(folder / "11.npz", feat=rows(11, 5))
    np.save(folder / "12.npy", rows(12, 2))
    np.save(folder / "13.npy", rows(13, 3))
    np.savez_compressed(folder / "14.npz", rows(14, 2).reshape(1, 2, -1))


@pytest.fixture
def reading(tmp_path: Path) -> Callable[[], Any]:
    """Return a function that opens the features of `manual`."""

    def run() -> Any:
        write_index(find(tmp_path / "manual", "coco"), tmp_path / "i.json")
        return open_features(tmp_path / "i.json")

    return run


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[[bytes], Any]:
    """Return a function that prepares an archive with the features of `manual`."""

    def run(archive: bytes) -> Any:
        index, path = tmp_path / FEATURES, tmp_path / "caption_datasets.zip"
        write_index(find(tmp_path / "manual", "coco"), index)
        path.write_bytes(archive)
        dataset = load(RECIPE)
        dataset.prepare([path, index], tmp_path / "prepared")
        return dataset

    return run


def test_captions_and_features_become_arrays(script, folder, tmp_path):
    """By the programs, as the workflow calls them."""
    put(folder)
    index, path = tmp_path / FEATURES, tmp_path / "caption_datasets.zip"
    path.write_bytes(karpathy())
    origins.write(path, Origin("bundle", origins.sha256(path), path.stat().st_size, "test"))
    prepared, recipe = tmp_path / "prepared", ("--recipe", json.dumps(RECIPE))
    for command in (
        ["index_features", "--dataset", "coco", "--manual", tmp_path / "manual", "--out", index],
        ["prepare", *recipe, "--sources", path, index, "--out", prepared],
        ["encode", *recipe, "--prepared", prepared, "--out", tmp_path / "encoded"],
    ):
        assert script(*command).stderr == ""
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


@pytest.mark.parametrize(
    ("sentences", "captions", "counts"),
    [
        (
            [],
            ["a dog\timage 11"],
            {"replaced_bytes": 0, "dropped": {"an image without a caption": 1}},
        ),
        (
            [{"tokens": ["half", "\ud83d"], "raw": "Half \ud83d"}],
            ["a dog\timage 11", "half \ufffd"],
            {"replaced_bytes": 2, "dropped": {}},
        ),
        (
            [{"tokens": ["co\u00adop\u2019s", "dog"], "raw": "Co\u00adop\u2019s dog"}],
            ["a dog\timage 11", "coop's dog"],
            {"replaced_bytes": 0, "dropped": {}, "unseen_characters": 2},
        ),
    ],
    ids=["no caption", "half a character", "unseen"],
)
def test_a_flaw_in_one_image_is_counted(prepare, folder, tmp_path, sentences, captions, counts):
    put(folder)
    prepare(karpathy(sentences=sentences))
    written = read_records(tmp_path / "prepared" / "train.jsonl")
    assert [record["text"] for record in written] == captions
    assert read_left_out(tmp_path / "prepared") == counts


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"split": "valid"}, "of split 'valid', and Karpathy's are train"),
        ({"cocoid": 99}, "has no features of image 99, which the captions name; add 99.npz or"),
        ({"split": ["val"]}, "image 2 is of split \"['val']\", and Karpathy's"),
        ({"cocoid": 11}, "image 2 has the cocoid 11, as image 1 has"),
        ({"cocoid": "13"}, "image 3 has the cocoid 13, as image 2 has"),
        ({"sentences": [{"raw": "A dog."}]}, "image 2 lacks 'tokens'"),
    ],
    ids=str,
)
def test_a_wrong_image_is_named(prepare, folder, changes, sentence):
    put(folder)
    with pytest.raises(DataError, match=re.escape(sentence)):
        prepare(karpathy(**changes))


def test_wrong_features_are_named(prepare, folder):
    put(folder)
    wrong = {"13.npy: these features are 5 wide, and others are 4": rows(13, 3, width=5)}
    wrong["found float64 of shape (4,); replace it"] = np.zeros(4)
    for sentence, array in wrong.items():
        np.save(folder / "13.npy", array)
        with pytest.raises(DataError, match=re.escape(sentence)):
            prepare(karpathy())
    (folder / "13.npy").write_bytes(b"no array")
    with pytest.raises(DataError, match=r"13.npy can't be read"):
        prepare(karpathy())


@pytest.mark.parametrize(
    "changes",
    [
        *(None, 5, [], "text"),
        *({"cocoid": None}, {"cocoid": True}),
        *({"sentences": value} for value in (None, {}, ["A dog."])),
        *({"sentences": [{"tokens": t, "raw": "A dog."}]} for t in ("a dog", [5], None)),
        *({"sentences": [{"tokens": ["a"], "raw": raw}]} for raw in (None, ["x"], 5)),
    ],
    ids=str,
)
def test_an_image_of_another_form_is_told(changes):
    image = {"cocoid": 7, "split": "val", "sentences": [{"tokens": ["a"], "raw": "A."}]}
    image = changes if not isinstance(changes, dict) else {**image, **changes}
    with pytest.raises(DataError, match=r'list, image 2: expected an object with a number "cocoi'):
        coco._image("list, image 2", image, Dropped())


def test_an_odd_image_is_taken():
    sentences = [{"tokens": [], "raw": ""}, {"tokens": ["two words", "5"], "raw": " Odd\n"}]
    odd = {"cocoid": "7", "split": "val", "sentences": sentences}
    found = coco._image("list, image 2", odd, Dropped())
    assert found == ("dev", Captioned("7", ["two words 5"], ["", "Odd"]))


NO_LIST = 'dataset_coco.json is no JSON object with a list "images"; delete the file and fetch'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no file dataset_coco.json"),
        *(("[]", NO_LIST), ("[" * 100_000, NO_LIST)),
        *((f'{{"images": {value}}}', NO_LIST) for value in ("5", "null", '{"a": 1}')),
    ],
    ids=["none", "a list", "deep", "a number", "null", "an object"],
)
def test_an_archive_without_the_list_is_told(prepare, folder, content, sentence):
    put(folder)
    name = "dataset_coco.json" if content else "other.json"
    with pytest.raises(DataError, match=sentence):
        prepare(zipped({name: content.encode()}))


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


def test_features_of_an_hdf5_file_are_those_of_a_folder(folder, reading, tmp_path, hdf5):
    folder.rmdir()
    path = folder.with_name("features.hdf5")
    with hdf5(path, "w") as file:
        file["11_features"], file["12"] = rows(11, 5), rows(12, 4).reshape(2, 2, 4)
        file["11_boxes"], file["11_cls_prob"] = rows(11, 5, width=6), rows(11, 5, width=7)
        file["13"] = rows(13, 2, width=3)
        file["15/features"] = rows(15, 2)
    size = {"files": 1, "bytes": path.stat().st_size, "newest": path.stat().st_mtime_ns}
    index = {"schema": 1, "path": str(path.resolve()), "contents": size, "width": 4}
    assert find(tmp_path / "manual", "coco") == index
    wrong = {
        "13": "13: these features are 3 wide, and others are 4",
        "14": "no features of image 14, which the captions name",
        "15": "hdf5: 15 is a group, not an image's array; replace",
    }
    with reading() as found:
        assert np.array_equal(found.read("11"), rows(11, 5))
        assert np.array_equal(found.read("12"), rows(12, 4))
        for image, sentence in wrong.items():
            with pytest.raises(DataError, match=sentence):
                found.read(image)
    path.write_bytes(b"no file")
    with pytest.raises(DataError, match="can't be read"):
        find(tmp_path / "manual", "coco")


@pytest.mark.parametrize(
    ("names", "width"),
    [
        (["11_boxes", "11_features", "9"], 5),
        (["11_boxes", "9"], 5),
        (["11", "11_features"], 5),
        (["a_photo.jpg", "b_photo.jpg"], 4),
    ],
)
def test_the_width_is_that_of_features_whatever_comes_first(folder, tmp_path, hdf5, names, width):
    folder.rmdir()
    with hdf5(folder.with_name("features.hdf5"), "w") as file:
        for number, name in enumerate(names):
            file[name] = rows(0, 2, width=4 + number)
    assert find(tmp_path / "manual", "coco")["width"] == width


def test_without_h5py_a_folder_is_advised(folder, reading, monkeypatch):
    folder.rmdir()
    folder.with_name("features.hdf5").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(DataError, match="the package h5py, which reads HDF5, is not installed"):
        reading()


def test_a_file_of_features_is_what_it_holds_whatever_it_is_called(folder, reading):
    with (folder / "11.npz").open("wb") as stream:
        np.save(stream, rows(11, 5))
    with (folder / "12.npy").open("wb") as stream:
        np.savez(stream, boxes=rows(12, 2, width=3), x=rows(12, 2))
    np.savez_compressed(folder / "13.npz", feat=np.zeros((90, 4)))
    damaged = bytearray((folder / "13.npz").read_bytes())
    damaged[60:70] = b"\xff" * 10
    (folder / "13.npz").write_bytes(damaged)
    np.savez(folder / "14.npz")
    (folder / "15.npz").write_bytes(zipped({"notes.txt": b"no array"}))
    wrong = {image: f"{image}.npz holds no array; replace it" for image in ("14", "15")}
    wrong["13"] = r"13.npz can't be read \(.*\); replace it"
    with reading() as found:
        assert np.array_equal(found.read("11"), rows(11, 5))
        assert np.array_equal(found.read("12"), rows(12, 2))
        for image, sentence in wrong.items():
            with pytest.raises(DataError, match=sentence):
                found.read(image)


def test_features_that_float16_cannot_hold_are_refused(folder, reading, tmp_path):
    values = np.array([[1e-9, -65504.0, 0.0, 65504.0]])
    np.save(folder / "11.npy", values)
    for image, wrong in (("12", np.nan), ("13", 65520.0), ("14", -1e300), ("15", np.inf)):
        np.save(folder / f"{image}.npy", np.where(values == 0, wrong, values))
    with reading() as found:
        write_features(found, ["11"], 1, tmp_path, "train")
        for image in ("12", "13", "14", "15"):
            with pytest.raises(DataError, match=rf"features: .* image {image} .* beyond 65504.0, "):
                write_features(found, ["11", image], 1, tmp_path, "dev")
    assert np.load(tmp_path / "train.features.npy")[0, 0, 3] == 65504
    assert not (tmp_path / "dev.features.npy").exists()


def test_hidden_files_and_folders_are_no_features(folder, reading, tmp_path):
    (folder / "._1.npy").write_bytes(b"of macOS")
    (folder / "0.npy").mkdir()
    with pytest.raises(DataError, match=r"has no file `<image>\.npz` or `\.npy`"):
        reading()
    np.savez(folder / "0.npz", feat=rows(0, 2))
    (folder / "1_.npy").symlink_to(folder / "0.npz")
    assert find(tmp_path / "manual", "coco")["contents"]["files"] == 2
    with reading() as found:
        assert np.array_equal(found.read("0"), rows(0, 2))
        assert np.array_equal(found.read("1_"), rows(0, 2))


def test_the_index_changes_with_the_features_and_not_with_what_is_beside_them(folder, tmp_path):
    manual, written = tmp_path / "manual", tmp_path / "i.json"
    put(folder)
    index = find(manual, "coco")
    files = [path.stat() for path in folder.iterdir()]
    size, newest = sum(one.st_size for one in files), max(one.st_mtime_ns for one in files)
    assert index["contents"] == {"files": 4, "bytes": size, "newest": newest}
    (folder / "README").write_text("of another network")
    (folder / "15.npy").symlink_to(folder / "gone")
    assert find(manual, "coco") == index
    write_index(index, written)
    known = feature_files.state(manual, "coco", written)
    np.save(folder / "13.npy", rows(7, 3))
    os.utime(folder / "13.npy", ns=(0, newest + 1))
    assert find(manual, "coco") != index
    assert feature_files.state(manual, "coco", written) != known
    shutil.rmtree(folder)
    assert feature_files.state(manual, "coco", written) == known
    written.unlink()
    assert feature_files.state(manual, "coco", written) == "{}"


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ({"path": "gone.hdf5", "width": 4}, r"gone.hdf5, where .*i.json says .* is gone; .* delet"),
        ({}, "i.json has no `path` and `width` of features; delete it"),
    ],
)
def test_an_index_of_features_that_are_gone_or_of_none_is_told(tmp_path, index, sentence):
    write_index(index, tmp_path / "i.json")
    with pytest.raises(DataError, match=sentence), open_features(tmp_path / "i.json"):
        pass


@pytest.mark.parametrize(
    ("dataset", "where"), [("coco", "github.com/peteanderson80"), ("flickr8k", "put a folder")]
)
def test_where_features_go_is_told(script, tmp_path, dataset, where):
    out = ["--manual", tmp_path / "manual", "--out", tmp_path / "i.json"]
    sentence = refused(script("index_features", "--dataset", dataset, *out))
    folder = tmp_path / "manual" / dataset / "features"
    assert f"no features of the images of `{dataset}`" in sentence and where in sentence
    assert f"for each image at {folder}" in sentence


def test_a_word_that_is_spelt_as_a_reserved_one_is_unknown(prepare, folder, tmp_path):
    put(folder)
    tokens = ["<pad>", "a", "<eos>", "<bos>", "<unk>", "<a>"]
    dataset = prepare(karpathy(sentences=[{"tokens": tokens, "raw": "A."}]))
    dataset.encode(tmp_path / "prepared", tmp_path / "encoded")
    unknown = ["<unk>"] * 3
    caption = ["<unk>", "a", *unknown, "<a>", "<eos>"]
    assert decoded(tmp_path / "encoded", "train")[1] == caption
