"""The attention that is best for each output word, where the loss is convex in it
(snell2021 appendix A.1).

    f(alpha) = -log softmax(sum_l alpha_l gamma_l + gamma_s)_y,   alpha on the simplex

All words are solved at once by exponentiated gradient (Kivinen and Warmuth 1997), each with a step
of its own that grows while it is safe and shrinks where it is not. As f is convex, f(alpha) is at
most max_l <grad f, alpha - e_l> above the optimum, which says when a word is solved.

Dimensions: B sentences, S positions of the input, T output words, V words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.architectures.translation.recurrent import enclosed
from model.batches.pairs import pairs_in_order
from model.probes.learning.agreement import agreement, chance
from model.probes.learning.word_values import lexical_log_odds
from model.probes.measure import Measured, Subject, scalar

TOLERANCE = 1e-3
"""Nats that the loss of a word may be above its optimum."""
STEPS = 1000
LONGEST = 1e6
"""Longest step; where a corner is best, the step could grow for ever."""


class Optimum(NamedTuple):
    """The best attention of output words.

    Attributes:
        weights: alpha (B, T, S), 0 at padding.
        loss: f there (B, T), in nats.
        gap: (B, T), no word's loss is further above its optimum.
    """

    weights: Tensor
    loss: Tensor
    gap: Tensor


@torch.no_grad()
def best_attention(
    gamma: Tensor,
    gamma_s: Tensor,
    targets: Tensor,
    real: Tensor,
    tolerance: float = TOLERANCE,
    steps: int = STEPS,
) -> Optimum:
    """Solve every output word, whose loss is that of snell2021 eq. 23, 29.

    Args:
        gamma: (B, S, V), the logits that each position of the input adds.
        gamma_s: (B, T, V), those of the decoder's states.
        targets: (B, T).
        real: (B, S), false at padding.
        tolerance: where a word is solved, in nats.
        steps: most steps.
    """
    words = targets[..., None]

    def loss_and_gradient(log_alpha: Tensor) -> tuple[Tensor, Tensor]:
        logits = torch.baddbmm(gamma_s, log_alpha.exp(), gamma)
        chosen = logits.gather(2, words)
        loss = logits.logsumexp(dim=-1) - chosen[..., 0]
        p = logits.softmax(dim=-1)
        p.scatter_add_(2, words, p.new_full(words.shape, -1.0))
        return loss, p @ gamma.mT

    hidden = torch.zeros(real.shape, dtype=gamma.dtype, device=gamma.device)
    hidden = hidden.masked_fill(~real, float("-inf"))[:, None]
    log_alpha = hidden.expand(-1, targets.shape[1], -1).log_softmax(dim=-1)
    loss, gradient = loss_and_gradient(log_alpha)
    step = torch.ones_like(loss)
    gap = torch.full_like(loss, float("inf"))
    for _ in range(steps):
        alpha = log_alpha.exp()
        least = gradient.masked_fill(~real[:, None], float("inf")).amin(dim=-1)
        gap = (alpha * gradient).sum(dim=-1) - least
        if bool((gap <= tolerance).all()):
            break
        moved = (log_alpha - step[..., None] * gradient).log_softmax(dim=-1)
        there, slope = loss_and_gradient(moved)
        # Safe where f curves less than the divergence over the step, told by differences of
        # gradients and of weights: those of the losses would drown in rounding.
        change = moved.exp() - alpha
        curved = ((slope - gradient) * change).sum(dim=-1)
        divergence = ((moved - log_alpha).nan_to_num() * change).sum(dim=-1)
        safe = step * curved <= divergence
        log_alpha = torch.where(safe[..., None], moved, log_alpha)
        gradient = torch.where(safe[..., None], slope, gradient)
        loss = torch.where(safe, there, loss)
        step = torch.where(safe, 1.5 * step, step / 2).clamp(max=LONGEST)
    return Optimum(log_alpha.exp(), loss, gap)


def optimal_attention(subject: Subject, split: str = "dev", tokens: int = 256) -> Measured:
    """Does the best attention of each output word point at what translates to it by itself?

    gamma and beta are those of snell2021 eq. 24, 30.

    Args:
        subject: a convex `RecurrentTranslator` and its data.
        split: a parallel one.
        tokens: most tokens of a batch, on the longer side.

    Returns:
        Scalars `agreement`, A(alpha_opt, beta), and `agreement_chance`, A-hat, in %, averaged over
        output words; `agreement_alone`, the same with beta = softmax(gamma_l)_y of the input word
        alone, as the authors' code has it for such a model; `loss` of the model's own attention and
        `best_loss` of the best one, in nats per word; and `gap`, what the best loss of any word is
        above its optimum at most.

    Raises:
        ValueError: the model is no convex one.
    """
    model: Any = subject.model
    if getattr(model, "combine", model) is not None:
        raise ValueError(
            "the best attention is known of a convex model alone: set model.convex, or take the "
            "evaluator away from this variant."
        )
    weight = model.output_weight.detach()
    of_c, bias = weight[:, :-1], weight[:, -1]
    hits, alone, random, losses = [], [], [], []
    for batch in pairs_in_order(subject.corpus.split(split), tokens, subject.device):
        with torch.no_grad():
            encoding = model.encode(batch.source, batch.source_layout)
            projected = encoding.memories[0][1]
            s = model.decode(batch.tokens[:, :-1], encoding)
            context, _ = model.attend(s, encoding)
            inside = enclosed(batch.source, batch.source_layout)[1].real
            targets = batch.tokens[:, 1:]
            optimum = best_attention(projected @ of_c.t(), s @ of_c.t() + bias, targets, inside)
            log_p = model.logits(model.output_projection(s, context)).log_softmax(dim=-1)
            own = -log_p.gather(2, targets[..., None])[..., 0]
            states = batch.layout.pack(s)
            beta, beta_alone = (
                lexical_log_odds(model, batch, projected, of).cpu().numpy()
                for of in (states, torch.zeros_like(states))
            )
        row = batch.layout.places // batch.layout.real.shape[1]
        lengths = inside.sum(dim=1)[row].cpu().numpy()
        alpha = batch.layout.pack(optimum.weights).cpu().numpy()
        hits.append(agreement(alpha, beta, lengths))
        alone.append(agreement(alpha, beta_alone, lengths))
        random.append(chance(beta, lengths))
        three = (batch.layout.pack(x).double().cpu() for x in (own, optimum.loss, optimum.gap))
        losses.append(torch.stack([*three]))
    hit = np.concatenate(hits)
    own_loss, best_loss, gap = torch.cat(losses, dim=1)
    return Measured(
        {
            "agreement": scalar(100 * float(hit.mean()), "%", n=len(hit)),
            "agreement_alone": scalar(100 * float(np.concatenate(alone).mean()), "%", n=len(hit)),
            "agreement_chance": scalar(100 * float(np.concatenate(random).mean()), "%"),
            "loss": scalar(float(own_loss.mean()), "nats", n=len(hit)),
            "best_loss": scalar(float(best_loss.mean()), "nats", n=len(hit)),
            "gap": scalar(float(gap.max()), "nats"),
        },
        {},
    )
