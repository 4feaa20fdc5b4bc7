"""The plan that `config.yaml`, a user's own files of changes and a command line ask for."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from workflow.planning.errors import InputError
from workflow.planning.loader import load_yaml
from workflow.planning.plan import Plan


def configured(root: Path, files: Iterable[Path] = (), **settings: Any) -> Plan:
    """Return the plan of the configuration, as Snakemake would read it.

    Args:
        root: the project's folder.
        files: of changes to `config.yaml`, laid over it key by key; later ones count.
        settings: what counts whatever the files say; the scale may be that of an overlay,
            `<scale>+<name>`, which a file has to bring.

    Raises:
        InputError: a file is no mapping, or the plan can't be made.
    """
    config = load_yaml(root / "config.yaml", "config")
    for file in files:
        config = laid_over(config, _changes(file))
    if "scale" in settings:
        settings["scale"] = settings["scale"].partition("+")[0]
    return Plan({**config, **settings}, root)


def laid_over(config: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes laid over it as Snakemake does.

    Mappings are joined key by key, and anything else is replaced; neither argument is altered.
    """
    joined = dict(config) if isinstance(config, Mapping) else {}
    for key, value in changes.items():
        joined[key] = laid_over(joined.get(key), value) if isinstance(value, Mapping) else value
    return joined


def _changes(file: Path) -> Mapping[str, Any]:
    """Read a file of changes."""
    try:
        changes = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError):
        changes = None
    if not isinstance(changes, Mapping):
        raise InputError(f"{file}: not a YAML mapping; correct it")
    return changes
