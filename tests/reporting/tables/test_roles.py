"""Tables of roles: a row for each rank, with its lists."""

from tests.reporting.synthetic import lines, one_run
from workflow.definitions.paper import Paper
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.tables.long_form import build


def test_a_row_shows_the_list_of_its_rank() -> None:
    arrays = {
        "word": ["1", "2"],
        "frequency": [["30"], ["4"]],
        "typical": [["der", "die"], ["."]],
        "examples": [["'›der‹ mann'"], ["'en ›.‹'"]],
        "classes": [["noun 75 %"], ["–"]],
    }
    run = one_run("a", 0, {}, arrays)
    labels = {"experiment": "role_translation", "variant": "multi30k_onehot", "seed": 0}
    run = EvaluatedRun(run.path, run.identity, labels, {"roles": run.evaluators["probe"]})
    found = build(Paper("role_interaction"), "roles_multi30k", "demo", Measures([run]))
    cells = {(r["row"], r["column"]): r["mean"] for r in lines(found)}
    assert cells["1", "Typical tokens"] == "der, die"
    assert cells["2", "Freq"] == "4"
    assert cells["2", "Examples"] == "'en ›.‹'"
    assert cells["1", "Classes"] == "noun 75 %"
