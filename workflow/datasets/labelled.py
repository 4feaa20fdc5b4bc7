"""Texts with a label each in files of a user's own: CSV, TSV, JSON lines or Parquet.

`text` and `label` name the columns. Labels may be any texts: those to train on are numbered from 0
in their order, whole numbers by value. TSV has no quotation marks.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from numbers import Real
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from workflow.datasets.io.dataset_files import SPLITS, parse_json
from workflow.datasets.io.left_out import HEAD, LONGEST_LINE, Dropped, check_beginning, visible
from workflow.datasets.kinds.labelled_text import LabelledExample, LabelledText, divide
from workflow.datasets.kinds.own_files import OwnFiles
from workflow.runtime.errors import DataError, RecipeError, UserError, unknown


class _TSV(csv.excel_tab):
    quoting = csv.QUOTE_NONE


DIALECTS = {"csv": csv.excel, "tsv": _TSV}


@dataclass(frozen=True)
class Data(OwnFiles, LabelledText):
    """The texts."""

    format: Literal["csv", "tsv", "jsonl", "parquet"] = "csv"
    """What the files are; their endings tell it."""
    text: str = "text"
    """The column of the texts."""
    label: str = "label"
    """The column of the labels."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text == self.label:
            raise RecipeError(
                f"Options `text` and `label` of dataset `labelled` both name the column "
                f"{self.text!r}; name one for each."
            )

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every text as a record with its label, and which files they are from."""
        super().prepare(files, out)
        self.write_record(files, out)

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return the texts of every split."""
        own = self.by_split(files)
        rows = {
            split: [row for path in paths for row in self._rows(path, split)]
            for split, paths in own.items()
        }
        names = {label for _, label in rows["train"]}
        if len(names) == 1:
            raise DataError(
                f"{own['train'][0]}: all texts of data.train have the label {names.pop()!r}; add "
                "texts of another."
            )
        alike: dict[Decimal | str, str] = {}
        for name in sorted(names):
            if (twin := alike.setdefault(_meant(name), name)) != name:
                raise DataError(
                    f"{own['train'][0]}: the labels {twin!a} and {name!a} of data.train look "
                    "alike, or are one number; write both in the same way."
                )
        whole = all(name.isdecimal() for name in names)
        numbers = {name: at for at, name in enumerate(sorted(names, key=int if whole else str))}
        for split, texts in rows.items():
            if new := sorted({label for _, label in texts} - names):
                paths = ", ".join(map(str, own[split]))
                raise DataError(
                    f"{paths}: data.{split} has the label {new[0]!r}, which no text of data.train "
                    "has; add such texts there, or take it away."
                )
        splits = {
            split: [
                example
                for text, label in texts
                for example in self.worded(left_out.mend(text), numbers[label], left_out)
            ]
            for split, texts in rows.items()
        }
        for split, size in zip(
            self.missing, self.held_out(len(splits["train"]), own["train"]), strict=True
        ):
            splits["train"], splits[split] = divide(splits["train"], size)
        self.check_filled({split: len(splits[split]) for split in SPLITS}, own)
        return splits

    def _rows(self, path: Path, split: str) -> Iterator[tuple[str, str]]:
        """Yield text and label of each row of a file."""
        try:
            if self.format != "parquet":
                with path.open("rb") as stream:
                    check_beginning(path, stream.read(HEAD))
            for number, row in enumerate(self._read(path), start=1):
                for key, kinds in (("text", str), ("label", str | Real)):
                    column = getattr(self, key)
                    if column not in row:
                        raise unknown(f"{path}: data.{key}", "column", column, map(str, row))
                    value, where = row[column], f"{path}: row {number} of data.{split}"
                    blank = key == "label" and isinstance(value, str) and not value.strip()
                    if value is None or (isinstance(value, float) and value != value) or blank:
                        raise DataError(f"{where} has no {column}; add it.")
                    if not isinstance(value, kinds):
                        raise DataError(
                            f"{where}: {column} is of the type {type(value).__name__}; write a "
                            "text."
                        )
                yield str(row[self.text]), str(row[self.label])
        except UserError:
            raise
        except ImportError:
            raise DataError(
                f"{path}: to read Parquet (data.format) pandas needs pyarrow, which is not "
                "installed; install it, or save the file as CSV."
            ) from None
        except UnicodeDecodeError:
            raise DataError(
                f"{path}: data.{split} has bytes that are not UTF-8; save the file as UTF-8."
            ) from None
        except (ValueError, csv.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(
                f"{path}: data.{split} can't be read as {self.format} ({reason}); mend the file."
            ) from None

    def _read(self, path: Path) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a file; ValueError or csv.Error where one is broken."""
        csv.field_size_limit(LONGEST_LINE)
        if self.format == "parquet":
            import pandas as pd

            rows: list[Any] = pd.read_parquet(path).to_dict("records")
            yield from rows
            return
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if self.format == "jsonl":
                for number, line in enumerate(stream, start=1):
                    if not isinstance(row := parse_json(line), dict):
                        raise ValueError(f"line {number} is no JSON object")
                    yield row
                return
            table = csv.DictReader(stream, strict=True, dialect=DIALECTS[self.format])
            for column in (self.text, self.label):
                if (table.fieldnames or []).count(column) > 1:
                    raise ValueError(f"two columns have the name {column!r}")
            for row in table:
                if None in row or None in row.values():
                    raise ValueError(f"line {table.line_num} has not as many columns as the first")
                yield row


def _meant(label: str) -> Decimal | str:
    """Return a label as a person reads it, so that those that look alike are the same."""
    text = normalize("NFC", visible(label)).strip()
    try:
        return number if (number := Decimal(text)).is_finite() else text
    except InvalidOperation:
        return text
