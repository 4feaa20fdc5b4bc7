"""Where results are kept: `measured.json`, the last result of every race by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.ceiling import matrix_rates
from benchmarks.race import machine

FOLDER = Path("benchmarks/results")
MEASURED = "measured.json"


def record(name: str, folder: Path, result: Mapping[str, Any]) -> None:
    """Keep a result, with the machine it was measured on, and print it."""
    whole = {**result, "machine": machine() | {"matrix_gflops": matrix_rates()}}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / MEASURED
    known = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(known | {name: whole}, indent=1) + "\n")
    print(json.dumps({name: whole}, indent=1))
