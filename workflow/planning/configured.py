"""The plan that `config.yaml` and a user's own file of changes ask for."""

from pathlib import Path
from typing import Any

import yaml

from workflow.planning.errors import InputError
from workflow.planning.loader import load_yaml
from workflow.planning.plan import Plan


def configured(root: Path, scale: str, changes: Path | None = None, **settings: Any) -> Plan:
    """Return the plan of a scale, or of the overlay on it that a file has.

    Args:
        root: the project's folder.
        scale: its name, or `<scale>+<name>`.
        changes: the configuration file with the overlay.
        settings: what counts whatever the files say.

    Raises:
        InputError: the file is no mapping, or the plan can't be made.
    """
    config = load_yaml(root / "config.yaml", "config")
    if changes:
        try:
            config |= yaml.safe_load(changes.read_text(encoding="utf-8")) or {}
        except (yaml.YAMLError, TypeError, ValueError):
            raise InputError(f"{changes}: not a YAML mapping; correct it.") from None
    return Plan({**config, "scale": scale.partition("+")[0], **settings}, root)
