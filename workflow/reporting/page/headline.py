"""What heads a page of results, in Markdown; the report sets the same as HTML."""

from dataclasses import dataclass

from workflow.definitions.references import Reference


@dataclass(frozen=True)
class PaperFinding:
    """What came out of a paper."""

    reference: Reference
    text: str
    counted: str
    """How many of its claims were decided, and how."""
    numbers: tuple[str, ...] = ()
    """The verdict on each number that it prints of a training, where it was compared."""


@dataclass(frozen=True)
class Counts:
    """A table of counts below a sentence; the first column says of what."""

    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def table(self) -> str:
        """The table in Markdown."""
        rule = " | ".join(["---", *["--:"] * (len(self.columns) - 1)])
        lines = [" | ".join(self.columns), rule, *map(" | ".join, self.rows)]
        return "\n".join(f"| {line} |" for line in lines)


@dataclass(frozen=True)
class Headline:
    """What came out at one scale."""

    answer: str
    """What came out over all papers, in a few sentences."""
    findings: tuple[PaperFinding, ...]
    papers: Counts
    """The claims of each paper by verdict."""
    tables: tuple[Counts, ...]
