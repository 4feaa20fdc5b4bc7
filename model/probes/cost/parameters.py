"""How many parameters a model has."""

from __future__ import annotations

from torch import nn

from model.probes.measure import Measured, Subject, scalar


def parameters(subject: Subject) -> Measured:
    """Count parameters (004, A.8): scalars `all`, and `without_embeddings` of words."""
    found = sum(p.numel() for p in subject.model.parameters())
    tables = (part for part in subject.model.modules() if isinstance(part, nn.Embedding))
    embeddings = sum(table.weight.numel() for table in tables)
    return Measured(
        {
            "all": scalar(found, "parameters"),
            "without_embeddings": scalar(found - embeddings, "parameters"),
        },
        {},
    )
