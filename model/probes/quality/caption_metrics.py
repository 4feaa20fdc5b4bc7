"""BLEU and CIDEr-D of captions with several references, as the COCO caption evaluation has them.

Captions are lists of words, already split; what splits them is `model.probes.quality.coco_tools`'s
business. The numbers are those of `pycocoevalcap` on the same words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

ORDERS = 4
TINY, SMALL = 1e-15, 1e-9
"""What the released code of BLEU adds to numerators and denominators."""
SIGMA = 6.0
"""Of CIDEr-D's penalty on a difference in length."""

CaptionWords = Sequence[str]
Gram = tuple[str, ...]


def bleu(hypotheses: Sequence[CaptionWords], references: Sequence[Sequence[CaptionWords]]) -> float:
    """BLEU-4 of a corpus (Papineni et al. 2002), 0 to 100.

    A count is clipped by the reference that has most of it; the references' length is that of the
    reference nearest in length to each hypothesis, the shorter of two equally near. As in the
    released code next to nothing is added to all counts, which only tells where there are none.
    """
    right, made = np.zeros(ORDERS), np.zeros(ORDERS)
    written = wanted = 0
    for hypothesis, those in zip(hypotheses, references, strict=True):
        written += len(hypothesis)
        wanted += min((abs(len(one) - len(hypothesis)), len(one)) for one in those)[1]
        most: Counter[Gram] = Counter()
        for one in those:
            most |= grams(one)
        for gram, count in grams(hypothesis).items():
            made[len(gram) - 1] += count
            right[len(gram) - 1] += min(count, most[gram])
    brevity = min(0.0, 1 - (wanted + SMALL) / (written + TINY))
    precision = np.log((right + TINY) / (made + SMALL)).mean()
    return 100 * math.exp(brevity + float(precision))


def cider(
    hypotheses: Sequence[CaptionWords], references: Sequence[Sequence[CaptionWords]]
) -> np.ndarray:
    """CIDEr-D of each image (N,) (Vedantam et al. 2015, section 4), times 100 as papers print it.

    Words and n-grams weigh by how few of the images have them in a reference. The length that is
    compared is in bigrams, as in the released code.
    """
    having = Counter(
        gram for those in references for gram in set().union(*(grams(one) for one in those))
    )
    images = math.log(len(references))
    scores = []
    for hypothesis, those in zip(hypotheses, references, strict=True):
        mine = _Weighed(hypothesis, having, images)
        likeness = [mine.likeness(_Weighed(one, having, images)) for one in those]
        scores.append(1000 * float(np.mean(likeness)))
    return np.array(scores)


class _Weighed:
    """A caption as vectors of its weighed n-grams, one for each n."""

    def __init__(self, words: CaptionWords, having: Counter[Gram], images: float) -> None:
        self.vectors: list[dict[Gram, float]] = [{} for _ in range(ORDERS)]
        for gram, count in grams(words).items():
            weight = images - math.log(max(1, having[gram]))
            self.vectors[len(gram) - 1][gram] = count * weight
        self.norms = [math.sqrt(sum(x * x for x in vector.values())) for vector in self.vectors]
        self.length = max(0, len(words) - 1)

    def likeness(self, reference: _Weighed) -> float:
        """Cosine to a reference, clipped by its weights, over all n, less for another length."""
        cosines = []
        for mine, theirs, *norms in zip(
            self.vectors, reference.vectors, self.norms, reference.norms, strict=True
        ):
            product = sum(
                min(x, theirs.get(gram, 0)) * theirs.get(gram, 0) for gram, x in mine.items()
            )
            cosines.append(product / math.prod(norms) if all(norms) else 0.0)
        apart = self.length - reference.length
        return float(np.mean(cosines)) * math.exp(-(apart**2) / (2 * SIGMA**2))


def grams(words: CaptionWords) -> Counter[Gram]:
    """How often each n-gram, n = 1 to 4, stands in a caption."""
    return Counter(
        tuple(words[start : start + n])
        for n in range(1, ORDERS + 1)
        for start in range(len(words) - n + 1)
    )
