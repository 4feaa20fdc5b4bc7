"""What a copying model learns first: words, or where to look (snell2021 section 3.2, 3.3)."""

from __future__ import annotations

from torch import Tensor

from model.batches.batching import Batch
from model.objectives.copying_dynamics import Dynamics, dynamics
from model.probes.measure import History, Measured, Subject, curves, rows_of, scalar


def copying_dynamics(
    subject: Subject,
    history: History,
    known: float = 0.5,
    tokens: int = 512,
) -> Measured:
    """How far attention and the lexical probe find the symbol to copy, and which does so first.

    Args:
        subject: a trained `MultiheadCopyingModel` and its data.
        history: of a run with the objective `CopyingDynamics`, whose batches are new to the model.
        known: fraction of symbols from which on something counts as known.
        tokens: most tokens in a batch.

    Returns:
        Scalars `attended`, `lexical` and `agreement`, fractions of the test split's symbols (see
        `Dynamics`); `attended_at` and `lexical_at`, the first update recorded with more than
        `known` (None without one); `lexical_first`, 1 where the latter is the earlier or the only
        one, else 0, None where nothing is known by the end. Arrays `step` and, one value a recorded
        row, `attended_curve`, `lexical_curve` and `agreement_curve`.
    """

    def of_batch(batch: Batch) -> dict[str, Tensor]:
        known = dynamics(subject.model, batch.tokens[:, 1:], batch.tokens[:, :-1])  # type: ignore[arg-type]
        return {name: values.mean(dim=1).double() for name, values in known._asdict().items()}

    scalars = {
        name: scalar(float(values.mean()), "fraction", n=len(values))
        for name, values in subject.gathered(tokens, of_batch).items()
    }
    rows = rows_of(history, "train")
    at = {
        name: next((row["step"] for row in rows if row[name] > known), None)
        for name in ("attended", "lexical")
    }
    first = None
    if at["lexical"] is not None or at["attended"] is not None:
        never = float("inf")
        first = float((at["lexical"] or never) < (at["attended"] or never))
    scalars |= {f"{name}_at": scalar(step, "updates") for name, step in at.items()}
    scalars["lexical_first"] = scalar(first, "fraction")
    return Measured(scalars, curves(rows, Dynamics._fields))
