"use strict";
// Attention in its two halves: who looks where, and what is read. Weights are an array (H) of
// Float64Arrays (T * T), row i being those of query i.

// Scores Q K^T / sqrt(d_k) of states x: of every head and query those of the first `keys(i)` keys.
function route(parameters, heads, x, keys) {
  const q = linear(parameters.within("query"), x), k = linear(parameters.within("key"), x);
  const width = parameters.get("query.bias").values.length, size = width / heads, length = x.length / width;
  const scale = 1 / Math.sqrt(size);
  for (let i = 0; i < q.length; i++) q[i] *= scale;
  return Array.from({ length: heads }, (_, head) => {
    const scores = product(rowsOf(q, width, size, head), rowsOf(k, width, size, head), size);
    return Array.from({ length }, (_, i) => scores.subarray(i * length, i * length + keys(i)));
  });
}

// What a head has of states (T * D), a row a position: (T * d).
function rowsOf(x, width, size, head) {
  const own = new Float64Array((x.length / width) * size);
  for (let t = 0, from = head * size; from < x.length; t++, from += width) own.set(x.subarray(from, from + size), t * size);
  return own;
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
  const column = new Float64Array(size * length);
  weights.forEach((rows, head) => {
    const base = head * size;
    for (let j = 0; j < length; j++) for (let c = 0; c < size; c++) column[c * length + j] = v[j * width + base + c];
    const own = product(rows, column, length); // what is not attended to adds 0
    for (let i = 0; i < length; i++) context.set(own.subarray(i * size, (i + 1) * size), i * width + base);
  });
  return linear(parameters.within("output"), context);
}
