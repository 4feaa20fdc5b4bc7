"""A paper's definitions: its tables, claims and figures, and the numbers that it prints."""

from functools import cached_property
from pathlib import Path
from typing import Any

from workflow.planning.errors import InputError, nearest
from workflow.planning.loader import load_yaml
from workflow.reporting import checks
from workflow.reporting.expected import ExpectedValues
from workflow.reporting.files import ReportingError

CHECKS = {"tables": checks.check_tables, "claims": checks.check_claims}
PAPERS = Path(__file__).resolve().parent.parent / "papers"


class Paper:
    """What `workflow/papers/<paper>/` says about tables, claims and figures."""

    def __init__(self, name: str, papers: Path = PAPERS) -> None:
        """Take a paper by its name; ReportingError when there is none of that name."""
        self.name, self.folder = name, papers / name
        if not self.folder.is_dir():
            known = [path.name for path in papers.iterdir()]
            raise ReportingError(f'There is no paper "{name}"{nearest(name, known) or "."}')

    @classmethod
    def all(cls) -> list["Paper"]:
        """Return every paper that has tables, in the order of their names."""
        return [cls(path.parent.name) for path in sorted(PAPERS.glob("*/tables.yaml"))]

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The paper's `tables.yaml`; like the other two, empty where there is none."""
        return self._load("tables")

    @cached_property
    def claims(self) -> dict[str, Any]:
        """The paper's `claims.yaml`."""
        return self._load("claims")

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The paper's `figures.yaml`."""
        return self._load("figures")

    @cached_property
    def expected(self) -> ExpectedValues:
        """The paper's numbers."""
        return ExpectedValues(self.folder / "expected.csv")

    def _load(self, kind: str) -> dict[str, Any]:
        if not (self.folder / f"{kind}.yaml").is_file():
            return {kind: [] if kind == "claims" else {}}
        path = self.folder / f"{kind}.yaml"
        loaded: dict[str, Any] = load_yaml(path, kind)
        if kind in CHECKS:
            CHECKS[kind](loaded, str(path))
        return loaded

    def check(self) -> None:
        """Read everything; InputError for the first mistake, also in where it looks for numbers."""
        kinds = {"tables": self.tables, "figures": self.figures, "claims": self.claims}
        if not any(definitions[kind] for kind, definitions in kinds.items()):
            return
        expected = self.expected
        for kind, definitions in kinds.items():
            for where, place, metric in checks.PLACES[kind](definitions):
                try:
                    expected.at(place, metric)
                except ReportingError as error:
                    raise InputError(f"{self.folder / kind}.yaml: {where}: {error}") from None

    def definition(self, kind: str, name: str) -> dict[str, Any]:
        """Return one table's or figure's definition; ReportingError names the nearest there is."""
        known: dict[str, dict[str, Any]] = getattr(self, kind)[kind]
        if name not in known:
            hint = nearest(name, known) or f" (known: {', '.join(known)})."
            raise ReportingError(f'{self.folder / kind}.yaml has no "{name}"{hint}')
        return known[name]
