# Where the project is, and a first look at what a person gave: of a mistake in a file of the
# configuration Snakemake would say neither file nor line, and of a folder that is read-only or full
# no sentence. As a module of another workflow the project takes the `config` that it is given there.

import sys
from pathlib import Path

# Of a module that `gitfile` names, the code is that of the clone's files.
HERE = workflow.current_basedir
CLONE = getattr(HERE, "repo_path", "")
sys.path.insert(0, CLONE or str(Path(HERE.get_path_or_uri(True)).parents[1]))

from workflow import PUBLISHED, ROOT
from workflow.runtime.errors import InputError
from workflow.planning.configured import read_files
from workflow.planning.folders import check_module, check_surroundings
from workflow.runtime.failure import exit_on_user_error

MODULE = workflow.modifier.parent_modifier is not None
OWN_FILES = [] if MODULE else [Path(file) for file in workflow.configfiles]

with exit_on_user_error():
    check_surroundings(ROOT)
    if CLONE:
        check_module(ROOT, HERE.ref)
    if workflow.config_settings.replace_workflow_config and not MODULE:
        raise InputError("--replace-workflow-config: config.yaml is always read; leave this out")
    read_files(ROOT, OWN_FILES)
