"""A paper's definitions: its tables, claims and figures, and the numbers that it prints."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from workflow.definitions import checks
from workflow.definitions.expected import ExpectedValues
from workflow.definitions.loader import load_yaml
from workflow.definitions.needs import with_rows
from workflow.definitions.references import About
from workflow.errors import InputError, ReportingError, nearest

CHECKS = {
    "tables": checks.check_tables,
    "claims": checks.check_claims,
    "corpora": checks.check_corpora,
}
INSIDE = {"corpora": "tables"}
"""What a file's definitions are called in it, where that is not the file's name."""
PAPERS = Path(__file__).resolve().parent.parent / "papers"


class Paper:
    """What `workflow/papers/<paper>/` says about tables, claims and figures."""

    def __init__(self, name: str, papers: Path = PAPERS, mechanisms: Iterable[str] = ()) -> None:
        """Take a paper by its name, with the names of the mechanisms that a user adds.

        Raises ReportingError when there is no paper of that name.
        """
        self.name, self.folder, self.mechanisms = name, papers / name, tuple(mechanisms)
        if not self.folder.is_dir():
            known = [path.name for path in papers.iterdir()]
            raise ReportingError(f'There is no paper "{name}"{nearest(name, known) or "."}')

    @classmethod
    def all(cls, mechanisms: Iterable[str] = ()) -> list["Paper"]:
        """Return every paper that has tables, in the order of their names."""
        names = [path.parent.name for path in sorted(PAPERS.glob("*/tables.yaml"))]
        return [cls(name, mechanisms=mechanisms) for name in names]

    @cached_property
    def about(self) -> About:
        """The paper's `paper.yaml`."""
        return About.read(self.folder)

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The paper's `tables.yaml` with rows for the user's mechanisms.

        Like the other kinds, it is empty where the paper has none.
        """
        loaded = self._load("tables")
        if not self.mechanisms:
            return loaded
        tables = {n: with_rows(one, self.mechanisms) for n, one in loaded["tables"].items()}
        made = {**loaded, "tables": tables}
        if tables:
            checks.check_tables(made, str(self.folder / "tables.yaml"))
        return made

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The paper's `claims.yaml`."""
        return self._load("claims")

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The paper's `figures.yaml`."""
        return self._load("figures")

    @cached_property
    def corpora(self) -> dict[str, Any]:
        """The paper's `corpora.yaml`: tables that are made from the data alone."""
        return self._load("corpora")

    @cached_property
    def expected(self) -> ExpectedValues:
        """The paper's numbers."""
        return ExpectedValues(self.folder / "expected.csv")

    def _load(self, kind: str) -> dict[str, Any]:
        if not (self.folder / f"{kind}.yaml").is_file():
            return {INSIDE.get(kind, kind): [] if kind == "claims" else {}}
        path = self.folder / f"{kind}.yaml"
        loaded: dict[str, Any] = load_yaml(path, kind)
        if kind in CHECKS:
            CHECKS[kind](loaded, str(path))
        return loaded

    def check(self) -> None:
        """Read everything; InputError for the first mistake, also in where it looks for numbers."""
        kinds = {"tables": self.tables, "figures": self.figures, "claims": self.claims}
        corpora = self.corpora["tables"]
        if not corpora and not any(definitions[kind] for kind, definitions in kinds.items()):
            return
        for name in corpora:
            if name in self.tables["tables"]:
                raise InputError(
                    f"{self.folder / 'corpora.yaml'}: tables.{name} also stands in tables.yaml; "
                    f"rename one"
                )
        expected = self.expected
        checks.check_sources(
            [reference.key for reference in self.about.references],
            self.claims["claims"],
            expected,
            str(self.folder / "claims.yaml"),
        )
        checks.check_printed_corpora(corpora, expected, str(self.folder / "corpora.yaml"))
        for kind, definitions in kinds.items():
            for where, place, metric in checks.PLACES[kind](definitions):
                try:
                    expected.at(place, metric)
                except ReportingError as error:
                    raise InputError(f"{self.folder / kind}.yaml: {where}: {error}") from None

    def items(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the definitions of a kind (`tables`, `figures` or `corpora`) by their names."""
        found: dict[str, dict[str, Any]] = getattr(self, kind)[INSIDE.get(kind, kind)]
        return found

    def shared(self, kind: str) -> dict[str, Any]:
        """Return what the file of a kind says of all its definitions alike."""
        inside = INSIDE.get(kind, kind)
        return {key: value for key, value in getattr(self, kind).items() if key != inside}

    def definition(self, kind: str, name: str) -> dict[str, Any]:
        """Return one table's or figure's definition; ReportingError names the nearest there is."""
        known = self.items(kind)
        if name not in known:
            hint = nearest(name, known) or f" (known: {', '.join(known)})."
            raise ReportingError(f'{self.folder / kind}.yaml has no "{name}"{hint}')
        return known[name]
