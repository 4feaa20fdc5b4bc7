"""Whether a copying model converges from its initial heads, and which head attends (004, 5.2)."""

from __future__ import annotations

import torch

from model.batches.batching import in_order
from model.probes.measure import Measured, Subject, scalar


def convergence(
    subject: Subject, converged: float = 95.0, stuck: float = 60.0, tokens: int = 8192
) -> Measured:
    """Accuracy of the copy at the end of training, its verdict, and every head's attention.

    A head's initialisation is good where training with this head alone has *converged* for every
    order of the data that was tried, and bad where it is *stuck* for every one of them.

    Args:
        subject: a trained `MultiheadCopyingModel` and its data.
        converged: accuracy (%) above which a run has converged.
        stuck: accuracy below which it is stuck.
        tokens: most tokens in a batch.

    Returns:
        Scalars `accuracy` (%), `converged`, `stuck` (0 or 1) and `best_head`, the most that a head
        has on the position to copy from. Array `head_attention`, the same of each head.
    """
    model = subject.model
    right, weight = [], []
    for batch in in_order(subject.corpus.split("test"), tokens, subject.device):
        source, before = batch.tokens[:, 1:], batch.tokens[:, :-1]
        with torch.no_grad():
            prediction = model(source, before)
            heads = model.attend(*model.read(source, before))  # type: ignore[operator]
        right.append((prediction.logits.argmax(dim=-1) == source)[:, :-1].double().mean(dim=1))
        weight.append(heads.diagonal(dim1=2, dim2=3)[..., :-1].double().mean(dim=2))
    accuracy = 100 * float(torch.cat(right).mean())
    of_heads = torch.cat(weight).mean(dim=0).tolist()
    examples = len(subject.corpus.split("test"))
    return Measured(
        {
            "accuracy": scalar(accuracy, "%", n=examples),
            "converged": scalar(float(accuracy > converged), "fraction"),
            "stuck": scalar(float(accuracy < stuck), "fraction"),
            "best_head": scalar(max(of_heads), "fraction", n=examples),
        },
        {"head_attention": [round(value, 6) for value in of_heads]},
    )
