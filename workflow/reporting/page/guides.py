"""The guides that a report points to, for what its own search cannot find."""

from pathlib import Path

from workflow import ROOT
from workflow.reporting.page.templates import Link, links_from

GUIDES = {
    "Equations": ROOT / "docs/equations.md",
    "Your own attention": ROOT / "docs/own_mechanism.md",
    "Guides": ROOT / "README.md",
}


def guides(page: Path) -> list[Link]:
    """Return links from a page in the project's folder to the guides, from elsewhere none."""
    return links_from(page, GUIDES.items())
