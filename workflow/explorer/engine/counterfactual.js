"use strict";
// What another word in one place does to a prediction.

// `before` is the run of the sentence as it is, `after` that with the other word. `same`: the state at `at`,
// and so a prediction there, is bit for bit what it was. `flips`: the routing decisions behind it that
// change; weights, where the mechanism is not discrete.
function counterfactual(model, before, after, { place, at }) {
  const { length } = before.tokens, now = model.state(after, at);
  return {
    outside: !fields(before.weights, length)[at * length + place],
    flips: flips(before.weights, after.weights, length, at),
    same: model.state(before, at).every((value, i) => value === now[i]),
    after: model.prediction(after, at),
  };
}
