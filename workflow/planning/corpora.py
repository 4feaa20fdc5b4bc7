"""The corpora that a paper's tables describe: the recipe of each row, or why it is left out."""

from dataclasses import dataclass, replace
from pathlib import Path

from workflow.datasets.fetched import sources
from workflow.datasets.fetched.fetching import at_hand
from workflow.datasets.kinds.recipe import Recipe, files
from workflow.definitions.corpora import CorpusRow, CorpusTable
from workflow.definitions.experiments import ScaleName
from workflow.definitions.names import require_known
from workflow.planning.experiments import SCALES
from workflow.planning.identity import data_folder
from workflow.planning.plan import Plan
from workflow.planning.settings import deep_merge, recipe
from workflow.runtime.errors import InputError


@dataclass(frozen=True)
class DescribedCorpus:
    """A row's data at the chosen scale."""

    recipe: Recipe | None
    """Every option written out; None where the scale leaves the row out."""
    missing: str = ""
    """Why it can't be described, if it can't."""
    stated: Recipe | None = None
    """What an overlay puts other data in the place of, if it does."""

    @property
    def folder(self) -> str:
        """The folder of the data below `<results>/data`; empty without a recipe."""
        return data_folder(self.recipe) if self.recipe else ""


def corpora(plan: Plan, table: CorpusTable, where: str) -> dict[str, DescribedCorpus]:
    """Return the corpus of each row of a table by the row's id.

    Raises InputError for a row without data, with data that no dataset takes, or like a variant
    that does not exist.
    """
    found = {}
    for row in table["rows"]:
        recipes = {scale: _recipe(plan, row, scale, f"{where}, {row['id']}") for scale in SCALES}
        made = recipes[plan.config["scale"]]
        missing = missing_file(plan, made) if made else "this scale does not describe it"
        stated = _stated(plan, row) if made else None
        found[row["id"]] = DescribedCorpus(made, missing, None if stated == made else stated)
    return found


def _recipe(plan: Plan, row: CorpusRow, scale: ScaleName, where: str) -> Recipe | None:
    """Return a row's recipe at a scale, None where the scale leaves it out.

    Like a variant, it follows the user's overlay.
    """
    changes = row.get("scales", {}).get(scale, {})
    if ("data" in row) == ("like" in row):
        raise InputError(f"{where}: give either data or like")
    if "data" in row:
        return None if changes is None else recipe(deep_merge(row["data"], changes), where)
    name, variant = row["like"]["experiment"], row["like"]["variant"]
    require_known(where, "experiment", [name], plan.experiments)
    experiment = plan.experiments[name]
    require_known(where, f"variant of {name}", [variant], experiment.definition["variants"])
    if changes is None or variant not in experiment.variants(scale):
        return None
    return experiment.resolve(variant, scale).recipe


def _stated(plan: Plan, row: CorpusRow) -> Recipe | None:
    """Return the recipe that a row like a variant has without the user's overlay, if any."""
    if "like" not in row:
        return None
    experiment = replace(plan.experiments[row["like"]["experiment"]], overlay={})
    return experiment.resolve(row["like"]["variant"], plan.config["scale"]).recipe


def missing_file(plan: Plan, recipe: Recipe) -> str:
    """Say which file a person has to get first; empty when everything can be fetched or made."""
    data, mirror = Path(plan.results) / "data", Path(plan.mirror) if plan.mirror else None
    listed = sources.load()
    for name in files(recipe)["sources"]:
        source = listed.get((recipe["dataset"], name))
        if source is None:
            return f"{recipe['dataset']}/{name} is not in workflow/sources.tsv"
        fetched = (data / "sources" / source.name).is_file()
        if source.by_hand and not fetched and not at_hand(source, mirror, data / "manual"):
            return source.advice
    return ""
