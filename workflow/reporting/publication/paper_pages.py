"""The page of each paper: its finding, claims, tables and figures, in the paper's own order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from workflow.definitions.paper import Paper
from workflow.definitions.references import Reference, key_of
from workflow.files import SIDECARS, markdown_cell, read_sidecar
from workflow.reporting.cells import read_table, records
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.judging import CHECK
from workflow.reporting.claims.markdown import difference, evidence, limits, would_decide
from workflow.reporting.page.figures import named, placed
from workflow.reporting.page.headline import Headline
from workflow.reporting.page.marks import SIGNS
from workflow.reporting.page.templates import markdown
from workflow.reporting.prose import shortened, symbols, without_demo
from workflow.reporting.publication.places import numbered, own_order
from workflow.reporting.statistics.decisions import DECIDED
from workflow.reporting.tables import layout, marks
from workflow.reporting.tables.corpus_tables import definitions_of
from workflow.reporting.tables.markdown import body
from workflow.runtime.json_lines import read_lines

FIGURE = "svg"
"""The kind of file of a figure that is published."""
WORDS = 40
"""Of a caption that are shown at first, as far as sentences allow."""
ROWS = 30
"""Of a table that is seen at once."""

LinkedClaim = tuple[JudgedClaim, str, str]
"""A claim, the link to its entry, and what it says in a few words, if its paper's file does."""


@dataclass(frozen=True)
class Block:
    """A table, or a figure that belongs to none, as a page shows it."""

    name: str
    title: str
    caption: str
    more: Sequence[str]
    """The rest of the caption, and notes."""
    identities: frozenset[str]
    """Of the runs behind it; nothing was run where it has none, and no `body`."""
    body: str = ""
    printed: bool = False
    """Whether the paper prints a number of it."""
    file: str = ""
    entry: str = ""
    """The line of the sidecar that names the runs of each cell."""
    figures: list["Block"] = field(default_factory=list)

    @property
    def short(self) -> str:
        """The title; of one with the paper's number the number alone."""
        return self.title.partition(":")[0] if numbered(self.title) else self.title

    @property
    def shown(self) -> bool:
        """Whether anything of it was run."""
        return bool(self.body or self.identities)

    @property
    def long(self) -> int:
        """How many lines a table has that is too long to be seen at once, else 0."""
        rows = self.body.count("\n| ")
        return rows if rows > ROWS else 0

    @property
    def own(self) -> bool:
        """Whether it is the paper's, and not beyond it."""
        return self.printed or any(numbered(one.title) for one in (self, *self.figures))


def paper_pages(
    folder: Path, scale: str, papers: Iterable[Paper], headline: Headline
) -> dict[str, str]:
    """Return the page of each paper of a published scale, by its key.

    A folder of `workflow/papers` without papers, whose experiments are one's own, has a page too.
    """
    findings = {one.reference.key: one for one in headline.findings}
    caveats = Caveats.read(folder)
    about: dict[str, tuple[Paper, Reference | None]] = {}
    blocks: dict[str, list[Block]] = {}
    claims: dict[str, list[LinkedClaim]] = {}
    for paper in papers:
        about |= {one.key: (paper, one) for one in paper.about.references}
        if not paper.about.references:
            about[paper.name] = paper, None
        for key, block in _blocks(folder, scale, paper):
            blocks.setdefault(key, []).append(block)
        for key, claim in _claims(folder, paper):
            claims.setdefault(key, []).append(claim)
    made = {}
    for key, (paper, reference) in about.items():
        own = sorted(blocks.get(key, ()), key=lambda it: own_order(it.title))
        if not own and not claims.get(key):
            continue
        notes = Counter(note for block in own if block.shown for note in block.more)
        several = [note for note, count in notes.items() if count > 1]
        made[key] = markdown(
            "paper",
            shared={note: number for number, note in enumerate(several, 1)},
            title=reference.title if reference else paper.about.title,
            reference=reference,
            scale=scale,
            finding=findings.get(key),
            notation=symbols(paper.about.legend_of(partial(_uses, own, claims.get(key, ())))),
            legend=marks.legend(marks.MARKS),
            claims=claims.get(key, []),
            blocks=own,
            paper=paper.name,
            decided=DECIDED,
            signs=SIGNS,
            caveats=caveats.of,
            CHECK=CHECK,
            **{
                one.__name__: one
                for one in (
                    by_reason,
                    difference,
                    evidence,
                    limits,
                    would_decide,
                    symbols,
                    markdown_cell,
                )
            },
        )
    return made


def by_reason(claims: Iterable[LinkedClaim]) -> dict[str, dict[str, list[str]]]:
    """Return the links of claims that were not run by the reason, and by the paper's section."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for claim, link, _ in claims:
        why = "; ".join([*limits(claim, []), claim.reason])
        section = claim.source.partition(" ")[2] or claim.source
        reasons.setdefault(why, {}).setdefault(section, []).append(link)
    return reasons


def _uses(blocks: Iterable[Block], claims: Iterable[LinkedClaim], symbol: str) -> bool:
    """Say whether claims, tables or captions have a symbol (`A(` of `A(u, v)`)."""
    texts = [symbols(f"{claim.claim} {evidence(claim)}") for claim, _, _ in claims]
    texts += [f"{it.title} {it.caption} {it.body}" for one in blocks for it in (one, *one.figures)]
    return symbols(symbol).partition("u")[0] in " ".join(texts)


def _claims(folder: Path, paper: Paper) -> Iterator[tuple[str, LinkedClaim]]:
    """Yield the claims of a paper's file, each with the key of its page."""
    path = folder / "claims" / f"{paper.name}.json"
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    at = {line.strip(' ,"'): number for number, line in enumerate(lines, 1) if line[3:8] == '"id":'}
    short = {one["id"]: one.get("short", "") for one in paper.claims.get("claims", [])}
    for claim in read_claims(path):
        key = key_of(claim.source) if paper.about.references else paper.name
        line = at[f'id": "{claim.id}']
        yield key, (claim, f"claims/{paper.name}.json#L{line}", short.get(claim.id, ""))


def _blocks(folder: Path, scale: str, paper: Paper) -> Iterator[tuple[str, Block]]:
    """Yield tables with figures, and figures that belong to none, each with the key of its page."""
    base = scale.partition("+")[0]
    listed = folder / "tables" / SIDECARS
    entries = [*read_lines(listed)] if listed.is_file() else []
    tables = {}
    for name, definition in (*paper.items("tables").items(), *paper.items("corpora").items()):
        path = folder / "tables" / paper.name / f"{name}.csv"
        if not path.is_file():
            continue
        table = read_table(path)
        grid = layout.grid(definitions_of(paper, table), name, table)
        run = bool(table.cells["mean"].notna().any())
        caption, more = _caption(grid.caption, base)
        said = marks.counted(records(table.cells))
        tables[name] = (
            key_of(definition["source"]),
            Block(
                name=name,
                title=symbols(definition["title"]),
                caption=" ".join(filter(None, (said, caption, grid.caution * run))),
                more=[one for one in (more, *(_said(note, base) for note in grid.notes)) if one],
                identities=frozenset(table.about.get("runs", ())),
                body=body(grid) if run else "",
                printed=bool((table.cells["expected"] != "").any()),
                file=path.relative_to(folder).as_posix(),
                entry=f"tables/{SIDECARS}#L{entries.index(f'{paper.name}/{name}') + 1}",
            ),
        )
    figures = []
    for path in sorted((folder / "figures" / paper.name).glob(f"*.{FIGURE}")):
        sidecar = read_sidecar(path)
        caption, more = _caption(sidecar["caption"], base)
        place = path.relative_to(folder).as_posix()
        runs, title = frozenset(sidecar["runs"]), symbols(sidecar["title"])
        figures.append(Block(path.stem, title, caption, [more] * bool(more), runs, file=place))
    shown = [block for _, block in tables.values() if block.body]
    beside, alone = placed(figures, shown)
    for block in shown:
        block.figures.extend(beside[block.name])
    yield from tables.values()
    keys = [one.key for one in paper.about.references] or [paper.name]
    for figure in alone:
        yield named(figure.title, keys), figure


def _caption(text: str, scale: str) -> tuple[str, str]:
    """Return a caption as far as it is shown at once, and its rest."""
    return shortened(_said(text, scale), WORDS)


def _said(text: str, scale: str) -> str:
    """Return what a definition says, as far as it concerns a scale."""
    return symbols(text if scale == "demo" else without_demo(text))
