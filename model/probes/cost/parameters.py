"""How many parameters a model has."""

from __future__ import annotations

from torch import nn

from model.build import count_parameters
from model.probes.measure import Measured, Subject, scalar


def parameters(subject: Subject) -> Measured:
    """Count parameters (snell2021 appendix A.8): scalars `all`, and `without_embeddings` of
    words."""
    count = count_parameters(subject.model)
    tables = (part for part in subject.model.modules() if isinstance(part, nn.Embedding))
    embeddings = sum(table.weight.numel() for table in tables)
    return Measured(
        {
            "all": scalar(count, "parameters"),
            "without_embeddings": scalar(count - embeddings, "parameters"),
        },
        {},
    )


def model_size(subject: Subject) -> Measured:
    """Count parameters.

    Args:
        subject: any trained model.

    Returns:
        Scalars in millions: `parameters`, and of a `MatchedEncoderDecoder` `to_match`, those of the
        model that it is to match.
    """
    counts = {"parameters": count_parameters(subject.model)}
    matched = getattr(subject.model, "matched", None)
    if matched is not None:
        counts["to_match"] = int(matched)
    return Measured({name: scalar(count / 1e6, "M") for name, count in counts.items()}, {})
