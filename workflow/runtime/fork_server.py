"""Jobs of this machine as forks of one process that has imported what most of them need.

To start Python and torch takes longer than most jobs of a demo. Such a job is still a process of
its own, with the command line, environment, folder and files that Snakemake gave it: its program
hands these over, waits, passes signals on, and ends as the fork does. Where nothing answers, it
does the work itself. No code of the project is imported before the fork, but this.
"""

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType

PLACE = "SACCADE_FORKS"
"""The variable that names the socket."""
IMPORTED = (
    *("pydantic", "scipy.special", "sklearn.linear_model", "sacrebleu"),
    *("torch._dynamo", "safetensors.torch"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What libraries read when they are loaded: only a job of one thread is a fork."""
LONGEST = 100
"""Letters of a socket's path."""


@contextmanager
def forks(imported: Sequence[str] = IMPORTED) -> Iterator[subprocess.Popen[bytes] | None]:
    """Let jobs that are started inside the block be forks, on a system that is good at it.

    Yields the process that forks, which has `imported` these modules.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "socket"))
        if sys.platform != "linux" or len(place) > LONGEST:
            yield None
            return
        call = f"from {__name__} import serve; serve({place!r}, {[*imported]})"
        command = [sys.executable, "-c", call]
        environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
        server = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        os.environ[PLACE] = place
        try:
            yield server
        finally:
            os.environ.pop(PLACE, None)
            server.communicate()


def serve(place: str, imported: Sequence[str]) -> None:
    """Fork for every caller until the standard input ends; in the fork, be the caller's program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(1024)
        for name in imported:
            import_module(name)
        gc.freeze()
        caller = _next_job(listener)
    if caller is not None:
        _become(caller)


def _next_job(listener: socket.socket) -> socket.socket | None:
    """Return the connection to its caller in each fork, None in the end in the first process."""
    poll = select.poll()
    poll.register(sys.stdin, select.POLLIN)
    poll.register(listener, select.POLLIN)
    callers: dict[int, tuple[socket.socket, int]] = {}  # with the fork of each
    ended: dict[int, socket.socket] = {}  # what tells the end of a fork, with its caller
    asked = True
    while asked or ended:
        for file, _ in poll.poll():
            if file == sys.stdin.fileno():
                asked = False
                poll.unregister(file)
            elif file == listener.fileno():
                caller, _ = listener.accept()
                pid = os.fork()
                if not pid:
                    for other, waiting in ended.items():
                        os.close(other)
                        waiting.close()
                    return caller
                with suppress(OSError):
                    caller.send(pid.to_bytes(4, "big"))
                callers[caller.fileno()] = caller, pid
                ended[os.pidfd_open(pid)] = caller
                poll.register(caller, 0)
                poll.register(list(ended)[-1], select.POLLIN)
            elif file in ended:
                caller = ended.pop(file)
                _, pid = callers.pop(caller.fileno())
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with suppress(OSError):
                    caller.send(status.to_bytes(4, "big", signed=True))
                with suppress(KeyError):
                    poll.unregister(caller)
                poll.unregister(file)
                os.close(file)
                caller.close()
            elif file in callers:  # it was killed
                poll.unregister(file)
                os.kill(callers[file][1], signal.SIGTERM)
    return None


def _become(caller: socket.socket) -> None:
    """Take the caller's files, environment, folder and command line, and run its program."""
    sys.excepthook = say_interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with caller, caller.makefile("rb") as stream:
        _, files, _, _ = socket.recv_fds(caller, 1, 3)
        told = json.loads(stream.readline())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    os.umask(told["umask"])
    # What it imports of the project is that of its own folder or path.
    sys.path[:1] = [told["folder"], *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    for name in [one for one in sys.modules if one.partition(".")[0] == "workflow"]:
        del sys.modules[name]
    sys.argv[1:] = told["arguments"]
    os._exit(_run(told["program"]))


def _run(program: str) -> int:
    """Run a program to its end, and return its status.

    Without what Python does beyond it: to take down what was imported would copy all of it.
    """
    status = 0
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt as error:
        say_interrupted(type(error), error, None)
        status = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def say_interrupted(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Say what ended a program; of Ctrl-C, at whatever place, a sentence alone."""
    if issubclass(kind, KeyboardInterrupt):
        print("error: interrupted; the same command goes on from there.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def be(program: str, arguments: Sequence[str]) -> None:
    """Be a program: as a fork where a process forks for jobs of one thread, else here."""
    sys.excepthook = say_interrupted
    place = os.environ.get(PLACE)
    if place and all(os.environ.get(name) == "1" for name in THREADS):
        hand_over(place, program, arguments)
    sys.argv[1:] = arguments
    runpy.run_module(program, run_name="__main__", alter_sys=True)


def hand_over(place: str, program: str, arguments: Sequence[str]) -> None:
    """End as the fork that is a program; return where nothing answers at the place."""
    os.umask(umask := os.umask(0))
    told = {
        "program": program,
        "arguments": list(arguments),
        "folder": os.getcwd(),
        "umask": umask,
        "environment": dict(os.environ),
    }
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(place)
        except OSError:
            return
        with suppress(OSError):  # it was killed: nothing comes back then
            socket.send_fds(server, [b"+"], [0, 1, 2])
            server.sendall(json.dumps(told).encode() + b"\n")
        sys.exit(_outcome(server))


def _outcome(server: socket.socket) -> int | str:
    """Wait for the fork, passing signals on; return its status, or a sentence where it has none."""
    gone = "error: the process that this job is a fork of was killed; run the same again."
    told = server.recv(4)
    if not told:
        return gone
    pid = int.from_bytes(told, "big")

    def pass_on(number: int, _: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    told = server.recv(4)
    if not told:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return gone
    status = int.from_bytes(told, "big", signed=True)
    return status if status >= 0 else f"error: the job was killed by signal {-status}."
