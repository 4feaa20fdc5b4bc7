"""Where the project is (standard library only)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = ROOT / "docs" / "reproduction"
"""What was published: runs, and the tables, figures and claims that are made of them."""
