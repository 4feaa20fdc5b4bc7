"""Build a model, objective or probe from its node in a run's spec.

A node is a mapping with a `path` such as `model.normalizers.gumbel:Gumbel` and the keyword
arguments of what the path names; arguments that are nodes themselves are built first. There is
no registry: a user's own part is named in the same way, `my_module:MyPart`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from typing import Any

Node = Mapping[str, Any]
"""A part: `path` and keyword arguments, of which some may be nodes."""
Spec = Mapping[str, Any]
"""All that a run depends on: `model` and `objective`, nodes, `training`, `seed` and the like."""


def locate(path: str) -> Any:
    """Import the class or function that a dotted path names.

    Raises:
        ValueError: the path is not `module:name`, or names nothing.
    """
    module, _, name = path.partition(":")
    if not name:
        raise ValueError(f"'{path}' is no dotted path: write it as 'package.module:Name'.")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"'{path}' cannot be imported: {error}.") from error


def build(node: Node, **context: Any) -> Any:
    """Build what a node names.

    Args:
        node: `path` and keyword arguments.
        context: values that are known only when the run starts, such as `vocabulary_size`; each
            goes to every part whose constructor names it.

    Returns:
        An instance where the path names a class; where it names a function, that function with
        the node's arguments bound.
    """
    part = locate(node["path"])
    arguments = {name: _value(value, context) for name, value in node.items() if name != "path"}
    known = accepted(part)
    arguments |= {name: value for name, value in context.items() if name in known}
    if inspect.isclass(part):
        return part(**arguments)
    return functools.partial(part, **arguments)


def accepted(part: Any) -> dict[str, inspect.Parameter]:
    """What a part can be given, by name; a constructor with `**more` hands these on to its base."""
    known: dict[str, inspect.Parameter] = {}
    for one in inspect.getmro(part) if inspect.isclass(part) else (part,):
        own = inspect.signature(one).parameters
        known = {**own, **known}
        if all(parameter.kind != parameter.VAR_KEYWORD for parameter in own.values()):
            break
    return known


def count_parameters(model: Any) -> int:
    """How many parameters a module has."""
    return sum(parameter.numel() for parameter in model.parameters())


def _value(value: Any, context: Mapping[str, object]) -> Any:
    return build(value, **context) if isinstance(value, Mapping) and "path" in value else value
