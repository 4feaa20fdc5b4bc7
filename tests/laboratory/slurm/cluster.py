"""A real Slurm on loopback: controller, two nodes with four fake GPUs each, munge; no systemd.

Where the kernel lets root limit memory by control groups (v1), jobs are held to what they ask for.
On demand a database keeps accounts, and limits of the user `root`.
"""

import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.debian import Unavailable, need
from tests.laboratory.slurm.processes import PREFIX, Failed, end_all, wait

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
ETC = Path("/etc/slurm")
DATABASE = ("slurmdbd", "mariadbd", "mariadb-install-db", "sacctmgr")
PACKAGES, DATABASE_PACKAGES = ("slurm-wlm", "munge"), ("slurmdbd", "mariadb-server")
MEMORY = Path("/sys/fs/cgroup/memory")
"""Where the control groups of memory are, in version 1."""
NODES = ("n1", "n2")

# Jobs go to the partition `low` unless they ask for `urgent`, which preempts it. What makes faults
# come sooner than on a real cluster: cred_expire, SlurmdTimeout, KillWait.
SLURM_CONF = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.sock,cred_expire=10
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=16817
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/{task}
JobAcctGatherType=jobacct_gather/none
{accounting}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerNode=500
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
SlurmctldTimeout=30
SlurmdTimeout=30
MinJobAge=900
KillWait={kill_wait}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16818 CPUs=8 RealMemory=32000 Gres=gpu:4
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=16819 CPUs=8 RealMemory=32000 Gres=gpu:4
PartitionName=urgent Nodes=n1,n2 MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF
PartitionName=low Nodes=n1,n2 Default=YES MaxTime=INFINITE PriorityTier=1 GraceTime={grace}
"""
GRES_CONF = "AutoDetect=off\nNodeName=n[1-2] Name=gpu File={folder}/dev/nvidia[0-3]\n"
CGROUP_CONF = "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainRAMSpace=yes\n"
SLURMDBD_CONF = """\
DbdHost=localhost
DbdPort=16829
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.sock
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=16830
StorageUser=slurm
StoragePass=slurm
StorageLoc=accounts
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd
"""
CONFIGURATION = {
    "slurm.conf": SLURM_CONF,
    "gres.conf": GRES_CONF,
    "cgroup.conf": CGROUP_CONF,
    "slurmdbd.conf": SLURMDBD_CONF,
}
NO_ACCOUNTS = "AccountingStorageType=accounting_storage/none"
ACCOUNTS = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=16829
AccountingStoragePass={folder}/munge/munge.sock
AccountingStorageEnforce=associations,limits"""
GRACE = 20
"""Seconds between SIGTERM and SIGKILL when a job is preempted."""
KILL_WAIT = 10
"""Seconds between SIGTERM and SIGKILL when a job's time is over."""


class Cluster:
    """A running Slurm; leaving the context ends it.

    Args:
        folder: an empty folder to keep its files in, also the mark of its processes.
        accounts: keep accounts in a database, and limits by user.
    """

    def __init__(self, folder: Path, accounts: bool = False) -> None:
        self.folder = folder
        self.accounts = accounts
        self.limits_memory = os.access(MEMORY / "cgroup.procs", os.W_OK)
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Cluster":
        _check_machine(self.accounts)
        try:
            self._configure()
            self._start("munged", "munged", "--foreground", *self._munge_options())
            wait("munge", (self.folder / "munge" / "munge.sock").exists)
            if self.accounts:
                self._start_database()
            self.start_controller()
            for node in NODES:
                self.start_node(node)
            wait("idle nodes", lambda: self.states() == ["idle"] * len(NODES))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        end_all(self.folder)
        for daemon in self.daemons.values():
            daemon.wait()
        for name in CONFIGURATION:
            path = ETC / name
            if path.is_symlink() and Path(os.readlink(path)).is_relative_to(self.folder):
                path.unlink()
        if self.limits_memory:
            for node in NODES:
                _remove_groups(MEMORY / f"slurm_{node}")

    def start_controller(self) -> None:
        """Start the controller and wait until it answers."""
        self._start("slurmctld", "slurmctld", "-D")
        wait("the controller", lambda: self.ask("scontrol", "ping").returncode == 0)

    def start_node(self, node: str) -> None:
        """Start a node's daemon."""
        self._start(node, "slurmd", "-D", "-N", node)

    def kill(self, daemon: str) -> None:
        """Kill a daemon with signal 9; what it has started lives on."""
        self.daemons[daemon].kill()
        self.daemons[daemon].wait()

    def ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a short command of Slurm."""
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def do(self, *command: str) -> str:
        """Run a short command of Slurm that must succeed."""
        done = self.ask(*command)
        if done.returncode:
            raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def jobs(self, folder: Path) -> list[dict[str, str]]:
        """What Slurm says of the jobs submitted in a folder, oldest first."""
        rows = self.do("scontrol", "--oneliner", "show", "job").splitlines()
        found = [dict(p.split("=", 1) for p in row.split() if "=" in p) for row in rows]
        own = [job for job in found if job.get("WorkDir") == str(folder)]
        return sorted(own, key=lambda job: int(job["JobId"]))

    def states(self) -> list[str]:
        """The state of each node."""
        return self.ask("sinfo", "-N", "-h", "-p", "low", "-o", "%t").stdout.split()

    def _configure(self) -> None:
        for name in ("etc", "state", "log", "run", "spool", "munge", "dev"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        for number in range(4):
            subprocess.run(
                ["mknod", self.folder / "dev" / f"nvidia{number}", "c", "1", "3"], check=True
            )
        key = self.folder / "munge" / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        ETC.mkdir(exist_ok=True)
        # At this place only: a job step looks nowhere else.
        for name, text in CONFIGURATION.items():
            path = self.folder / "etc" / name
            path.touch(0o600)
            path.write_text(text.format_map(self._settings()))
            (ETC / name).symlink_to(path)

    def _settings(self) -> dict[str, object]:
        return {
            "folder": self.folder,
            "host": socket.gethostname().split(".")[0],
            "grace": GRACE,
            "kill_wait": KILL_WAIT,
            "task": "cgroup" if self.limits_memory else "none",
            "accounting": ACCOUNTS.format(folder=self.folder) if self.accounts else NO_ACCOUNTS,
        }

    def _start_database(self) -> None:
        """Start the database and its daemon, and enter the cluster; `root` is in it."""
        data, first = self.folder / "database", self.folder / "etc" / "database.sql"
        first.write_text(
            "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
            "GRANT ALL ON accounts.* TO slurm@'127.0.0.1';\n"
        )
        made = self.ask("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}")
        if made.returncode:
            raise Unavailable(f"no database can be made: {made.stderr.strip()}")
        self._start(
            *("mariadbd", "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}"),
            *("--bind-address=127.0.0.1", "--port=16830", f"--socket={self.folder}/run/database"),
            f"--init-file={first}",
        )
        wait("the database", (self.folder / "run" / "database").exists)
        self._start("slurmdbd", "slurmdbd", "-D")
        wait("its daemon", lambda: self.ask("sacctmgr", "-n", "show", "user").returncode == 0)
        self.do("sacctmgr", "-i", "add", "cluster", "bench")

    def _munge_options(self) -> list[str]:
        files = {"key-file": "key", "socket": "sock", "pid-file": "pid", "log-file": "log"}
        names = {option: f"munge.{suffix}" for option, suffix in files.items()}
        names["seed-file"] = "munge.seed"
        return [f"--{option}={self.folder}/munge/{name}" for option, name in names.items()]

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / "log" / f"{name}.said").open("ab") as said:
            self.daemons[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )


def _check_machine(accounts: bool) -> None:
    """Make sure that a Slurm can be started here; CI installs it where that is possible."""
    programs = (*PROGRAMS, *DATABASE) if accounts else PROGRAMS
    packages = (*PACKAGES, *DATABASE_PACKAGES) if accounts else PACKAGES
    if os.geteuid() != 0:
        raise Unavailable("only root can start a Slurm")
    need("Slurm", programs, packages)
    for name in CONFIGURATION:
        path = ETC / name
        if _dangling(path):
            path.unlink()
        if path.is_symlink() or path.exists():
            raise Unavailable(f"{path} belongs to another Slurm")


def _remove_groups(folder: Path) -> None:
    """Remove a control group and those below it, which nothing is in any more."""
    for group in [*sorted(folder.rglob("*/"), reverse=True), folder]:
        with suppress(FileNotFoundError):
            group.rmdir()


def _dangling(path: Path) -> bool:
    """Whether a link was left by a bench that was killed before its end."""
    return path.is_symlink() and f"/{PREFIX}" in os.readlink(path) and not path.exists()
