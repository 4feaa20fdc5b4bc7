"""Parts built without memory for their weights: what they refuse, how many parameters they have."""

import json
import re
from functools import cache
from typing import Any, get_args, get_type_hints

from model.build import Node
from workflow.planning.identity import canonical
from workflow.planning.nodes import is_node
from workflow.runtime.errors import InputError, nearest
from workflow.validation import check

MOST_TENSORS, MOST_PARAMETERS = 20_000, 10**12
"""Of a model: building more takes hours, and no machine holds more (4 TB)."""

PLAIN = {bool, int, float, str, type(None)}
"""Types that pydantic can tell apart."""


class Refused(InputError):
    """A part can't be built; the message begins with its key, below an experiment or variant."""


def built(node: Node, key: str, **context: Any) -> Any:
    """Return what a node names, its weights on torch's meta device.

    Args:
        node: it, whose arguments may be nodes.
        key: where it is stated, such as `model.encoder`.
        context: what is known when a run starts, such as `vocabulary_size`.

    Raises Refused with the key of the innermost part that refuses its arguments, or of one of them.
    """
    import torch

    from model.build import build, locate

    try:
        _check_types(node, locate(node["path"]), key)
        arguments = {
            name: built(value, f"{key}.{name}", **context) if is_node(value) else value
            for name, value in node.items()
        }
        try:
            with torch.device("meta"):
                return build(arguments, **context)
        except (NotImplementedError, RuntimeError) as error:
            if "meta" not in str(error):
                raise
            return build(node, **context)  # it computes with what it makes
    except Refused:
        raise
    except InputError as error:
        raise Refused(str(error)) from None
    except (Exception, SystemExit) as error:
        raise _refused(error, node, key) from None


def _check_types(node: Node, part: Any, key: str) -> None:
    """Raise InputError for a number, text or truth value that is not of the type that it has to be.

    Many a constructor keeps such a value, and only its use in training would fail.
    """
    whole: Any = part
    try:
        hints = get_type_hints(whole.__init__ if isinstance(part, type) else part)
    except (NameError, TypeError):  # those that only a type checker imports
        return
    for name in hints.keys() & node.keys():
        if {*(get_args(hints[name]) or [hints[name]])} <= PLAIN:
            check(node[name], hints[name], f"{key}.{name}")


def _refused(error: BaseException, node: Node, key: str) -> Refused:
    """Return the sentence about what a constructor raised: with the argument that it names."""
    reason = " ".join(str(error).split()).rstrip(".") or "no reason given"
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    named = [word for word in re.findall(r"\w+", reason) if word in node and word != "path"]
    at = ".".join([key, *named[:1]])
    choices, _, given = reason.rpartition(", not '")
    known = re.findall(r"'(.*?)'", choices) or re.findall(r"\w+", choices)
    near = nearest(given.rstrip("'"), known) if choices else ""
    return Refused(f"{at}: it can't be built ({kind}{reason}); correct its arguments{near}")


def parameters(model: Node, vocabulary: int) -> tuple[int, int]:
    """Return how many parameters a model has, and how many without its token embeddings.

    Raises Refused when a constructor refuses its arguments, or no machine holds the model.
    """
    return _count(canonical(model), vocabulary)


@cache
def _count(node: str, vocabulary: int) -> tuple[int, int]:
    """Build the model without memory for its parameters, and count them."""
    import torch

    tensors = numbers = 0

    def add(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> None:
        nonlocal tensors, numbers
        tensors, numbers = tensors + 1, numbers + parameter.numel()
        if tensors > MOST_TENSORS or numbers > MOST_PARAMETERS:
            raise Refused(
                f"model: it has more than {MOST_TENSORS} tensors or {MOST_PARAMETERS} numbers to "
                f"learn, which no machine trains; lower its layers, heads or width"
            )

    hook = torch.nn.modules.module.register_module_parameter_registration_hook(add)
    try:
        model = built(json.loads(node), "model", vocabulary_size=vocabulary)
    finally:
        hook.remove()
    looked_up = {
        id(part.weight) for part in model.modules() if isinstance(part, torch.nn.Embedding)
    }
    sizes = {id(p): p.numel() for p in model.parameters()}
    return sum(sizes.values()), sum(n for name, n in sizes.items() if name not in looked_up)
