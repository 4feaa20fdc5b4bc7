"""What official files lose is counted: bytes that cannot be decoded."""

from hypothesis import given, settings
from hypothesis import strategies as st

from workflow.datasets.io.left_out import LeftOut, read_placed


@settings(deadline=None)
@given(st.binary(), st.sampled_from(["utf-8", "ascii"]))
def test_every_byte_that_cannot_be_decoded_is_counted(content, encoding):
    left_out = LeftOut()
    text = left_out.decode(content, encoding)
    kept = text.replace("\ufffd", "")
    assert left_out.replaced_bytes >= text.count("\ufffd") - content.count("\ufffd".encode())
    if left_out.replaced_bytes == 0:
        assert text.encode(encoding) == content
    if "\ufffd".encode() not in content:
        assert len(kept.encode(encoding)) + left_out.replaced_bytes == len(content)


def test_two_wrong_bytes_by_hand():
    left_out = LeftOut()
    assert left_out.decode(b"caf\xc3\xa9 d\xe9j\xe0", "utf-8") == "café d\ufffdj\ufffd"
    assert left_out.replaced_bytes == 2


def test_lines_are_decoded_one_by_one(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a\x85b\r\nc\xe9\n\nlast")
    left_out = LeftOut()
    lines = list(read_placed(path, left_out))
    assert [line for _, line in lines] == ["a\ufffdb", "c\ufffd", "", "last"]
    assert lines[1][0] == f"{path}, line 2" and left_out.replaced_bytes == 2
