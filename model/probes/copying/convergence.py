"""Whether a copying model converges from its initial heads, and which head attends
(snell2021 section 5.2)."""

from __future__ import annotations

from torch import Tensor

from model.batches.batching import Batch
from model.probes.measure import Measured, Subject, rounded, scalar


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

    def of_batch(batch: Batch) -> dict[str, Tensor]:
        source, before = batch.tokens[:, 1:], batch.tokens[:, :-1]
        right = (model(source, before).logits.argmax(dim=-1) == source)[:, :-1]
        heads = model.attend(*model.read(source, before))  # type: ignore[operator]
        weight = heads.diagonal(dim1=2, dim2=3)[..., :-1]
        return {"right": right.double().mean(dim=1), "weight": weight.double().mean(dim=2)}

    test = subject.gathered(tokens, of_batch)
    accuracy, examples = 100 * float(test["right"].mean()), len(test["right"])
    of_heads = test["weight"].mean(dim=0).tolist()
    return Measured(
        {
            "accuracy": scalar(accuracy, "%", n=examples),
            "converged": scalar(float(accuracy > converged), "fraction"),
            "stuck": scalar(float(accuracy < stuck), "fraction"),
            "best_head": scalar(max(of_heads), "fraction", n=examples),
        },
        {"head_attention": rounded(of_heads, 6)},
    )
