"""JSON lines: in order, read back as they were, and never used when they are others."""

from pathlib import Path

import pytest

from tests.sealing import flip
from workflow.runtime.integrity import Damaged
from workflow.runtime.json_lines import read_line, read_lines, whole_lines, write_lines

VALUES = {
    **{f"v/seed-{n}": {"schema": 1, "text": f"\u2028 {n}\r", "at": [0.5, n]} for n in range(12)},
    "a": {"key of its own": None},
    'q"u\\o/te': {"x": {"key": "v/seed-1"}},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_lines(tmp_path / "some/file.jsonl", VALUES)
    return tmp_path / "some/file.jsonl"


def test_lines_are_read_back_by_key_and_in_order(path: Path) -> None:
    assert read_lines(path) == VALUES == read_lines(path, VALUES)
    assert [*read_lines(path)] == ["a", 'q"u\\o/te', *(f"v/seed-{n}" for n in range(12))]
    assert {key: read_line(path, key) for key in VALUES} == VALUES
    assert path.read_bytes().count(b"\n") == len(VALUES)


def test_the_order_of_what_is_given_changes_nothing(path: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "other.jsonl", dict(reversed(VALUES.items())))
    assert (tmp_path / "other.jsonl").read_bytes() == path.read_bytes()


def test_what_json_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_lines(tmp_path / "f.jsonl", {"a": {"x": float("nan")}})
    assert list(tmp_path.iterdir()) == []


def test_any_flipped_bit_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole) - 8, 97):
        flip(path, bit)
        with pytest.raises(Damaged, match=r"file\.jsonl, line \d+ is damaged"):
            read_lines(path)
        assert len(list(whole_lines(path))) in (len(VALUES) - 1, len(VALUES) - 2)
        path.write_bytes(whole)


def test_a_line_that_is_damaged_or_missing_is_not_read(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    assert read_line(path, "v/seed-10") == VALUES["v/seed-10"]
    with pytest.raises(Damaged, match=r"file\.jsonl: the line of a is missing"):
        read_line(path, "a")
    with pytest.raises(Damaged, match=r"file\.jsonl: the line of a is missing"):
        read_lines(path, VALUES)
    with pytest.raises(Damaged, match=r"file\.jsonl, line 3: v/seed-1 does not belong there"):
        read_lines(path, {key for key in VALUES if key not in ("a", "v/seed-1")})
    path.write_bytes(b"".join([*lines, lines[0]]))
    for read in (lambda: read_line(path, "a"), lambda: read_lines(path)):
        with pytest.raises(Damaged, match=r"file\.jsonl, line 15: a stands there twice"):
            read()
