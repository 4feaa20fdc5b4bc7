"""What the cases share: the cluster, copies of one planned project, and the undisturbed result."""

from contextlib import suppress
from dataclasses import dataclass, field

from tests.debian import Unavailable
from tests.laboratory.slurm.cluster import Cluster
from tests.laboratory.slurm.processes import Failed
from tests.laboratory.slurm.project import SAVE_EVERY, UPDATES, Project

Plant = tuple[str, str, str]
"""A file, a text in it, and what to put there."""


@dataclass
class Bench:
    """One case's view of the bench.

    Args:
        cluster: a running Slurm.
        planned: the project to copy.
        weights: of the undisturbed run.
        time: how often the case was run before.
        plant: a mistake, as the edit of a file, that the case must notice.
        projects: those that this case has asked for.
        cost: updates lost, and seconds until the run went on, where it had to.
    """

    cluster: Cluster
    planned: Project
    weights: bytes
    time: int = 0
    plant: Plant | None = None
    projects: list[Project] = field(default_factory=list)
    cost: tuple[int, float] | None = None

    def project(self, name: str) -> Project:
        """A copy of the planned project."""
        project = self.planned.copy(self.planned.folder.with_name(f"{name}-{self.time}"))
        if self.plant:
            project.edit(*self.plant)
        self.projects.append(project)
        return project

    def needs(self, there: bool, otherwise: str) -> None:
        """Skip the case unless the cluster has something, and say what is missing."""
        if not there:
            raise Unavailable(otherwise)

    def close(self) -> None:
        """End all that this case has left running."""
        for project in self.projects:
            for snakemake in project.started:
                snakemake.kill()
            with suppress(Failed):
                jobs = [job["JobId"] for job in self.cluster.jobs(project.folder)]
                self.cluster.ask("scancel", *jobs)
                self.cluster.ask("scancel", "--signal=KILL", *jobs)

    def job(self, project: Project) -> str:
        """The id of a project's newest job."""
        return self.cluster.jobs(project.folder)[-1]["JobId"]

    def state(self, project: Project, job: str) -> str:
        """What Slurm says of a job."""
        return {j["JobId"]: j["JobState"] for j in self.cluster.jobs(project.folder)}[job]

    def submit(self, project: Project, log: str, command: str, *options: str) -> str:
        """Submit a job of one's own in a project's folder and return its id."""
        given = options or ("--gpus=1",)
        return self.cluster.do(
            *("env", f"SACCADE_PACE={project.pacing}"),
            *("sbatch", "--parsable", f"--chdir={project.folder}", f"--output={log}"),
            *(*given, f"--wrap={command}"),
        )

    def whole(self, project: Project, again: float = 2 * SAVE_EVERY) -> str:
        """Check that a run has the weights of the undisturbed one; say what the fault cost.

        No more than the updates of so many seconds may have been made `again`.
        """
        if project.weights != self.weights:
            raise Failed("the weights differ from those of an undisturbed run")
        record = project.record
        continued = len(record["continuations"])
        if continued != len(project.pids) - 1 or record["steps"] != UPDATES:
            raise Failed(f"run.json tells of {continued} continuations, not {project.pids}")
        if project.lost_seconds > again:
            raise Failed(f"the updates of {project.lost_seconds:.1f} s were made again")
        said = ""
        if continued:
            self.cost = project.lost, project.pause
            said = f"{project.lost} updates lost, {project.pause:.0f} s to resume; "
        return f"{said}the weights are those of an undisturbed run"

    def overlap(self, project: Project) -> str:
        """Check that the older of two processes left at its next save; say how long both worked."""
        older, newer = ([u.time for u in project.updates if u.pid == pid] for pid in project.pids)
        both = max(0.0, older[-1] - newer[0])
        if both > 2 * SAVE_EVERY:
            raise Failed(f"two processes worked on the run for {both:.1f} s")
        return f"two processes for {both:.1f} s"
