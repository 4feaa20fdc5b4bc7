"""What `explorer.yaml` may say: tasks, whose models compute in the page, and recordings."""

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from workflow.definitions.names import Runs
from workflow.definitions.values import Name, NonEmptyText, Positive, closed
from workflow.runtime.errors import InputError

RECORDED = "recorded"
"""The evaluator that records."""
Models = list[Name]
"""Variants of the task's experiment; those that a scale lacks are left out."""


@closed
class ModelsAtScale(TypedDict, total=False):
    """The models at a scale, in place of the task's; without one the page leaves the task out."""

    demo: Models
    lite: Models
    paper: Models


@closed
class Opening(TypedDict):
    """A sentence with one word replaced."""

    text: NonEmptyText
    place: Positive
    """position of the word that is replaced, from 1"""
    word: NonEmptyText
    """the word that replaces it"""


@closed
class Task(TypedDict):
    """Models of one experiment, on the same data, side by side."""

    title: NonEmptyText
    """its name in the page"""
    about: NonEmptyText
    """one sentence for who has not read the paper"""
    kind: Literal["next", "class", "views"]
    """what the models predict: the next symbol, a class, or the value of an expression in views"""
    experiment: Name
    models: Annotated[Models, Field(min_length=1)]
    """variants, the first of which has the examples; those that a scale lacks are left out"""
    scales: NotRequired[ModelsAtScale]
    classes: NotRequired[Annotated[list[NonEmptyText], Field(min_length=2)]]
    """names of the classes, or of the values of expressions"""
    examples: NotRequired[Annotated[Positive, Field(default=40)]]
    """how many of the test split the page has"""
    words: NotRequired[Positive]
    """how many words the page knows, the most frequent of the train split; all where left out"""
    opens: NotRequired[Opening]
    """what the page opens with; where left out, or where it does not know the words, an example"""


@closed
class Recording(TypedDict):
    """Translators, whose attention on a few sentences was recorded; they don't run in the page."""

    title: NonEmptyText
    """its name in the page"""
    experiment: Name
    """whose runs they are"""
    models: Annotated[Models, Field(min_length=1)]
    """variants; those whose evaluator `recorded` a scale leaves out are left out"""


@closed
class Explorer(TypedDict):
    """What `make explore` shows of a paper."""

    tasks: NotRequired[Annotated[dict[Name, Task], Field(default={})]]
    """by name"""
    recorded: NotRequired[Annotated[dict[Name, Recording], Field(default={})]]
    """by name"""
    weights: NotRequired[Annotated[dict[Name, Models], Field(default={})]]
    """by experiment, variants that do not run in the page, whose weights are published too"""


def models_at(task: Task, scale: str) -> Models:
    """Return the models of a task at a scale, whether the scale has them or not."""
    return _by_scale(task).get(scale, task["models"])


def explorer_runs(task: Task) -> Runs:
    """Return every (experiment, variant) pair that a task names, at whatever scale."""
    named = dict.fromkeys(chain(task["models"], *_by_scale(task).values()))
    return [(task["experiment"], model) for model in named]


def _by_scale(task: Task) -> Mapping[str, Models]:
    return cast(Mapping[str, Models], task.get("scales", {}))


def recorded_runs(explorer: Explorer) -> Runs:
    """Return the (experiment, variant) pairs behind recordings."""
    recordings = explorer.get("recorded", {}).values()
    return [(one["experiment"], model) for one in recordings for model in one["models"]]


def runs_of_weights(explorer: Explorer) -> Runs:
    """Return the (experiment, variant) pairs whose weights are published beside those of tasks."""
    further = explorer.get("weights", {})
    return [(experiment, model) for experiment, models in further.items() for model in models]


def check_explorer(explorer: Explorer, where: str) -> None:
    """Raise InputError for the first task whose keys don't fit its kind."""
    for name, task in explorer["tasks"].items():
        if (task["kind"] == "next") == ("classes" in task):
            there = "not for kind next" if task["kind"] == "next" else "missing"
            raise InputError(f'{where}: tasks.{name}: the key "classes" is {there}')
        if task["kind"] == "next" and "words" in task:
            raise InputError(
                f'{where}: tasks.{name}: the key "words" is not for kind next, which predicts each'
            )
