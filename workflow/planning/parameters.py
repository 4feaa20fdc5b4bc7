"""How many parameters a model has, which is built without memory for them."""

import json
from functools import cache

from model.build import Node
from workflow.planning.identity import canonical
from workflow.runtime.errors import CODE_ERRORS, InputError

MOST_TENSORS, MOST_PARAMETERS = 20_000, 10**12
"""Of a model: building more takes hours, and no machine holds more (4 TB)."""


class Refused(InputError):
    """A model can't be built; the message says why, and not which model."""


def parameters(model: Node, vocabulary: int) -> tuple[int, int]:
    """Return how many parameters a model has, and how many without its token embeddings.

    Raises Refused when a constructor refuses its arguments, or no machine holds the model.
    """
    return _count(canonical(model), vocabulary)


@cache
def _count(model: str, vocabulary: int) -> tuple[int, int]:
    """Build the model without memory for its parameters, and count them."""
    import torch

    from model.build import build

    tensors = numbers = 0

    def add(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> None:
        nonlocal tensors, numbers
        tensors, numbers = tensors + 1, numbers + parameter.numel()
        if tensors > MOST_TENSORS or numbers > MOST_PARAMETERS:
            raise Refused(
                f"it has more than {MOST_TENSORS} tensors or {MOST_PARAMETERS} numbers to learn, "
                f"which no machine trains; lower its layers, heads or width"
            )

    hook = torch.nn.modules.module.register_module_parameter_registration_hook(add)
    try:
        with torch.device("meta"):
            built = build(json.loads(model), vocabulary_size=vocabulary)
    except Refused:
        raise
    except (*CODE_ERRORS, MemoryError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or "no reason given"
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise Refused(f"it can't be built ({kind}{reason}); correct its arguments") from None
    finally:
        hook.remove()
    looked_up = {
        id(part.weight) for part in built.modules() if isinstance(part, torch.nn.Embedding)
    }
    sizes = {id(p): p.numel() for p in built.parameters()}
    return sum(sizes.values()), sum(n for name, n in sizes.items() if name not in looked_up)
