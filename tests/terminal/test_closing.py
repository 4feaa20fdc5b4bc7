"""What an invocation ends with."""

from types import SimpleNamespace

from workflow.reporting.claims.judged import ClaimSide
from workflow.terminal.closing import choose, told


def claim(name, source, left=0.5, right=0.1, **more):
    """A judged claim, as far as it is told."""
    found = {"headline": False, "check": False, "paper": "", "label": "recall", "digits": 2}
    found |= {"measures": [f"results/demo/measures/{name}_task/soft/seed-0.json"], "source": source}
    sides = {"left": ClaimSide("ours", "soft", left), "right": ClaimSide("hard", "hard", right)}
    return SimpleNamespace(**{"id": name, **found, **sides, **more})


def test_numbers_are_of_main_claims_and_of_one_paper_each():
    claims = [
        claim("plain", "one2020 section 1"),
        claim("printed", "one2020 section 2", paper="0.9"),
        claim("main", "one2020, abstract", headline=True),
        claim("check", "two2020 section 1", check=True),
        claim("not_run", "two2020 section 2", left=None),
        claim("same", "two2020 section 3", left=0.1),
        claim("other", "two2020 section 4"),
    ]
    assert [one.id for one in choose(claims, 2)] == ["main", "other"]
    assert [one.id for one in choose(claims, 3)] == ["main", "other", "printed"]


def test_a_number_has_the_papers_beside_it():
    one = claim("stack", "one2020 section 2", paper="0.92")
    ours = "stack_task, recall: 0.50 (ours), 0.10 (hard)"
    assert told(one) == f"{ours}; the paper's 0.92 [one2020 section 2]"
    one.right, one.paper = ClaimSide("fixed value", None, 0.9), ""
    assert told(one) == "stack_task, recall: 0.50 (ours) [one2020 section 2]"
