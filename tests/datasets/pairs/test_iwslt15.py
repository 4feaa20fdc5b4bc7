"""IWSLT'15 English-Vietnamese from its plain files to arrays."""

from tests.datasets.folders import examples, texts
from workflow.datasets.io.archives import members

RECIPE = {"dataset": "iwslt15", "merges": 20}
FILES = {
    "train.en": "Rachel &apos;s story .\n\nIt  is\u00a0a puzzle , a puzzle .\n" + "a " * 251 + "\n",
    "train.vi": "Câu chuyện của Rachel .\nRỗng\nNó là một trò chơi ghép hình , ghép hình .\nb\n",
    "tst2012.en": "Dev .\n",
    "tst2012.vi": "Phát triển .\n",
    "tst2013.en": "Test one .\nTest two .\n",
    "tst2013.vi": "Một .\nHai .\n",
}
CONTENT = {name: text.encode() for name, text in FILES.items()}


def test_the_plain_files(take, tmp_path):
    manifest = take(RECIPE, CONTENT)
    folder = tmp_path / "data"
    train = ["Rachel &apos;s story .", "It is a puzzle , a puzzle ."]
    assert texts(folder, "train.source") == train
    assert texts(folder, "train.target")[1] == "Nó là một trò chơi ghép hình , ghép hình ."
    assert texts(folder, "dev.source") == ["Dev ."] and texts(folder, "test.target")[1] == "Hai ."
    assert manifest["statistics"]["dropped"] == {"an empty side": 1, "more than 250 words": 1}
    assert manifest["languages"] == {"source": "en", "target": "vi"}
    take({**RECIPE, "lowercase": True, "direction": "vi_en", "joint": False}, CONTENT, "other")
    assert texts(tmp_path / "other", "train.source")[0] == "câu chuyện của rachel ."
    assert (tmp_path / "other" / "encoded" / "source_vocabulary.txt").is_file()


def test_the_real_dev_and_test_sets(take, mirror):
    real = CONTENT
    for name in ("dev-2012-en-vi.tgz", "test-2013-en-vi.tgz"):
        real = real | dict(members(mirror / "iwslt15_en_vi" / name, lambda name: True))
    assert examples(take(RECIPE, real)) == {"train": 2, "dev": 1553, "test": 1268}
