"""What a metric is in one run: a scalar of its measures, or a word's list as text.

An evaluator may list something for each of several words (its nearest neighbours): its array `word`
has the words, and its other arrays a list for each of them, in this order.
"""

from collections.abc import Mapping
from typing import Any

from workflow.reporting.measures import Measure


def scalar(metric: Mapping[str, Any], measure: Measure) -> Mapping[str, Any] | None:
    """Return {value, ...} of a metric of `tables.yaml` in a run, or None when it has no value.

    With the key `of` its value is the list of that word, as `this, that`, or – where the evaluator
    was run and has no such word.
    """
    if "of" not in metric:
        return measure.scalar(metric["measure"])
    evaluator = str(metric["measure"]).partition(".")[0]
    words, lists = measure.array(f"{evaluator}.word"), measure.array(metric["measure"])
    if words is None or lists is None:
        return None
    if metric["of"] not in words:
        return {"value": "–"}
    found = lists[words.index(metric["of"])]
    return {"value": ", ".join(found), "n": len(found)} if found else None
