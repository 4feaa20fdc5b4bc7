# The budget is checked when all jobs are known and none has begun, with every profile. Snakemake
# calls `onstart` in its main process only, and not in a dry run.

from workflow.planning.budget import Job, allowance, check_budget, costs, plan_file, recall
from workflow.planning.budget import remember, trained, uses_gpu
from workflow.planning.estimate import Estimator


def allow(needed):
    """End with a sentence when the jobs that would run exceed the budget; note what they take."""
    if allowance(PLAN) is None:
        return
    gpu = uses_gpu(PLAN.config["device"])
    estimator = Estimator(PLAN, gpu, PUBLISHED)
    with one_sentence(), file_named(ROOT, OWN_FILES, workflow.config_settings.config or {}):
        found = costs(PLAN, [Job(one.rule.name, one.wildcards_dict) for one in needed], estimator)
        check_budget(PLAN, found, "GPU-hours" if gpu else "core-hours")
        remember(PLAN, found)


def expect(needed):
    """Tell a logger of progress which jobs will run, and what their training was planned to take."""
    with one_sentence():
        runs = recall(plan_file(PLAN))
    logger.info(
        "", extra={"expected": [(workflow.dag.jobid(one), *expected(one, runs)) for one in needed]}
    )


def expected(job, runs):
    """Return a job's rule, and the seconds planned for its run, None without a plan."""
    run = trained(PLAN, Job(job.rule.name, job.wildcards_dict))
    return job.rule.name, runs.get(run.key, {}).get("seconds") if run else None


onstart:
    allow(workflow.dag.needrun_jobs())
    expect(workflow.dag.needrun_jobs())
