"""Texts with a label each in files of a user's own: CSV, TSV, JSON lines or Parquet.

`text` and `label` name the columns. Labels may be any texts: those to train on are numbered from 0
in their order, whole numbers by value. TSV has no quotation marks.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workflow.datasets.io.dataset_files import SPLITS, parse_json
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.labelled_text import LabelledExample, LabelledText, divide
from workflow.datasets.kinds.own_files import OwnFiles
from workflow.runtime.errors import DataError, UserError, unknown

FORMS: Mapping[str, Any] = {"csv": {}, "tsv": {"delimiter": "\t", "quoting": csv.QUOTE_NONE}}


@dataclass(frozen=True)
class Data(OwnFiles, LabelledText):
    """The texts."""

    format: Literal["csv", "tsv", "jsonl", "parquet"] = "csv"
    """What the files are; the ending of the first tells it."""
    text: str = "text"
    """The column of the texts."""
    label: str = "label"
    """The column of the labels."""

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
        for name in sorted(names):
            if name.strip() != name and name.strip() in names:
                raise DataError(
                    f"{own['train'][0]}: the labels {name!r} and {name.strip()!r} of data.train "
                    f"differ in white space alone; write both alike."
                )
        whole = all(name.isdecimal() for name in names)
        numbers = {name: at for at, name in enumerate(sorted(names, key=int if whole else str))}
        for split, found in rows.items():
            if new := sorted({label for _, label in found} - names):
                paths = ", ".join(map(str, own[split]))
                raise DataError(
                    f"{paths}: data.{split} has the label {new[0]!r}, which no text of data.train "
                    "has; add such texts there, or take it away."
                )
        splits = {
            split: [
                one
                for text, label in found
                for one in self.worded(left_out.mend(text), numbers[label], left_out)
            ]
            for split, found in rows.items()
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
            for number, row in enumerate(self._read(path), start=1):
                for key in ("text", "label"):
                    column = getattr(self, key)
                    if column not in row:
                        raise unknown(f"{path}: data.{key}", "column", column, map(str, row))
                    if row[column] is None or row[column] != row[column]:  # NaN
                        raise DataError(
                            f"{path}: row {number} of data.{split} has no {column}; add it."
                        )
                yield str(row[self.text]), str(row[self.label])
        except UserError:
            raise
        except ImportError:
            raise DataError(
                f"{path}: to read Parquet (data.format) pandas needs pyarrow, which is not "
                "installed; install it, or save the file as CSV."
            ) from None
        except (ValueError, csv.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(
                f"{path}: data.{split} can't be read as {self.format} ({reason})."
            ) from None

    def _read(self, path: Path) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a file; ValueError or csv.Error where one is broken."""
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
            table = csv.DictReader(stream, strict=True, **FORMS[self.format])
            for one in table:
                if None in one or None in one.values():
                    raise ValueError(f"line {table.line_num} has not as many columns as the first")
                yield one
