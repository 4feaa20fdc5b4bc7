# Where the project is, and a first look at its config.yaml: Snakemake, which reads it next, would say
# neither file nor line of a mistake in it.

import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT))

from workflow.planning.errors import InputError, unknown
from workflow.planning.loader import load_yaml

try:
    load_yaml(ROOT / "config.yaml", "config")
except InputError as error:
    sys.exit(f"error: {error}")
