"use strict";
// Attention in its two halves: who looks where, and what is read. Weights are an array (H) of
// Float64Arrays (T * T), row i being those of query i.

// Scores Q K^T / sqrt(d_k) of states x: of every head and query those of the first `keys(i)` keys.
function route(parameters, heads, x, keys) {
  const q = linear(parameters.within("query"), x), k = linear(parameters.within("key"), x);
  const width = parameters.get("query.bias").values.length, size = width / heads, length = x.length / width;
  const scale = 1 / Math.sqrt(size);
  for (let i = 0; i < q.length; i++) q[i] *= scale;
  return Array.from({ length: heads }, (_, head) => Array.from({ length }, (_, i) => {
    const scores = new Float64Array(keys(i)), from = i * width + head * size;
    for (let j = 0; j < scores.length; j++) {
      let sum = 0;
      for (let c = 0, to = j * width + head * size; c < size; c++) sum += q[from + c] * k[to + c];
      scores[j] = sum;
    }
    return scores;
  }));
}

// Weights for such scores, by a function that puts them in the place of one query's scores.
function weigh(scores, normalize) {
  return scores.map((rows, head) => {
    const weights = new Float64Array(rows.length * rows.length);
    rows.forEach((row, i) => {
      const own = weights.subarray(i * rows.length, i * rows.length + row.length);
      own.set(row);
      normalize(own, head);
    });
    return weights;
  });
}

// What is read of states x with such weights.
function read(parameters, x, weights) {
  const v = linear(parameters.within("value"), x), heads = weights.length;
  const width = parameters.get("value.bias").values.length, size = width / heads, length = x.length / width;
  const context = new Float64Array(x.length);
  weights.forEach((rows, head) => {
    const base = head * size;
    for (let i = 0; i < length; i++) {
      for (let j = 0; j < length; j++) {
        const weight = rows[i * length + j];
        if (weight === 0) continue; // what is not attended to is not even multiplied by 0
        for (let c = 0; c < size; c++) context[i * width + base + c] += weight * v[j * width + base + c];
      }
    }
  });
  return linear(parameters.within("output"), context);
}
