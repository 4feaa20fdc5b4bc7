"""The RO-Crate of a published scale: the runs, commits, files and licences behind each cell.

    cell <- action that tabulates <- measures <- run <- action that trains <- data <- files, licence

Sources: Provenance Run Crate 0.5 (https://w3id.org/ro/wfrun/provenance/0.5) and the profiles below
it, on RO-Crate 1.1. Identifiers of cells are the addresses of the report.
"""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workflow import ROOT
from workflow.datasets.fetched import sources
from workflow.datasets.kinds.recipe import Recipe, files
from workflow.definitions.cells import row_name
from workflow.definitions.paper import Paper
from workflow.files import read_sidecar, write_text
from workflow.reporting.cells import read_table, records, text
from workflow.reporting.measures import earlier
from workflow.reporting.publication.results import INDEX, RunResult, key_at
from workflow.reporting.tables import corpus_tables
from workflow.runtime.errors import RecipeError
from workflow.runtime.integrity import checksums_of

NAME, WORKFLOW = "ro-crate-metadata.json", "Snakefile"
LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
"""Of the project, and so of the data that it generates."""
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = {
    name: f"https://w3id.org/ro/terms/workflow-run#{name}" for name in ("environment", "sha256")
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
FORMATS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
}
REVISION = "https://identifiers.org/swh:1:rev:"
"""Before a commit's own SHA-1 it is the identifier of ISO/IEC 18670, of whatever has a copy."""
AUTHORS, LANGUAGE, STEP = "#authors", "#snakemake", "#step/train"
UP = "../../../"
"""From the folder of a scale to the project's."""
Entity = dict[str, Any]


def write_crate(
    before: Path, folder: Path, results: Mapping[str, RunResult], papers: Collection[Paper]
) -> None:
    """Write the crate of what a scale has in `folder`, and the workflow that it needs.

    It has the date of the crate that was published `before` while nothing else in it changed.
    """
    shutil.copyfile(ROOT / WORKFLOW, folder / WORKFLOW)
    old, today = before / NAME, datetime.now(UTC).date().isoformat()
    for date in ([dated(old)] if old.is_file() else []) + [today]:
        made = crate_text(folder, results, papers, date)
        if date == today or made == old.read_text(encoding="utf-8"):
            break
    write_text(folder / NAME, made)


def dated(crate: Path) -> str:
    """Return when a crate was published, as `2026-11-25`."""
    graph = json.loads(crate.read_text(encoding="utf-8"))["@graph"]
    return str(next(it["datePublished"] for it in graph if it["@id"] == "./"))


def crate_text(
    folder: Path, results: Mapping[str, RunResult], papers: Iterable[Paper], date: str
) -> str:
    """Return the metadata file of what a scale has in `folder`, an entity a line.

    Args:
        folder: with tables, figures and whatever else is published.
        results: the published runs by `<experiment>/<variant>/seed-<n>`.
        papers: whose tables are there.
        date: of the publication, the same wherever one is asked for.
    """
    # Slow to import; only what publishes waits for it.
    from rocrate.model import ContextEntity
    from rocrate.rocrate import ROCrate

    parts = [
        list(_runs(results)),
        list(_data(results, folder)),
        list(_cells(folder, papers, date)),
        list(_files(folder)),
    ]
    known = {one["@id"]: one for part in parts for one in part}
    commits = [one for one in known if one.startswith(REVISION)]
    shown = [one["@id"] for one in known.values() if one["@type"] == "CreateAction"]
    data = [one for one in known if one.startswith("#data/")]
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms = TERMS
    crate.metadata["conformsTo"] = refs(["https://w3id.org/ro/crate/1.1", [*PROFILES][-1]])
    about = {
        "name": f"Saccade, published results of scale {folder.name}",
        "description": "Papers on attention, reproduced: each cell of a table with its runs.",
        "datePublished": date,
        "license": ref(LICENCE),
        "author": ref(AUTHORS),
        "publisher": ref(AUTHORS),
        "conformsTo": refs(PROFILES),
        "mainEntity": ref(WORKFLOW),
        "hasPart": refs([*(one["@id"] for one in parts[-1]), *data]),
        "mentions": refs(shown),
    }
    for name, value in about.items():
        crate.root_dataset[name] = value
    known[WORKFLOW] |= _workflow(known[WORKFLOW], commits)
    # `add_jsonld` would look through all entities for each.
    for entity in (*_constant(commits), *known.values()):
        properties = {name: value for name, value in entity.items() if name != "@id"}
        crate.add(ContextEntity(crate, entity["@id"], properties))
    return _written(crate.metadata.generate())


def _written(generated: Mapping[str, Any]) -> str:
    """Return JSON with an entity a line, of the first, which lists others, each of these."""
    first, *rest = generated["@graph"]
    entities = [
        json.dumps(first, ensure_ascii=False, indent=0),
        *(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in rest),
    ]
    graph = ",\n".join(entities)
    return f'{{"@context": {json.dumps(generated["@context"])},\n"@graph": [\n{graph}\n]}}\n'


def ref(identifier: str) -> Entity:
    """Return a reference to an entity."""
    return {"@id": identifier}


def refs(identifiers: Iterable[str]) -> Any:
    """Return references to entities, without a list where it is one, as RO-Crate recommends."""
    found = [ref(one) for one in dict.fromkeys(identifiers)]
    return found[0] if len(found) == 1 else found


def _constant(commits: Iterable[str]) -> Iterator[Entity]:
    for identifier, name in PROFILES.items():
        version = identifier.rpartition("/")[2]
        yield {"@id": identifier, "@type": "CreativeWork", "name": name, "version": version}
    apache = "Apache License 2.0"
    yield {"@id": LICENCE, "@type": "CreativeWork", "name": apache, "description": apache}
    authors = {"name": "The Saccade authors", "url": f"{UP}CITATION.cff"}
    yield {"@id": AUTHORS, "@type": "Organization", **authors}
    url = "https://snakemake.readthedocs.io"
    yield {"@id": LANGUAGE, "@type": "ComputerLanguage", "name": "Snakemake", "url": url}
    step = {"name": "train", "position": "1", "workExample": refs(commits)}
    yield {"@id": STEP, "@type": "HowToStep", **step}


def _workflow(file: Entity, commits: Iterable[str]) -> Entity:
    return {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "version": f"sha256:{file['sha256'][:12]}",
        "url": f"{UP}{WORKFLOW}",
        "conformsTo": ref(BIOSCHEMAS),
        "programmingLanguage": ref(LANGUAGE),
        "hasPart": refs(commits),
        "step": ref(STEP),
    }


def _files(folder: Path) -> Iterator[Entity]:
    """Yield every published file but the crate, and the index, which has the crate's checksum.

    HTML is of a site (`make site TO=docs`), which is made of the others.
    """
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".html")
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    for name, told in checksums_of(folder, [it for it in names if it not in (NAME, INDEX)]).items():
        format_ = "text/plain" if name == WORKFLOW else FORMATS.get(Path(name).suffix)
        yield {
            "@id": name,
            "@type": "File",
            "name": name,
            "encodingFormat": format_ or "application/octet-stream",
            "contentSize": str(told["bytes"]),
            "sha256": told["sha256"],
            **({"about": ref("./")} if name == "README.md" else {}),
        }


def _runs(results: Mapping[str, RunResult]) -> Iterator[Entity]:
    """Yield the action that trained each run, the run, its measures, and what they share."""
    keys = {result.identity: key for key, result in results.items()}
    shared: dict[str, Entity] = {}
    for key, result in results.items():
        run = result.run
        commit, environment = f"{REVISION}{run['commit']}", []
        script = "workflow/scripts/train.py"
        shared[commit] = {
            "@id": commit,
            "@type": "SoftwareSourceCode",
            "name": f"{script} of commit {run['commit']}",
            "version": run["commit"],
            "url": f"{UP}{script}",
        }
        for name in ("cpu", "device", "torch"):
            value = f"#{name}/{quote(str(run[name]))}"
            environment.append(value)
            told = {"name": name, "value": run[name]}
            shared[value] = {"@id": value, "@type": "PropertyValue", **told}
        parents = [keys[one] for one in run["spec"]["parents"].values() if one in keys]
        state = f"stale: {result.stale}" if result.stale else "counts"
        changed = ", uncommitted changes" if run.get("dirty") else ""
        mark = f", {said}" if (said := earlier(run)) else ""
        yield {
            "@id": f"#training/{key}",
            "@type": "CreateAction",
            "name": f"Training of {key}",
            "description": f"{state}{changed}{mark}",
            "instrument": ref(commit),
            "agent": ref(AUTHORS),
            "object": refs([_data_id(result), *(f"#run/{one}" for one in parents)]),
            "result": ref(f"#run/{key}"),
            "environment": refs(environment),
            "endTime": run["finished"],
        }
        work = {"@type": "CreativeWork", "name": key}
        yield {"@id": f"#run/{key}", **work, "identifier": result.identity}
        read = sorted({other for _, other in result.read() if other in results})
        based = {"isBasedOn": refs(f"#run/{one}" for one in read)} if read else {}
        yield {"@id": f"#measures/{key}", **work, "about": ref(f"#run/{key}"), **based}
    yield from shared.values()


def _data_id(result: RunResult) -> str:
    return f"#data/{result.contents}"


def _data(results: Mapping[str, RunResult], folder: Path) -> Iterator[Entity]:
    """Yield the encoded data of runs and described corpora, the files below, and licences."""
    recipes: dict[str, Recipe] = {
        _data_id(result): result.run["spec"]["run"]["data"] for result in results.values()
    }
    for table in sorted(folder.glob("tables/*/*.csv")):
        for facts in read_sidecar(table).get("corpora", {}).values():
            if "digest" in facts:
                recipes.setdefault(f"#data/{facts['digest']}", facts["recipe"])
    listed_files, shared = sources.load(), dict[str, Entity]()
    for identifier, recipe in sorted(recipes.items()):
        dataset = str(recipe["dataset"])
        try:
            names = files(recipe)["sources"]
            origin = "encoded from its parts" if names else "generated by the project"
        except RecipeError:
            names, origin = [], "of a recipe that no longer exists: files and licence unknown"
        parts = []
        for name in names:
            entities = list(_source(listed_files[dataset, name]))
            shared |= {one["@id"]: one for one in entities}
            parts.append(entities[0])
        licences = refs(one["license"]["@id"] for one in parts) if parts else ref(LICENCE)
        yield {
            "@id": identifier,
            "@type": "Dataset",
            "name": dataset,
            "description": origin,
            "sha256": identifier.rpartition("/")[2],
            **({} if "unknown" in origin else {"license": licences}),
            **({"hasPart": refs(one["@id"] for one in parts)} if parts else {}),
        }
    yield from shared.values()


def _source(source: sources.Source) -> Iterator[Entity]:
    """Yield a file that data are made from, and its licence in the words of sources.tsv."""
    said = source.licence or "unknown"
    licence = f"#licence/{hashlib.sha256(said.encode()).hexdigest()[:8]}"
    known = {"sha256": source.sha256, "contentSize": str(source.bytes)}
    suffix = "" if source.by_hand else f"/{source.sha256[:12]}"
    yield {
        "@id": f"#file/{quote(source.name)}{suffix}",
        "@type": "File",
        "name": source.name,
        "encodingFormat": FORMATS.get(Path(source.file).suffix, "application/octet-stream"),
        "url": source.url,
        "license": ref(licence),
        **({} if source.by_hand else known),
    }
    yield {"@id": licence, "@type": "CreativeWork", "name": said}


def _cells(folder: Path, papers: Iterable[Paper], date: str) -> Iterator[Entity]:
    """Yield the cells of all tables that anything was run for, and the actions that made them."""
    for paper in papers:
        for path in sorted((folder / "tables" / paper.name).glob("*.csv")):
            table = read_table(path)
            facts = table.about.get("corpora")
            definition = (
                corpus_tables.as_tables(paper, path.stem, facts)["tables"][path.stem]
                if facts is not None
                else paper.definition("tables", path.stem)
            )
            rows = {row_name(row): row["id"] for row in definition["rows"]}
            columns = {str(column["label"]): column["id"] for column in definition["columns"]}
            values: dict[str, Entity] = {}
            made: dict[tuple[str, ...], list[str]] = {}
            for cell in records(table.cells):
                behind = tuple(f"#measures/{key_at(one)}" for one in cell["measures"])
                behind = behind or ((f"#data/{cell['corpus']}",) if cell["corpus"] else ())
                place = (rows[cell["row"]], columns[cell["column"]], cell["metric"])
                address = f"#{paper.name}/{path.stem}/{'/'.join(map(quote, place))}"
                # One number may be compared with several, and have a spread over runs too.
                if behind and address not in values:
                    values[address] = {
                        "@id": address,
                        "@type": "PropertyValue",
                        "name": cell["metric"],
                        "value": text(cell["mean"]),
                        **({"unitText": cell["unit"]} if cell["unit"] else {}),
                    }
                    made.setdefault(behind, []).append(address)
            for behind, addresses in made.items():
                yield {
                    "@id": f"#tabulated/{addresses[0][1:]}",
                    "@type": "CreateAction",
                    "name": f"Cells of {paper.name}/{path.stem}",
                    "description": "made anew by make publish",
                    "instrument": ref(WORKFLOW),
                    "agent": ref(AUTHORS),
                    "object": refs(behind),
                    "result": refs([path.relative_to(folder).as_posix(), *addresses]),
                    "endTime": date,
                }
            yield from values.values()
