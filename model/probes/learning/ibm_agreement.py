"""How far trained attention agrees with the alignment of IBM Model 1
(beyond snell2021 section 4.2)."""

from __future__ import annotations

import numpy as np
import torch

from model.probes.learning.agreement import agreement, chance
from model.probes.learning.ibm_convergence import converge
from model.probes.learning.ibm_model_1 import alignment
from model.probes.measure import Measured, Subject, scalar


def ibm_agreement(
    subject: Subject, read: int = 4096, tolerance: float = 1e-6, tokens: int = 8192
) -> Measured:
    """Compare where a copying model attends with the alignment that co-occurrence gives.

    Args:
        subject: a trained copying model and its data, sequences of one length.
        read: sequences of the train split that IBM Model 1 reads, the first ones.
        tolerance: of its expectation maximisation, see `converge`.
        tokens: most tokens in a batch.

    Returns:
        Scalars over the symbols of the test split: `counted_share` and `converged_share`, how much
        of a symbol's alignment IBM Model 1 has where attention is highest, after its first round
        and after its last; `uniform_share`, 1 / T; `agreement`, A(attention, last alignment), and
        `chance`, the same for attention at random, which ties raise too; `rounds`. Array
        `log_likelihood`, after each round, nats per symbol.
    """
    train, words = subject.corpus.split("train"), subject.corpus.vocabulary
    first = sum(word.startswith("<") for word in words)  # marks, such as <end>, stand first
    symbols = len(words) - first
    sequences = train.tokens.reshape(len(train), -1)[:read, :-1] - first
    ibm = converge([(x, x) for x in sequences], symbols, symbols, tolerance)
    shares: dict[str, list[float]] = {"counted": [], "converged": []}
    agreed, expected = [], []
    for batch in subject.batches(tokens):
        source = batch.tokens[:, 1:]
        with torch.no_grad():
            weights = subject.model(source, batch.tokens[:, :-1]).weights
        copied = (source[:, :-1] - first).cpu().numpy()
        for x, alpha in zip(copied, weights[:, :-1, :-1].double().cpu().numpy(), strict=True):
            highest = alpha.argmax(axis=1)[:, None]
            aligned = {
                "counted": alignment(ibm.counted, x, x),
                "converged": alignment(ibm.trans, x, x),
            }
            for name, values in aligned.items():
                shares[name].append(float(np.take_along_axis(values, highest, axis=1).mean()))
            lengths = np.full(len(x), len(x))
            agreed.append(agreement(alpha, aligned["converged"], lengths).mean())
            expected.append(chance(aligned["converged"], lengths).mean())
    means = {f"{name}_share": float(np.mean(values)) for name, values in shares.items()}
    means |= {"agreement": float(np.mean(agreed)), "chance": float(np.mean(expected))}
    scalars = {name: scalar(value, "fraction", n=len(agreed)) for name, value in means.items()}
    scalars["uniform_share"] = scalar(1 / sequences.shape[1], "fraction")
    scalars["rounds"] = scalar(len(ibm.log_likelihood), "rounds")
    return Measured(scalars, {"log_likelihood": ibm.log_likelihood})
