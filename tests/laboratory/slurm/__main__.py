"""Faults on a real Slurm: python -m tests.laboratory.slurm [CASE ...]; see docs/reliability.md.

Exit status 1 when a case fails; where no Slurm can be started the set is skipped, with the reason.
With --planted each case is run on a project with a mistake in it, and has to fail.
"""

import argparse
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.debian import Unavailable
from tests.laboratory.slurm.bench import Bench, Plant
from tests.laboratory.slurm.cases import ALONE, COMPARED, PLANTS, TOGETHER, Case
from tests.laboratory.slurm.cluster import Cluster
from tests.laboratory.slurm.processes import Failed, end_all, interrupted, workplace
from tests.laboratory.slurm.project import LOCAL, Project, planned

TOLD = ("JobId", "JobState", "Reason", "ExitCode", "Restarts", "NodeList", "StartTime", "EndTime")
"""What is told of a job."""
AT_ONCE = 4
"""Cases at a time: each keeps one or two of the eight fake GPUs and half a core busy."""


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    case: Case
    passed: bool
    seconds: float
    found: str
    cost: tuple[int, float] | None

    def __str__(self) -> str:
        word = "passed" if self.passed else "FAILED"
        return f"{self.case.__name__:<14}  {word}  {self.seconds:4.0f} s  {self.found}"


def main() -> None:
    """Run from the command line."""
    cases = {case.__name__: case for case in (*TOGETHER, *ALONE, *COMPARED)}
    default = [case.__name__ for case in (*TOGETHER, *ALONE)]
    parser = argparse.ArgumentParser(prog="python -m tests.laboratory.slurm", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"one of {', '.join(cases)}")
    parser.add_argument(
        "--accounts", action="store_true", help="keep accounts in a database, and limits of jobs"
    )
    parser.add_argument("--times", type=int, default=1, help="run each case so often; tell ranges")
    parser.add_argument("--planted", action="store_true", help="demand that each case fails")
    arguments = parser.parse_args()
    chosen = arguments.case or (list(PLANTS) if arguments.planted else default)
    known = PLANTS if arguments.planted else cases
    for name in chosen:
        if name not in known:
            parser.error(f"there is no case {name!r}; there are {', '.join(known)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    try:
        with workplace() as folder, Cluster(folder, arguments.accounts) as cluster:
            print(f"a Slurm with two nodes runs after {time.monotonic() - began:.0f} s", flush=True)
            named = [(cases[name], time) for time in range(arguments.times) for name in chosen]
            plants = {name: PLANTS[name] for name in chosen} if arguments.planted else {}
            verdicts = _run(named, cluster, folder, plants)
    except Unavailable as error:
        print(f"skipped: {error}")
        return
    print(f"\nin {time.monotonic() - began:.0f} s:", *verdicts, sep="\n")
    if arguments.times > 1:
        print("", *(_range(name, verdicts) for name in chosen), sep="\n")
    sys.exit(not all(verdict.passed for verdict in verdicts))


def _run(
    cases: list[tuple[Case, int]], cluster: Cluster, folder: Path, plants: Mapping[str, Plant]
) -> list[Verdict]:
    """Run cases: first those that can run at the same time, then the others one by one.

    Beside each stands how often it was run before.
    """
    began = time.monotonic()
    project = planned(folder / "projects" / "planned")
    undisturbed = project.copy(folder / "projects" / "undisturbed")
    undisturbed.snakemake(*LOCAL, *undisturbed.target("run.json")).end()
    print(f"the undisturbed run took {time.monotonic() - began:.0f} s", flush=True)

    def one(named: tuple[Case, int]) -> Verdict:
        case, before = named
        plant = plants.get(case.__name__)
        return _one(case, Bench(cluster, project, undisturbed.weights, before, plant))

    together = [named for named in cases if named[0] in TOGETHER]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            verdicts = list(pool.map(one, together))
        except BaseException:
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            end_all(folder)
            raise
    return verdicts + [one(named) for named in cases if named[0] not in TOGETHER]


def _one(case: Case, bench: Bench) -> Verdict:
    began = time.monotonic()
    try:
        found = case(bench)
        passed = bench.plant is None
    except Unavailable as error:
        passed, found = True, f"skipped: {error}"
    except Failed as error:
        passed, found = bench.plant is not None, str(error)
    except Exception as error:
        passed, found = False, f"{type(error).__name__}: {error}"
    finally:
        bench.close()
    if bench.plant and passed:
        found = found.partition("\n")[0]
    elif not passed:
        found = "\n".join([found, *_jobs(bench), *_last_words(bench.projects)])
    verdict = Verdict(case, passed, time.monotonic() - began, found, bench.cost)
    print(f"\n{case.__doc__}\n{verdict}", flush=True)
    return verdict


def _range(name: str, verdicts: Iterable[Verdict]) -> str:
    """Say how often a case passed, and from what to what it cost updates and seconds."""
    own = [verdict for verdict in verdicts if verdict.case.__name__ == name]
    costs = list(zip(*(verdict.cost for verdict in own if verdict.cost), strict=True))
    ranges = [f"{min(one):.0f} to {max(one):.0f}" for one in costs] or ["–", "–"]
    passed = sum(verdict.passed for verdict in own)
    return f"| `{name}` | {passed} of {len(own)} | {' | '.join(ranges)} |"


def _jobs(bench: Bench) -> Iterable[str]:
    """What Slurm says of the jobs of a case that failed."""
    for project in bench.projects:
        with suppress(Failed):
            for job in bench.cluster.jobs(project.folder):
                yield " ".join(f"{name}={job[name]}" for name in TOLD if name in job)


def _last_words(projects: Iterable[Project]) -> Iterable[str]:
    """What was said last in the projects of a case that failed."""
    for project in projects:
        for log in [snakemake.said for snakemake in project.started[-1:]] + [project.log]:
            yield from ("---", *log.splitlines()[-20:])


if __name__ == "__main__":
    main()
