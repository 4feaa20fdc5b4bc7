"""Flickr8k from its official files, or from drawings in their format, to its arrays."""

import io
import re
from itertools import product

import numpy as np
import pytest
from PIL import Image

from model.batches.caption_words import caption_words
from model.batches.captions import collate_captions
from model.batches.corpus import Corpus
from tests.datasets.folders import decoded, tar, zipped
from workflow.datasets import flickr8k
from workflow.datasets.fetched import mirrors, origins
from workflow.datasets.fetched.sources import load as load_sources
from workflow.datasets.io.dataset_files import read_records
from workflow.datasets.kinds.shape_pictures import COLOURS
from workflow.runtime.errors import DataError

ALL = {"dataset": "flickr8k", "pixels": 8, "threshold": 2}
DRAWN = {"dataset": "flickr8k", "source": "generated", "pixels": 32, "threshold": 1, "seed": 0}
DRAWN |= {"train": 30, "dev": 4, "test": 6}


def photo(colour: tuple[int, int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (20, 12), colour).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


COLOUR = {"a.jpg": (250, 0, 0), "b.jpg": (0, 250, 0), "c.jpg": (0, 0, 250), "d.jpg": (9, 9, 9)}
CAPTIONS = """a.jpg#0\tA dog 's bone , red .
a.jpg#1\tThe dog isn't red
a.jpg#2\t.
b.jpg#0\tA  dog runs
c.jpg#0\tA cat
d.jpg#0\tA dog
e.jpg#0\tNobody lists this one
"""


def official(**changes: bytes) -> dict[str, bytes]:
    """Return the official files of four photos."""
    lists = {"train": b"b.jpg\na.jpg\n", "dev": b"c.jpg\n", "test": b"d.jpg\n"}
    found = {name: lists[split] for split, name in flickr8k.LISTS.items()}
    members = {f"Flicker8k_Dataset/{name}": photo(colour) for name, colour in COLOUR.items()}
    members |= {"__MACOSX/._a.jpg": b"rubbish", "Flicker8k_Dataset/e.jpg": b"no photo"}
    found |= {flickr8k.CAPTIONS: CAPTIONS.encode(), "Flickr8k_Dataset.zip": tar(members)}
    return found | {name.replace("__", "."): content for name, content in changes.items()}


def test_captions_and_pixels_stand_in_the_order_of_the_lists(take, tmp_path):
    manifest = take(ALL, official())
    folder = tmp_path / "data" / "encoded"
    corpus = Corpus(folder)
    assert corpus.vocabulary == ["<pad>", "<bos>", "<eos>", "<unk>", "dog", "a", "red"]
    split, captions = corpus.split("train"), decoded(folder, "train")
    assert captions[0] == ["a", "dog", "<unk>", "<eos>"]
    bone = ["a", "dog", "<unk>", "<unk>", "red", "<eos>"]
    assert captions[1] == [*bone, "<unk>", "dog", "<unk>", "<unk>", "red", "<eos>"]
    assert split.columns["pixels"].shape == (2, 3, 8, 8)
    for pixels, name in zip(split.columns["pixels"], ("b.jpg", "a.jpg"), strict=True):
        assert np.abs(pixels.astype(int) - np.reshape(COLOUR[name], (3, 1, 1))).max() < 8
    assert (folder / "test.references.txt").read_text() == "A dog\n"
    assert (folder / "test.images.txt").read_text() == "d.jpg\n"
    assert manifest["splits"]["train"] == {"examples": 2, "tokens": 16, "captions": 3}
    assert manifest["statistics"]["unknown_tokens"] == {"dev": 1, "test": 0}
    assert (folder / "train.pixels.npy").samefile(tmp_path / "data/prepared/train.pixels.npy")


def test_captions_are_composed(take, tmp_path):
    captions = CAPTIONS.replace("A dog\n", "A re\u0301sume\u0301\n")
    take({**ALL, "threshold": 1}, official() | {TOKENS: captions.encode()})
    encoded = tmp_path / "data" / "encoded"
    assert (encoded / "test.references.txt").read_text() == "A r\u00e9sum\u00e9\n"
    [record] = read_records(tmp_path / "data" / "prepared" / "test.jsonl")
    assert record["text"] == "a r\u00e9sum\u00e9"


def test_words_are_whole_and_the_apostrophe_is_that_of_the_evaluation(take, tmp_path):
    caption = "A co\u00adop\u2019s dogs don\u2019t \u2018run\u2019 می\u200cدود x\u200by"
    captions = CAPTIONS.replace("d.jpg#0\tA dog\n", f"d.jpg#0\t{caption}\n")
    manifest = take({**ALL, "threshold": 1}, official() | {TOKENS: captions.encode()})
    [reference] = (tmp_path / "data/encoded/test.references.txt").read_text().splitlines()
    assert reference == "A coop's dogs don't \u2018run' میدود x y"
    [record] = read_records(tmp_path / "data" / "prepared" / "test.jsonl")
    assert record["text"] == "a coop 's dogs do n't run میدود x y"
    assert record["text"].split() == caption_words(reference)  # as they are compared
    assert manifest["statistics"]["unseen_characters"] == 2


@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_of_images_are_one_in_every_form_of_unicode(take, tmp_path, pack):
    whole, parts = "caf\u00e9.jpg", "cafe\u0301.jpg"
    for number, (listed, told, packed) in enumerate(product((whole, parts), repeat=3)):
        captions = CAPTIONS.replace("d.jpg", told).encode()
        photos = {f"x/{name}": photo(colour) for name, colour in COLOUR.items()}
        photos[f"x/{packed}"] = photos.pop("x/d.jpg")
        changes = {TEST: f"{listed}\n".encode(), TOKENS: captions, ZIP: pack(photos)}
        take(ALL, official() | changes, str(number))
        assert (tmp_path / f"{number}/encoded/test.images.txt").read_text() == f"{whole}\n"
    with pytest.raises(DataError, match=r"line 2: café\.jpg is also in Flickr_8k.testImages"):
        take(ALL, official() | {TEST: f"{whole}\n{parts}\n".encode()})


def test_spaces_around_the_name_of_an_image_are_none_of_it(take, tmp_path):
    captions = CAPTIONS.replace("d.jpg#0\t", " d.jpg #0 \t") + "d.jpg#7\tA cat\n"
    take({**ALL, "threshold": 1}, official() | {TOKENS: captions.encode()})
    assert (tmp_path / "data/encoded/test.references.txt").read_text() == "A dog\tA cat\n"


def test_an_image_without_a_caption_is_left_out_and_counted(take, tmp_path):
    lists = {name: content + b"\n" for name, content in official().items() if "Images" in name}
    captions = CAPTIONS.replace("b.jpg#0\tA  dog runs", "b.jpg#0\t!") + "\n"
    manifest = take(ALL, official() | lists | {TOKENS: captions.encode()})
    assert manifest["splits"]["train"]["examples"] == 1
    assert manifest["statistics"]["dropped"] == {"an image without a caption": 1}
    pixels = Corpus(tmp_path / "data" / "encoded").split("train").columns["pixels"]
    assert np.abs(pixels[0].astype(int) - np.reshape(COLOUR["a.jpg"], (3, 1, 1))).max() < 8


def test_long_captions_are_cut(take, tmp_path):
    take({**ALL, "longest": 2}, official())
    batch = collate_captions(Corpus(tmp_path / "data" / "encoded").split("train"), np.arange(2))
    assert batch.tokens.shape == (3, 4)
    assert (tmp_path / "data/encoded/test.references.txt").read_text() == "A dog\n"


CUT = tar({f"Flicker8k_Dataset/{name}": photo(COLOUR[name]) for name in ("a.jpg", "b.jpg")})
BROKEN = tar({f"x/{name}": photo(colour)[:-30] for name, colour in COLOUR.items()})
TEXT = tar({f"x/{name}": b"text" for name in COLOUR})


NO_WORD = CAPTIONS.replace("A cat", "!").encode()
ZIP, TOKENS = "Flickr8k_Dataset.zip", "Flickr8k.token.txt"
DEV, TEST = (flickr8k.LISTS[split] for split in ("dev", "test"))
WRONG = {
    "missing photos": (ZIP, CUT, "2 of the 4 images that the lists name are not in the archive, c"),
    "damaged photo": (ZIP, BROKEN, "x/a.jpg can't be read ("),
    "no photo": (ZIP, TEXT, "x/a.jpg can't be read (it is no image)"),
    "two splits": (TEST, b"b.jpg\n", "line 1: b.jpg is also in Flickr_8k.trainImages.txt, so it"),
    "no caption": (DEV, b"z.jpg\n", "names the image z.jpg, which has no caption in Flickr8k.tok"),
    "number twice": (TOKENS, f"{CAPTIONS}a.jpg #00\tA dog\n".encode(), "line 8: a.jpg#00 is also"),
    "form": (TOKENS, b"a.jpg\tA dog\n", "line 1: expected `<image>#<number>`, a tab and a caption"),
    "empty": (TOKENS, NO_WORD, "the split `dev` has no image with a caption"),
}


@pytest.mark.parametrize(("file", "content", "sentence"), WRONG.values(), ids=WRONG)
def test_bad_input_is_a_sentence(take, file, content, sentence):
    with pytest.raises(DataError, match=re.escape(sentence)):
        take(ALL, official() | {file: content})


def test_a_word_that_is_never_frequent_enough_is_told(take):
    with pytest.raises(DataError, match="No word of dataset `flickr8k` comes 9 times"):
        take({**ALL, "threshold": 9}, official())


def test_a_drawing_is_what_its_captions_say(build):
    folder = build(DRAWN)
    corpus = Corpus(folder / "encoded")
    split = corpus.split("train")
    assert len(split) == 30 and "<unk>" not in (folder / "encoded/test.references.txt").read_text()
    names = [line.split("\t") for line in (folder / "encoded/test.references.txt").open()]
    assert all(len(captions) == 2 for captions in names)
    pixels = corpus.split("test").columns["pixels"].astype(int)
    for (first, second), image in zip(names, pixels, strict=True):
        _, colour, _, _, _, ground, _, _ = first.split()
        assert second.strip() == f"There is a {colour} shape on the {ground} ground ."
        named = {name: np.reshape(rgb, (3, 1, 1)) for name, rgb in COLOURS.items()}
        near = {name: np.abs(image - rgb).max(0) < 45 for name, rgb in named.items()}
        cells = {name: int(found.sum()) for name, found in near.items()}
        two = sorted(cells, key=lambda name: -cells[name])[:2]
        assert two == [ground, colour] and cells[colour] > 20


def test_the_part_of_the_photos_is_in_the_mirror(take, tmp_path, mirror):
    files = {name: tmp_path / name for name in flickr8k.Data(photos="part").files}
    for name, path in files.items():
        source = load_sources()["flickr8k", name]
        entry = mirrors.find(mirror, source)
        if entry is None:
            pytest.skip(f"the mirror has no {source.name}")
        origins.write(path, mirrors.take(entry, source, path))
        origins.verify(path, source)
    manifest = take({"dataset": "flickr8k", "photos": "part", "pixels": 16}, files)
    assert {s: one["examples"] for s, one in manifest["splits"].items()} == flickr8k.PART
    assert {s: one["captions"] for s, one in manifest["splits"].items()} == {
        split: 5 * count for split, count in flickr8k.PART.items()
    }
