"""The Yelp Open Dataset: reviews with 1 or 2 stars 0, with 4 or 5 stars 1; 3 stars are left out.

A line is a JSON object with `stars` and `text`. Yelp gives the file away for a signed form only.
Attention Learning trains on 88,821 reviews and evaluates on 4,000 (snell2021 table 8), and does not
say which: here they are drawn from the first 200,000 lines, so that only these are read and kept in
memory. The 4,000 are both dev and test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from workflow.datasets.io.dataset_files import by_name, parse_json
from workflow.datasets.io.left_out import Dropped, read_rows
from workflow.datasets.kinds.labelled_text import LabelledExample, LabelledText, hold_out
from workflow.runtime.errors import CORRECT, DataError

FILE = "yelp_academic_dataset_review.json"
LINES = 200_000
TRAIN, HELD_OUT = 88821, 4000
LABELS = {1: 0, 2: 0, 3: None, 4: 1, 5: 1}


@dataclass(frozen=True)
class Data(LabelledText):
    """The reviews."""

    files = (FILE,)

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return a sample of the reviews."""
        reviews: list[LabelledExample] = []
        for place, line in islice(read_rows(by_name(files, FILE), left_out), LINES):
            stars, text = _review(place, line)
            label = LABELS[stars]
            if label is None:
                left_out.dropped["3 stars"] += 1
            else:
                reviews += self.worded(left_out.mend(text), label, left_out)
        return hold_out(reviews, TRAIN, HELD_OUT, left_out)


def _review(place: str, line: str) -> tuple[int, str]:
    """Return the stars and the text of a line."""
    review = parse_json(line)
    if not isinstance(review, dict) or not isinstance(review.get("text"), str):
        raise DataError(
            f'{place}: expected a JSON object with "stars" and "text", each once; {CORRECT}.'
        )
    stars = review.get("stars")
    if type(stars) not in (int, float) or stars not in LABELS:
        raise DataError(f"{place}: expected 1 to 5 stars, found {stars!r}; {CORRECT}.")
    return int(stars), review["text"]
