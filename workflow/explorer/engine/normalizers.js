"use strict";
// Attention mechanisms: weights in the place of the scores of a query. Files of `model/normalizers` have the
// same names, and the papers.

const NORMALIZERS = {
  Softmax: () => softmax,
  Gumbel: () => largest,
  Uniform: () => (scores) => scores.fill(1 / scores.length),
  TopK: ({ k }) => (scores) => topK(scores, k),
  TopKOfMany: ({ k }) => (scores) => topK(scores, k),
  Sparsemax: () => sparsemax,
  Entmax15: () => (scores) => entmax(scores, 0.5),
  EntmaxAlpha: (_, parameters) => {
    const logit = parameters.get("logit").values;
    return (scores, head) => entmax(scores, 0.01 + 0.98 / (1 + Math.exp(-logit[head])));
  },
};

// A function of (scores, head) for what a spec says of a normalizer; `parameters` are its own.
function normalizer(spec, parameters) {
  const name = spec.path.split(":")[1];
  if (!(name in NORMALIZERS)) throw new Error(`The page does not know the mechanism ${name}.`);
  return NORMALIZERS[name](spec, parameters);
}

const isDiscrete = (spec) => spec.path.endsWith(":Gumbel");

function greatest(scores) {
  let most = -Infinity;
  for (let i = 0; i < scores.length; i++) if (scores[i] > most) most = scores[i];
  return most;
}

function softmax(scores) {
  const most = greatest(scores);
  let total = 0;
  for (let i = 0; i < scores.length; i++) total += scores[i] = Math.exp(scores[i] - most);
  for (let i = 0; i < scores.length; i++) scores[i] /= total;
  return scores;
}

// The first of the largest gets all.
function largest(scores) {
  let at = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i] > scores[at]) at = i;
  scores.fill(0)[at] = 1;
  return scores;
}

function topK(scores, k) {
  if (scores.length > k) {
    const least = [...scores].sort((one, other) => other - one)[k - 1];
    for (let i = 0; i < scores.length; i++) if (scores[i] < least) scores[i] = -Infinity;
  }
  return softmax(scores);
}

function sparsemax(scores) {
  let sum = 0, tau = -Infinity;
  [...scores].sort((one, other) => other - one).forEach((score, i) => {
    sum += score;
    tau = Math.max(tau, (sum - 1) / (i + 1));
  });
  for (let i = 0; i < scores.length; i++) scores[i] = Math.max(scores[i] - tau, 0);
  return scores;
}

// p_i = max(a s_i - tau, 0)^(1 / a) with a = alpha - 1; Newton's steps to the tau where they sum to 1.
function entmax(scores, a) {
  const most = greatest(scores);
  for (let i = 0; i < scores.length; i++) scores[i] = a * (scores[i] - most);
  let tau = -1;
  for (let step = 0; step < 60; step++) {
    let total = 0, slope = 0;
    for (const score of scores) {
      const r = score - tau;
      if (r > 0) { total += r ** (1 / a); slope += r ** (1 / a - 1); }
    }
    const norm = total ** a;
    if (norm - 1 < 1e-14) break;
    tau += (total - total / norm) / slope;
  }
  for (let i = 0; i < scores.length; i++) scores[i] = Math.max(scores[i] - tau, 0) ** (1 / a);
  return scores;
}
