"""WMT'14 and WMT'17 from their archives to arrays."""

from pathlib import Path

from tests.datasets.folders import examples, tar, texts, zipped


def wmt14() -> dict[str, bytes]:
    return {
        "training-parallel-europarl-v7.tgz": tar(
            {
                "training/europarl-v7.de-en.de": b"Das Parlament.\n\n" + b"a " * 81 + b"\n",
                "training/europarl-v7.de-en.en": b"The Parliament.\nNothing\n" + b"a " * 81 + b"\n",
                "training/europarl-v7.fr-en.en": b"Not read",
            }
        ),
        "training-parallel-commoncrawl.tgz": tar(
            {"commoncrawl.de-en.en": b"Caf\xe9\n", "commoncrawl.de-en.de": "Café\n".encode()}
        ),
        "training-parallel-nc-v11.zip": zipped(
            {
                "training-parallel-nc-v11/news-commentary-v11.de-en.de": b"Neues aus Berlin",
                "training-parallel-nc-v11/news-commentary-v11.de-en.en": b"News from Berlin",
            }
        ),
        "eng-deu.newstest2013.eng": b"Dev.\n",
        "eng-deu.newstest2013.deu": b"Entwicklung.\n",
        "eng-deu.newstest2014.eng": b"Test.\nAT&T\n",
        "eng-deu.newstest2014.deu": b"Probe.\nAT&T\n",
    }


def test_wmt14(take, tmp_path):
    manifest = take({"dataset": "wmt14", "merges": 20}, wmt14())
    folder = tmp_path / "data"
    source = ["The Parliament .", "Caf \ufffd", "News from Berlin"]
    assert texts(folder, "train.source") == source
    assert texts(folder, "train.target") == ["Das Parlament .", "Café", "Neues aus Berlin"]
    assert texts(folder, "test.source") == ["Test .", "AT &amp; T"]
    assert texts(folder, "test.raw") == ["Probe.", "AT&T"]
    assert manifest["statistics"]["dropped"] == {"an empty side": 1, "more than 80 words": 1}
    assert manifest["statistics"]["replaced_bytes"] == 1
    assert {path.name for path in (folder / "prepared").iterdir() if path.is_dir()} == set()


def test_wmt17(take, tmp_path):
    files = {
        "training-parallel-ep-v8.tgz": tar(
            {
                "training-parallel-ep-v8/europarl-v8.fi-en.fi": b"Parlamentti\n",
                "training-parallel-ep-v8/europarl-v8.fi-en.en": b"Parliament\n",
            }
        ),
        "rapid2016.tgz": tar(
            {"rapid2016.en-fi.en": b"Press release.\na b\n", "rapid2016.en-fi.fi": b"Tiedote.\na\n"}
        ),
        "eng-fin.newstest2016.eng": b"Dev.\n",
        "eng-fin.newstest2016.fin": b"Kehitys.\n",
        "eng-fin.newstest2017.eng": b"Test.\n",
        "eng-fin.newstest2017.fin": b"Koe.\n",
    }
    manifest = take({"dataset": "wmt17", "merges": 20}, files)
    assert texts(tmp_path / "data", "train.target") == ["Parlamentti", "Tiedote ."]
    assert texts(tmp_path / "data", "dev.target") == ["Kehitys ."]
    reason = "more than 1.5 times as long as the other side"
    assert manifest["statistics"]["dropped"] == {reason: 1}


def test_an_archive_without_a_language_is_named(refuse):
    name = "training-parallel-commoncrawl.tgz"
    files = wmt14() | {name: tar({"commoncrawl.de-en.en": b"a\n"})}
    refuse({"dataset": "wmt14", "merges": 20}, files, f"{name}: there is no commoncrawl.de-en.de")


def test_the_real_test_sets(take, mirror):
    real: dict[str, bytes | Path] = dict(wmt14())
    for name in [name for name in real if name.startswith("eng-deu")]:
        real[name] = mirror / "wmt_news" / name.replace(".", "/", 1)
    manifest = take({"dataset": "wmt14", "merges": 20}, real)
    assert examples(manifest) == {"train": 3, "dev": 3000, "test": 3003}
