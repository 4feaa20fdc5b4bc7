"""The SMS Spam Collection from its official file to its arrays."""

import pytest

from tests.datasets.folders import examples, labelled
from workflow.datasets.sms_spam import FILE

LINES = [f"{label}\tText {label} {n}, OK?" for n in range(20) for label in ("ham", "spam")]


def test_a_small_file(take, tmp_path):
    content = "\n".join([*LINES, "ham\t:-)", "spam\t ", "", "ham\tcaf"]).encode() + b"\xe9"
    manifest = take({"dataset": "sms_spam"}, {FILE: content})
    assert manifest["statistics"]["dropped"] == {"no words": 1, "empty": 1, "an empty line": 1}
    assert manifest["statistics"]["replaced_bytes"] == 1
    folder = tmp_path / "data" / "prepared"
    sizes = examples(manifest)
    assert sizes == {"train": 25, "dev": 16, "test": 16}  # 3,500 to 2,072 of 41 messages
    assert (folder / "dev.jsonl").read_bytes() == (folder / "test.jsonl").read_bytes()
    expected = [(f"text {label} {n} ok", int(label == "spam")) for n in range(20) for label in
                ("ham", "spam")]  # fmt: skip
    assert labelled(tmp_path / "data", "train", "dev") == sorted([*expected, ("caf", 0)])


def test_a_text_with_characters_that_nobody_sees(take, tmp_path):
    odd = ["ham\tco\u00adoperate", "spam\tمی\u200cخواهم \u2764\ufe0f", "ham\t\u200b", "ham\t\u2060"]
    manifest = take({"dataset": "sms_spam"}, {FILE: "\n".join([*LINES, *odd]).encode()})
    assert manifest["statistics"]["unseen_characters"] == 3
    assert manifest["statistics"]["dropped"] == {"no words": 2}
    words = dict(labelled(tmp_path / "data", "train", "dev"))
    assert words["cooperate"] == 0 and words["می\u200cخواهم"] == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("egg\ttext", "SMSSpamCollection, line 41: expected ham or spam and a tab before"),
        ("ham text", "line 41: expected ham or spam and a tab before the message, found 'ham t"),
    ],
)
def test_a_wrong_line_is_named(refuse, line, sentence):
    refuse({"dataset": "sms_spam"}, {FILE: "\n".join([*LINES, line]).encode()}, sentence)


def test_the_real_file_has_the_papers_sizes(take, mirror):
    manifest = take({"dataset": "sms_spam"}, {FILE: mirror / "sms_spam" / FILE})
    statistics = manifest["statistics"]
    assert manifest["splits"]["train"]["examples"] == 3500
    assert manifest["splits"]["dev"]["examples"] == 2074 - statistics["dropped"]["no words"]
    assert statistics["median_length"] == {"train": 13, "dev": 13, "test": 13}
    assert statistics["replaced_bytes"] == 0
