"""A paper's definitions: its tables, claims and figures, and the numbers that it prints."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Never, TypeVar, cast

from workflow.definitions.cells import check_tables, table_places, with_rows
from workflow.definitions.claims import Claims, check_claims, claim_places
from workflow.definitions.corpora import Corpora, CorpusTable, check_corpora, check_printed
from workflow.definitions.expected import ExpectedValues
from workflow.definitions.explorer import Explorer, check_explorer
from workflow.definitions.figures import Figures, figure_places
from workflow.definitions.loader import load_yaml
from workflow.definitions.names import require_known
from workflow.definitions.references import FILE, About, Papers, check_sources
from workflow.definitions.tables import Table, Tables
from workflow.definitions.values import Yaml
from workflow.runtime.errors import InputError, ReportingError, nearest

DefinitionT = TypeVar("DefinitionT")
NOTHING: Mapping[str, Never] = MappingProxyType({})
INSIDE = {"corpora": "tables", "explorer": "tasks"}
"""What a file's definitions are called in it, where that is not the file's name."""
PAPERS = Path(__file__).resolve().parent.parent / "papers"


class Paper:
    """What `workflow/papers/<paper>/` says about tables, claims and figures."""

    def __init__(
        self,
        name: str,
        papers: Path = PAPERS,
        mechanisms: Iterable[str] = (),
        own: Mapping[str, Table] = NOTHING,
    ) -> None:
        """Take a paper by its name, with the mechanisms, by name, and tables that a user adds.

        Raises ReportingError when there is no paper of that name.
        """
        self.name, self.folder, self.mechanisms = name, papers / name, tuple(mechanisms)
        self.own = own
        if not self.folder.is_dir():
            names = [path.name for path in papers.iterdir()]
            raise ReportingError(f'There is no paper "{name}"{nearest(name, names) or "."}')

    @classmethod
    def all(
        cls, mechanisms: Iterable[str] = (), own: Mapping[str, Mapping[str, Table]] = NOTHING
    ) -> list["Paper"]:
        """Return every paper that has tables, in the order of their names."""
        names = [path.parent.name for path in sorted(PAPERS.glob("*/tables.yaml"))]
        return [cls(name, PAPERS, mechanisms, own.get(name, NOTHING)) for name in names]

    @cached_property
    def about(self) -> About:
        """The paper's `paper.yaml`; without it the title is the folder's name."""
        if not (self.folder / FILE).is_file():
            return About(self.name.replace("_", " ").capitalize())
        return About.of(load_yaml(self.folder / FILE, Papers))

    @cached_property
    def tables(self) -> Tables:
        """The paper's `tables.yaml` with rows for the user's mechanisms, and the user's tables.

        Like the other kinds, it is empty where the paper has none.
        """
        stated = self._load("tables", Tables)
        self._sourced(stated["tables"])
        if stated["tables"]:
            check_tables(stated, str(self.folder / "tables.yaml"))
        if not self.mechanisms and not self.own:
            return stated
        tables = {
            name: with_rows(table, self.mechanisms) for name, table in stated["tables"].items()
        }
        tables |= self.own
        complete: Tables = {**stated, "tables": tables}
        if tables:
            check_tables(complete, str(self.folder / "tables.yaml"))
        return complete

    @cached_property
    def claims(self) -> Claims:
        """The paper's `claims.yaml`."""
        claims = self._load("claims", Claims)
        check_claims(claims, str(self.folder / "claims.yaml"))
        return claims

    @cached_property
    def figures(self) -> Figures:
        """The paper's `figures.yaml`."""
        return self._load("figures", Figures)

    @cached_property
    def corpora(self) -> Corpora:
        """The paper's `corpora.yaml`: tables that are made from the data alone."""
        corpora = self._load("corpora", Corpora)
        self._sourced(corpora["tables"])
        check_corpora(corpora, str(self.folder / "corpora.yaml"))
        return corpora

    @cached_property
    def explorer(self) -> Explorer:
        """The paper's `explorer.yaml`."""
        explorer = self._load("explorer", Explorer)
        check_explorer(explorer, str(self.folder / "explorer.yaml"))
        return explorer

    @cached_property
    def expected(self) -> ExpectedValues:
        """The paper's numbers."""
        return ExpectedValues(self.folder / "expected.csv")

    def _load(self, name: str, kind: type[DefinitionT]) -> DefinitionT:
        path = self.folder / f"{name}.yaml"
        if path.is_file():
            return load_yaml(path, kind)
        return cast(DefinitionT, {INSIDE.get(name, name): [] if name == "claims" else {}})

    def _sourced(self, tables: Mapping[str, Table | CorpusTable]) -> None:
        """Write into tables that say no source that it is the first of the papers."""
        first = next((one.key for one in self.about.references), self.name)
        for table in tables.values():
            table.setdefault("source", first)

    def check(self) -> None:
        """Read everything; InputError for the first mistake, also in where it looks for numbers."""
        tables, figures, claims = self.tables, self.figures, self.claims
        corpora = self.corpora
        if not any((corpora["tables"], tables["tables"], figures["figures"], claims["claims"])):
            return
        for name in corpora["tables"]:
            if name in self.tables["tables"]:
                raise InputError(
                    f"{self.folder / 'corpora.yaml'}: tables.{name} also stands in tables.yaml; "
                    f"rename one"
                )
        expected = self.expected
        keys = [reference.key for reference in self.about.references]
        check_sources(keys, claims, expected, str(self.folder / "claims.yaml"))
        check_printed(corpora, expected, str(self.folder / "corpora.yaml"))
        for one in self.about.references:
            if one.figure:
                where = f"{self.folder / FILE}: papers.{one.key}"
                require_known(where, "figure", [one.figure], figures["figures"])
        places = {
            "tables": table_places(tables),
            "figures": figure_places(figures),
            "claims": claim_places(claims),
        }
        for kind, of_kind in places.items():
            for where, place, metric in of_kind:
                try:
                    expected.at(place, metric)
                except ReportingError as error:
                    raise InputError(f"{self.folder / kind}.yaml: {where}: {error}") from None

    def items(self, kind: str) -> Mapping[str, Any]:
        """Return the definitions of a kind, such as `tables` or `figures`, by their names."""
        return getattr(self, kind)[INSIDE.get(kind, kind)]

    def shared(self, kind: str) -> dict[str, Yaml]:
        """Return what the file of a kind says of all its definitions alike."""
        inside = INSIDE.get(kind, kind)
        return {key: value for key, value in getattr(self, kind).items() if key != inside}

    def definition(self, kind: str, name: str) -> Any:
        """Return one table's or figure's definition; ReportingError names the nearest there is."""
        definitions = self.items(kind)
        if name not in definitions:
            hint = nearest(name, definitions) or f" (known: {', '.join(definitions)})."
            raise ReportingError(f'{self.folder / kind}.yaml has no "{name}"{hint}')
        return definitions[name]
