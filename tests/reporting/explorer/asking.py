"""What is asked of the page and of torch alike."""

from typing import Any

import torch
from playwright.sync_api import Page
from torch import Tensor

CHANGE = """async ([task, model, all]) => {
  const found = [];
  for (const [tokens, at, place, word] of all) {
    const asked = { task, model, view: 0, tokens, at, place, word };
    const { outside, flips, same } = await ask({ ask: "counterfactual", ...asked });
    found.push([outside, flips.length > 0, same]);
  }
  return found;
}"""


def changes(page: Page, task: str, model: str, asked: list[list[Any]]) -> Any:
    """Return of each tokens, position, place and word: outside, flipped, same."""
    return page.evaluate(CHANGE, [task, model, asked])


def of_torch(model: Any, tokens: Tensor, view: int = 0) -> tuple[Tensor, list[Tensor]]:
    """Return log-probabilities (N, ...) of tokens (N, T) and the weights of each layer."""
    real = torch.ones_like(tokens, dtype=torch.bool)
    with torch.no_grad():
        if not hasattr(getattr(model, "encoder", None), "controllers"):
            found = model(tokens, real)
            return found.logits.log_softmax(-1), found.weights
        both, shown = tokens.expand(2, *tokens.shape), real.expand(2, *real.shape)
        rows = slice(view * len(tokens), (view + 1) * len(tokens))
        weights = [one[rows] for one in model.encoder(both, shown).weights]
        return model(both, shown)[view].log_softmax(-1), weights
