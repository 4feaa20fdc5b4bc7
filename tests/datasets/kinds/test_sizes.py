"""The stated sizes of training sets against what published runs read of them."""

import pytest

from workflow import PUBLISHED
from workflow.datasets.kinds.sizes import stated
from workflow.runtime.json_lines import whole_lines

RUNS = PUBLISHED / "lite" / "runs"


def test_published_runs_read_what_is_stated():
    """A number of epochs counts all tokens, and a number of updates of examples those of each."""
    compared = set()
    for path in sorted(RUNS.glob("*.jsonl")):
        for run in whole_lines(path):
            recipe, training = run["spec"]["run"]["data"], run["spec"]["training"]
            size, batch = stated(recipe, 10_000), training["batch"]
            if size is None or (training.get("updates") and "examples" not in batch):
                continue
            if epochs := training.get("epochs"):
                read, expected = run["tokens"] / epochs, size.tokens
            else:
                read = run["tokens"] / run["steps"] / batch["examples"]
                expected = size.tokens / size.examples
            assert read == pytest.approx(expected, rel=0.1), recipe
            compared.add((recipe["dataset"], recipe.get("protocol")))
    assert len(compared) >= 9


def test_a_recipe_tells_its_vocabulary_and_chooses_its_line():
    news = {"dataset": "news_commentary", "direction": "en_nl", "vocabulary": 8000}
    size = stated(news, 10_000)
    assert (size.examples, size.vocabulary) == (52070, 8000)
    assert stated({"dataset": "multi30k", "merges": 6000}, 10_000).vocabulary == 6000
    assert stated({"dataset": "sst", "protocol": "of mine"}, 10_000) is None
    assert stated({"dataset": "of_mine"}, 10_000) is None
