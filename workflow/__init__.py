"""From raw data to tables: everything around `model`.

From the ground up: `runtime`, `validation`, `files`, `datasets`, `definitions`, `planning`, `lent`
and `equivalence`, `reporting`, `terminal`, `scripts`, `trained`, `commands`. Each imports only what
stands before it here, and of `model` what it needs.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Where the project is."""
PUBLISHED = ROOT / "docs" / "reproduction"
"""What was published: runs, and the tables, figures and claims that are made of them."""
