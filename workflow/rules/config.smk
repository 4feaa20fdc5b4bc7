# Where the project is, and a first look at what a person gave: of a mistake in a file of the
# configuration Snakemake would say neither file nor line, and of a folder that is read-only or full
# no sentence.

import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)

from workflow import PUBLISHED, ROOT
from workflow.runtime.errors import InputError
from workflow.planning.configured import read_files
from workflow.planning.folders import check_surroundings
from workflow.runtime.failure import exit_on_user_error

OWN_FILES = [Path(file) for file in workflow.configfiles]

with exit_on_user_error():
    check_surroundings(ROOT)
    if workflow.config_settings.replace_workflow_config:
        raise InputError("--replace-workflow-config: config.yaml is always read; leave this out")
    read_files(ROOT, OWN_FILES)
