"""What an overlay changes of a run, on a made-up project."""

from tests.planning.test_targets import targets
from workflow.planning.overlaid import overlaid


def test_changes_are_told_by_setting_and_a_parents_are_its_childs(project):
    plan = targets(project).plan
    assert overlaid(plan, [plan.run("one", "small", 0)]) == {}
    training = {"optimizer": {"lr": 0.5}}
    data = {"dataset": "sms_spam"}
    changes = {"one": {"training": training, "variants": {"small": {"data": data}}}}
    overlay = {"name": "mine", "experiments": changes}
    plan = targets(project, overlay=overlay).plan
    runs = [plan.run("one", "small", seed) for seed in (0, 1)]
    found = overlaid(plan, [*runs, plan.run("one", "large", 0), plan.run("two", "tuned", 0)])
    stated = targets(project).plan.run("one", "small", 0).settings
    lr = [stated.training["optimizer"]["lr"], 0.5]
    mine = {"data": [stated.data, data], "training.optimizer.lr": lr}
    assert found == {
        "one/small": mine,
        "one/large": {"training.optimizer.lr": lr},
        "two/tuned": {f"parents.first.{key}": pair for key, pair in mine.items()},
    }
