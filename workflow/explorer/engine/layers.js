"use strict";
// What every architecture is made of. States are Float64Arrays (T * D), one row a position; what is
// computed of a row depends on no other row, so equal rows give equal bits.

// x W^T + b of rows (T * D); parameters `weight` (E, D) and `bias` (E).
function linear(parameters, x) {
  const { shape: [outer, inner], values: w } = parameters.get("weight");
  const bias = parameters.get("bias").values, rows = x.length / inner, y = new Float64Array(rows * outer);
  const whole = outer - outer % 4;
  for (let t = 0; t < rows; t++) {
    const from = t * inner, to = t * outer;
    for (let o = 0; o < whole; o += 4) {
      const w0 = o * inner, w1 = w0 + inner, w2 = w1 + inner, w3 = w2 + inner;
      let y0 = bias[o], y1 = bias[o + 1], y2 = bias[o + 2], y3 = bias[o + 3];
      for (let i = 0; i < inner; i++) {
        const value = x[from + i];
        y0 += value * w[w0 + i]; y1 += value * w[w1 + i]; y2 += value * w[w2 + i]; y3 += value * w[w3 + i];
      }
      y[to + o] = y0; y[to + o + 1] = y1; y[to + o + 2] = y2; y[to + o + 3] = y3;
    }
    for (let o = whole; o < outer; o++) {
      let sum = bias[o];
      for (let i = 0; i < inner; i++) sum += x[from + i] * w[o * inner + i];
      y[to + o] = sum;
    }
  }
  return y;
}

function layerNorm(parameters, x) {
  const scale = parameters.get("weight").values, shift = parameters.get("bias").values;
  const width = scale.length, y = new Float64Array(x.length);
  for (let from = 0; from < x.length; from += width) {
    let mean = 0, variance = 0;
    for (let i = 0; i < width; i++) mean += x[from + i];
    mean /= width;
    for (let i = 0; i < width; i++) variance += (x[from + i] - mean) ** 2;
    const rate = 1 / Math.sqrt(variance / width + 1e-5);
    for (let i = 0; i < width; i++) y[from + i] = (x[from + i] - mean) * rate * scale[i] + shift[i];
  }
  return y;
}

function feedForward(parameters, x) {
  const hidden = linear(parameters.within("0"), x);
  for (let i = 0; i < hidden.length; i++) if (hidden[i] < 0) hidden[i] = 0;
  return linear(parameters.within("3"), hidden);
}

// x + f(norm(x)), or norm(x + f(x)).
function residual(parameters, norm, x, f) {
  const y = f(norm === "pre" ? layerNorm(parameters.within("norm"), x) : x);
  for (let i = 0; i < y.length; i++) y[i] += x[i];
  return norm === "pre" ? y : layerNorm(parameters.within("norm"), y);
}

// h^(0) of tokens: embeddings times sqrt(D), plus positions, learned ones times sqrt(D) too.
function embed(parameters, positions, tokens) {
  const { shape: [, width], values: table } = parameters.get("token.weight");
  const position = parameters.get("position").values, scale = Math.sqrt(width);
  const each = positions === "learned" ? scale : 1, h = new Float64Array(tokens.length * width);
  tokens.forEach((token, t) => {
    for (let i = 0; i < width; i++) h[t * width + i] = table[token * width + i] * scale + position[t * width + i] * each;
  });
  return h;
}
