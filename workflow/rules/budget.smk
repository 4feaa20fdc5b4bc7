# The budget is checked when all jobs are known and none has begun, with every profile. Snakemake
# calls `onstart` in its main process only, and not in a dry run.

from workflow.planning.budget import TRAIN, Job, allowance, check_budget, costs, planned
from workflow.planning.budget import remember, uses_gpu
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


def expect(needed):
    """Tell a logger of progress which jobs will run, and what their training was planned to take."""
    with one_sentence():
        runs = planned(PLAN)
    logger.info(
        "", extra={"expected": [(workflow.dag.jobid(one), *expected(one, runs)) for one in needed]}
    )


def expected(job, runs):
    """Return a job's rule, and the seconds planned for its run, None without a plan."""
    run = "{experiment}/{variant}/seed-{seed}".format
    key = run(**job.wildcards_dict) if job.rule.name in TRAIN else ""
    return job.rule.name, runs.get(key, {}).get("seconds")


onstart:
    allow(workflow.dag.needrun_jobs())
    expect(workflow.dag.needrun_jobs())
