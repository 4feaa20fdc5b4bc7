"""Be the program of a job, as a fork where that is faster: `python -m workflow.scripts train`."""

import sys
from pathlib import Path

from workflow.runtime.fork_server import be

if __name__ == "__main__":
    names = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}
    if not names & {*sys.argv[1:2]}:
        sys.exit(f"error: name the program of a job: {', '.join(sorted(names))}")
    be(f"workflow.scripts.{sys.argv[1]}", sys.argv[2:])
