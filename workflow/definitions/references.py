"""What `paper.yaml` says: whose numbers stand in a folder, how to cite them, and their notation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.claims import Claims
from workflow.definitions.expected import ExpectedValues
from workflow.definitions.names import require_known
from workflow.definitions.values import Name, NonEmptyText, Positive, closed

FILE = "paper.yaml"
CitationKey = Annotated[str, Field(pattern="^[a-z0-9]+$")]
Link = Annotated[str, Field(pattern="^https://.+")]


@closed
class Cited(TypedDict):
    """A paper whose numbers stand here."""

    title: NonEmptyText
    """as it is cited"""
    short: NotRequired[NonEmptyText]
    """the title in a few words, where it is long"""
    authors: Annotated[list[NonEmptyText], Field(min_length=1)]
    """as they are cited"""
    year: Positive
    """of the version whose numbers stand here"""
    venue: NonEmptyText
    """where it appeared"""
    link: Link
    """where it can be read"""
    figure: NotRequired[Name]
    """the figure, of figures.yaml, that tells what was found"""


@closed
class Papers(TypedDict):
    """The papers of a folder."""

    title: NonEmptyText
    """what heads its results"""
    papers: Annotated[dict[CitationKey, Cited], Field(min_length=1)]
    """the papers whose numbers stand here, by the key that sources begin with"""
    covers: NotRequired[str]
    """which tables and figures there are, in words"""
    notation: NotRequired[dict[str, NonEmptyText]]
    """what symbols in claims and tables mean"""


@dataclass(frozen=True)
class Reference:
    """A paper as a list of references has it."""

    key: str
    """What sources begin with."""
    title: str
    authors: Sequence[str]
    year: int
    venue: str
    link: str
    figure: str = ""
    """Name of the figure that tells what was found, if one does."""
    short: str = ""
    """The title in a few words, where it is long."""

    @property
    def name(self) -> str:
        """The title as tabs and counts have it."""
        return self.short or self.title

    @property
    def cited(self) -> str:
        """The paper in Markdown, as `[key](link): authors (year), *title*, venue`."""
        authors = ", ".join(self.authors)
        return f"[{self.key}]({self.link}): {authors} ({self.year}), *{self.title}*, {self.venue}"


@dataclass(frozen=True)
class About:
    """What heads the results of a folder of papers."""

    title: str
    references: tuple[Reference, ...] = ()
    """None where the experiments are one's own."""
    covers: str = ""
    """Which tables and figures there are, in words."""
    notation: Mapping[str, str] | None = None
    """What symbols in claims and tables mean."""

    @classmethod
    def of(cls, papers: Papers) -> "About":
        """Return what a `paper.yaml` says."""
        references = tuple(Reference(key, **one) for key, one in papers["papers"].items())
        return cls(papers["title"], references, papers.get("covers", ""), papers.get("notation"))

    @property
    def legend(self) -> str:
        """The notation as a sentence, or nothing."""
        return self.legend_of(lambda symbol: True)

    def legend_of(self, used: Callable[[str], bool]) -> str:
        """Return the notation of the symbols that are used as a sentence, or nothing."""
        meanings = [f"{one} is {said}" for one, said in (self.notation or {}).items() if used(one)]
        return f"{'; '.join(meanings)}." if meanings else ""


def key_of(source: str) -> str:
    """Return the key that a source such as `key section 6.1` or `key, abstract` begins with."""
    return source.replace(",", " ").split(maxsplit=1)[0]


def check_sources(
    keys: Collection[str], claims: Claims, expected: ExpectedValues, where: str
) -> None:
    """Raise InputError for a number or a claim of a paper that `paper.yaml` does not list.

    Claims of a folder without papers are one's own.
    """
    sources = [source for source, *_ in expected.values]
    require_known(f"{expected.path}, {FILE} beside it", "paper", sources, keys)
    for claim in claims["claims"] if keys else ():
        require_known(f"{where}: claim {claim['id']}", "paper", [key_of(claim["source"])], keys)
