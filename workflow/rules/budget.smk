# The budget is checked when all jobs are known and none has begun, with every profile. Snakemake
# calls `onstart` in its main process only, and not in a dry run.

from workflow.planning.budget import Job, allowance, check_budget, costs, remember, uses_gpu
from workflow.planning.estimate import Estimator


def allow(needed):
    """End with a sentence when the jobs that would run exceed the budget; note what they take."""
    if allowance(PLAN) is None:
        return
    gpu = uses_gpu(PLAN.config["device"])
    estimator = Estimator(PLAN, gpu, PUBLISHED)
    with one_sentence():
        found = costs(PLAN, [Job(one.rule.name, one.wildcards_dict) for one in needed], estimator)
        check_budget(PLAN, found, "GPU-hours" if gpu else "core-hours")
        remember(PLAN, found)


onstart:
    allow(workflow.dag.needrun_jobs())
