# The budget is checked when all jobs are known and none has begun, with every profile. Snakemake
# calls `onstart` in its main process only, and not in a dry run.

from workflow.planning.budget import allowance, check_budget, check_built, plan_file
from workflow.planning.budget import load_plan, save_plan
from workflow.planning.cost import Job, by_experiment, run_of, trained
from workflow.planning.estimator import Estimator, uses_bf16, uses_gpu

CHANGES = ("mechanisms", "overlay", "own_experiments")
"""The keys of what a user adds; papers' own parts are built by tests."""


def allow(needed):
    """End with a sentence when jobs would fail or exceed the budget; note what they take."""
    limited, changed = allowance(PLAN) is not None, any(map(PLAN.config.get, CHANGES))
    if not limited and not changed:
        return
    gpu = uses_gpu(PLAN.config["device"])
    estimator = Estimator(PLAN, gpu, PUBLISHED, bf16=uses_bf16())
    with exit_on_user_error(), file_named(ROOT, OWN_FILES, SETTINGS):
        jobs = [Job(job.rule.name, job.wildcards_dict) for job in needed]
        check_built(filter(None, (run_of(PLAN, job) for job in jobs)), estimator)
        if limited:
            costs = by_experiment(jobs, estimator)
            check_budget(PLAN, costs, "GPU-hours" if gpu else "core-hours")
            save_plan(PLAN, costs.values())


def expect(needed):
    """Tell a logger of progress which jobs will run, and what their training was planned to take."""
    with exit_on_user_error():
        runs = load_plan(plan_file(PLAN))
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
