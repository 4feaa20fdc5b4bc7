"""What could not be taken over from official files: read with it, written down, reported."""

import codecs
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import bidirectional, category, combining

from workflow.datasets.io.dataset_files import Statistics, write_bytes
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

GZIP = b"\x1f\x8b"
BEGINNINGS: dict[bytes, str] = {
    codecs.BOM_UTF32_LE: "in UTF-32; save it as UTF-8",
    codecs.BOM_UTF32_BE: "in UTF-32; save it as UTF-8",
    codecs.BOM_UTF16_LE: "in UTF-16; save it as UTF-8",
    codecs.BOM_UTF16_BE: "in UTF-16; save it as UTF-8",
    GZIP: "packed by gzip; unpack it",
    b"BZh91AY&SY": "packed by bzip2; unpack it",
    b"\xfd7zXZ": "packed by xz; unpack it",
    b"\x28\xb5\x2f\xfd": "packed by zstd; unpack it",
    b"7z\xbc\xaf": "in a 7z archive; unpack it",
    b"PK\x03\x04": "in a zip archive or a document of Office; unpack it, or save it as text",
    b"%PDF-": "in a PDF; save it as text",
    b"{\\rtf": "in RTF; save it as text",
    b"\xd0\xcf\x11\xe0": "in an old document of Office; save it as text",
    b"SQLite format 3": "in a database of SQLite; write its texts to a file",
    b"PAR1": "in Parquet; write its texts to a file",
    b"version https://git-lfs": "a pointer of Git LFS; fetch the file itself (git lfs pull)",
    b"<!DOCTYPE html": "a web page; fetch the file itself",
    b"<!doctype html": "a web page; fetch the file itself",
    b"<html": "a web page; fetch the file itself",
}
"""How content begins that is no text, and what helps."""
UNMARKED = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
MARKS = re.compile(rb"^(?:%b)+" % codecs.BOM_UTF8, re.MULTILINE)
"""Marks of UTF-8 at the beginning of a line: files that were put together have them there too."""
COUNTS = "counts.json"
"""The file of a folder of prepared data that has them."""
FEW, SHARE = 10, 0.001
"""A file has another encoding where more than `FEW` of its bytes, and more than `SHARE` of all of
them, can't be decoded."""
LONGEST_LINE = 1 << 26  # bytes
HEAD = 1 << 12
"""Bytes at a file's beginning that tell its encoding."""
ESCAPED = re.compile(rb"\x1b\$\)?[@-D]")
"""How ISO-2022 changes to the letters of Japanese, Korean and Chinese."""
BRACED = re.compile(rb"~\{(?:[!-w][!-~])+~\}")
"""How HZ writes Chinese."""
SHIFTED = re.compile(rb"\+[A-Za-z0-9+/]{3,}")
"""How UTF-7 writes letters that ASCII lacks."""
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode calls default ignorable: inside a word nobody sees it, and no word ends there."""
SOFT_HYPHEN, NON_JOINER, JOINERS = "\u00ad", "\u200c", "\u200c\u200d"
VIRAMA = 9  # its combining class


@dataclass
class Decoded:
    """How many bytes of a file were decoded."""

    encoding: str
    bytes: int = 0
    wrong: int = 0
    """Those that could not be decoded, and zeros, which no text has."""


@dataclass
class Dropped:
    """What could not be taken over from the files; ends up in the manifest's statistics."""

    replaced_bytes: int = 0
    """Bytes that the declared encoding could not decode, and zeros."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Texts left out, by reason."""
    decoded: dict[Path, Decoded] = field(default_factory=dict)
    """What was decoded, by file."""
    unseen: int = 0
    """Characters that nobody sees, taken out of texts whose words are split here."""

    def decode(self, path: Path, content: bytes, encoding: str = "utf-8") -> str:
        """Return a text of the file `path` without the marks of UTF-8 (BOM) that it may begin with.

        Lines of UTF-8 may begin with them too. Each byte that can't be decoded, and each zero,
        becomes U+FFFD and is counted. Raises DataError for content that is UTF-16 or is packed.
        """
        if encoding == "utf-8":
            check_beginning(path, content)
        return self.decode_line(path, content.removeprefix(codecs.BOM_UTF8), encoding)

    def decode_line(self, path: Path, content: bytes, encoding: str = "utf-8") -> str:
        """Return a part of a text that is not its beginning, as `decode` does."""
        before = self.replaced_bytes
        unmarked = MARKS.sub(b"", content) if encoding == "utf-8" else content
        text = self.mend(unmarked.decode(encoding, "surrogateescape"))
        decoded = self.decoded.setdefault(path, Decoded(encoding))
        decoded.bytes += len(content)
        decoded.wrong += self.replaced_bytes - before
        return text

    def mend(self, text: str) -> str:
        """Return a text in which U+FFFD, counted, stands for each half of a character and each NUL.

        Such halves (lone surrogates) can be in JSON, and nothing can write them; no text has NUL.
        """
        mended, lost = re.subn("[\0\ud800-\udfff]", "\ufffd", text)
        self.replaced_bytes += lost
        return mended

    def visible(self, text: str) -> str:
        """Return what `visible` returns of a text; what that takes out is counted."""
        seen = visible(text)
        self.unseen += len(text) - len(seen)
        return seen

    def check(self) -> None:
        """Raise DataError naming a file of which too much could not be decoded."""
        for path, decoded in self.decoded.items():
            if decoded.wrong > max(FEW, SHARE * decoded.bytes):
                raise _other_encoding(path, decoded)

    def write(self, out: Path) -> None:
        """Write the counts to a folder of prepared data."""
        counts = {"replaced_bytes": self.replaced_bytes, "dropped": self.dropped}
        counts |= {"unseen_characters": self.unseen} if self.unseen else {}
        write_bytes(out / COUNTS, json.dumps(counts, sort_keys=True).encode() + b"\n")


def check_beginning(path: Path, content: bytes) -> None:
    """Raise DataError where the content of a file begins as no text in UTF-8 does."""
    faults = [fault for beginning, fault in BEGINNINGS.items() if content.startswith(beginning)]
    for fault in faults or _unmarked(content[:HEAD]):
        raise DataError(f"{path}: this text is {fault}.")
    wrong = len(re.findall("[\ud800-\udfff]", content[:HEAD].decode("utf-8", "surrogateescape")))
    head = Decoded("utf-8", len(content[:HEAD]), wrong)
    if head.wrong > max(FEW, head.bytes / 3):
        raise _other_encoding(path, head)


def _other_encoding(path: Path, decoded: Decoded) -> DataError:
    """Return the error for a file of which too much could not be decoded."""
    return DataError(
        f"{path}: {decoded.wrong} of {decoded.bytes} bytes are no text in {decoded.encoding}, so "
        f"the file has another encoding; save it as {decoded.encoding} where it comes from "
        f"(data/manual or the mirror)."
    )


def _unmarked(head: bytes) -> Iterator[str]:
    """Yield which encoding has text here without a mark: with zero bytes and white space, or ASCII.

    Of UTF-7 and HZ there are three words at least, as such signs may mean something else.
    """
    if head.isascii() and ESCAPED.search(head):
        yield "in ISO-2022; save it as UTF-8"
    if head.isascii() and len(BRACED.findall(head)) > 2:
        yield "in HZ; save it as UTF-8"
    if head.isascii() and len(SHIFTED.findall(head)) > 2:
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder("utf-7")().decode(head)
            if not any(category(letter) in ("Cn", "Co", "Cs") for letter in text):
                yield "in UTF-7; save it as UTF-8"
    for mark, encoding in UNMARKED.items() if head.count(0) > min(FEW, len(head) / 3) else ():
        with suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(encoding)().decode(
                head
            )  # the last letter may be cut
            if "\0" not in text and re.search("[ \t\n]", text):
                yield BEGINNINGS[mark]


def read_left_out(prepared: Path) -> Statistics:
    """Return what `Dropped.write` wrote."""
    left_out: Statistics = json.loads((prepared / COUNTS).read_text(encoding="utf-8"))
    return left_out


def read_text(path: Path, left_out: Dropped) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, which may be gzipped; the last may lack its newline.

    Bytes that are not UTF-8 become U+FFFD and are counted. Raises DataError when there is no such
    file, it is damaged, there is no line, or one is longer than `LONGEST_LINE`.
    """
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; fetch it again.")
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    try:
        with gzip.open(path) if packed else path.open("rb") as lines:
            if not (head := lines.peek(HEAD)):
                raise DataError(f"{path}: this file is empty; {FETCH_AGAIN}.")
            check_beginning(path, head)
            while line := lines.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise DataError(
                        f"{path}: a line has {LONGEST_LINE} bytes or more, so this is no text of "
                        f"sentences; {CORRECT}."
                    )
                yield left_out.decode_line(path, line.rstrip(b"\r\n"))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: this file is damaged or cut short ({error}); {FETCH_AGAIN}."
        ) from None


def read_placed(path: Path, left_out: Dropped) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line that `read_text` yields."""
    for number, line in enumerate(read_text(path, left_out), start=1):
        yield f"{path}, line {number}", line


def read_rows(path: Path, left_out: Dropped) -> Iterator[tuple[str, str]]:
    """Yield (place, line) as `read_placed` does; empty lines are left out and counted.

    Raises DataError where rows end in carriage returns, which would make one of many.
    """
    for place, line in read_placed(path, left_out):
        if "\r" in line:
            raise DataError(
                f"{place}: a carriage return is inside this row, so rows may run into each other; "
                f"end each row with a newline: {CORRECT}."
            )
        if line.strip(" "):
            yield place, line
        else:
            left_out.dropped["an empty line"] += 1


def read_exact(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (place, line) as `read_placed` does; raise DataError for a byte that is no text."""
    left_out = Dropped()
    for place, line in read_placed(path, left_out):
        if left_out.replaced_bytes:
            raise DataError(
                f"{place}: this line is not UTF-8 or has a zero byte; save the file as UTF-8."
            )
        yield place, line


def invisible(text: str) -> bool:
    """Whether a text has nothing but white space and characters without width, such as U+200B."""
    return all(letter.isspace() or category(letter) in ("Cc", "Cf") for letter in text)


def visible(text: str) -> str:
    """Return a text without the characters that nobody sees, so that they split no word.

    A space without width (U+200B) becomes one with: it is where a word ends. As in RFC 5892,
    joiners stay behind a virama, and what keeps two Arabic letters apart stays, since they change
    what is read. A soft hyphen that is in no word is a dash.
    """
    return UNSEEN.sub(_seen, text.replace("\u200b", " "))


def _seen(unseen: re.Match[str]) -> str:
    """Return those of the characters, all between the same two others, that stay."""
    text, (start, end) = unseen.string, unseen.span()
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    stay = ""
    if combining(before) == VIRAMA:
        stay = JOINERS
    elif bidirectional(before) in ("AL", "NSM") and bidirectional(after) == "AL":
        stay = NON_JOINER
    if not all(category(one)[0] in "LMN" for one in (before, after)):
        stay += SOFT_HYPHEN
    return "".join(one for one in unseen[0] if one in stay)


def cells(place: str, line: str) -> tuple[str, str]:
    """Return what is before and after the tab of a line; without a tab all is before it.

    Raises DataError for a line with more tabs.
    """
    first, _, second = line.partition("\t")
    if "\t" in second:
        raise DataError(
            f"{place}: expected two columns with a tab between them, found "
            f"{2 + second.count(chr(9))}; {CORRECT}."
        )
    return first, second
