"""A mistake for each case, planted in the project, which the case must notice.

`python -m tests.slurm --planted [CASE ...]` plants them and demands that every case fails. There is
none for `controller`: what it promises is Slurm's own doing.
"""

from tests.slurm.bench import Plant
from tests.slurm.cases import LEAVING

UNFENCED = (
    "model/training/state.py",
    "        self.claim.check()\n        self.asked",
    "        self.asked",
)
"""An older process goes on saving when a newer one has taken the run over."""

PLANTS: dict[str, Plant] = {
    "demo": ("workflow/rules/measure.smk", 'gpu=resource("gpu", most=1)', "gpu=0"),
    "deadline": ("workflow/scripts/train.py", "- margin(given.time_limit)", "+ 600"),
    "time_limit": ("workflow/scripts/train.py", "setattr(checkpointer, wish, True)", "None"),
    "requeue": ("model/training/state.py", "states = self._states()\n", "states = []\n"),
    "node": UNFENCED,
    "killed_main": UNFENCED,
    "cancelled": ("slurm/config.yaml", "retries: 3", "retries: 0"),
    "two_people": ("slurm/config.yaml", "retries: 3", "retries: 3\nnolock: true"),
    "two_jobs": UNFENCED,
    "disk_full": ("workflow/scripts/train.py", "except OSError as", "except LookupError as"),
    "damaged_state": ("model/store/checksums.py", ".digest() != stamp", ".digest() is None"),
    "preempted": ("workflow/scripts/train.py", *LEAVING),
}
