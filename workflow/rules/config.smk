# Where the project is, and a first look at its config.yaml: Snakemake, which reads it next, would say
# neither file nor line of a mistake in it.

import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)

from workflow.paths import PUBLISHED, ROOT
from workflow.planning.loader import load_yaml
from workflow.scripts.failure import one_sentence

with one_sentence():
    load_yaml(ROOT / "config.yaml", "config")
