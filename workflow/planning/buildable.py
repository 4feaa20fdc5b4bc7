"""What constructors refuse is found before any job, in a sentence."""

from collections.abc import Iterable

from workflow.planning.built import Refused, built, parameters
from workflow.planning.cost import Estimator
from workflow.planning.nodes import is_node
from workflow.planning.plan import Run
from workflow.runtime.errors import InputError


def check_built(runs: Iterable[Run], estimator: Estimator) -> None:
    """Build what the jobs of runs build, and the user's mechanisms.

    Raises InputError for the first part that can't be built, or model that no machine holds; it
    names the file, the experiment and the key.
    """
    for name, node in estimator.plan.mechanisms.items():
        built(node, f"config: mechanisms.{name}")
    for settings in {id(run.settings): run.settings for run in runs}.values():
        measuring = {f"evaluators.{name}": node for name, node in settings.evaluators.items()}
        measuring |= {"record": settings.record} if settings.record else {}
        try:
            parameters(settings.model, estimator.data(settings.recipe).vocabulary)
            built(settings.objective, "objective")
            for key, node in measuring.items():
                for name, value in node.items():
                    if is_node(value):
                        built(value, f"{key}.{name}")
        except Refused as error:
            raise InputError(f"{settings.where}: {error}") from None
