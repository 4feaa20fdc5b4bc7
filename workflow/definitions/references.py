"""What `paper.yaml` says: whose numbers stand in a folder, how to cite them, and their notation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workflow.definitions.loader import load_yaml

FILE = "paper.yaml"


@dataclass(frozen=True)
class Reference:
    """A paper as a list of references has it."""

    key: str
    """What sources begin with."""
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    link: str

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
    def read(cls, folder: Path) -> "About":
        """Read a folder's `paper.yaml`; without it the title is the folder's name.

        Raises InputError when the file breaks its schema.
        """
        if not (folder / FILE).is_file():
            return cls(folder.name.replace("_", " ").capitalize())
        said = load_yaml(folder / FILE, "paper")
        references = tuple(
            Reference(key=key, **{**one, "authors": tuple(one["authors"])})
            for key, one in said.pop("papers").items()
        )
        return cls(references=references, **said)

    @property
    def legend(self) -> str:
        """The notation as a sentence, or nothing."""
        meanings = [f"{symbol} is {meaning}" for symbol, meaning in (self.notation or {}).items()]
        return f"{'; '.join(meanings)}." if meanings else ""


def key_of(source: str) -> str:
    """Return the key that a source such as `key section 6.1` or `key, abstract` begins with."""
    return source.replace(",", " ").split(maxsplit=1)[0]
