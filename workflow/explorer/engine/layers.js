"use strict";
// What every architecture is made of. States are Float64Arrays (T * D), one row a position; what is
// computed of a row depends on no other row, so equal rows give equal bits.

// x W^T + b of rows (T * D); parameters `weight` (E, D) and `bias` (E).
function linear(parameters, x) {
  const { shape: [, inner], values } = parameters.get("weight");
  return product(x, values, inner, parameters.get("bias").values);
}

// x W^T + b of rows x (R * N), rows w (E * N) and b (E): (R * E).
function product(x, w, inner, bias = new Float64Array(w.length / inner)) {
  const outer = bias.length, rows = x.length / inner, y = new Float64Array(rows * outer);
  const whole = outer - outer % 4, even = rows - rows % 2;
  // Two rows and four columns at once, so that what is loaded is used often.
  for (let o = 0; o < whole; o += 4) {
    const w0 = o * inner, w1 = w0 + inner, w2 = w1 + inner, w3 = w2 + inner;
    const b0 = bias[o], b1 = bias[o + 1], b2 = bias[o + 2], b3 = bias[o + 3];
    for (let t = 0; t < rows; t += 2) {
      // Of an odd number of rows the last is computed twice: in the same way as all, to the last bit.
      const one = t * inner, two = t < even ? one + inner : one;
      let p0 = b0, p1 = b1, p2 = b2, p3 = b3, q0 = b0, q1 = b1, q2 = b2, q3 = b3;
      for (let i = 0; i < inner; i++) {
        const p = x[one + i], q = x[two + i], u0 = w[w0 + i], u1 = w[w1 + i], u2 = w[w2 + i], u3 = w[w3 + i];
        p0 += p * u0; p1 += p * u1; p2 += p * u2; p3 += p * u3;
        q0 += q * u0; q1 += q * u1; q2 += q * u2; q3 += q * u3;
      }
      const to = t * outer + o, next = t < even ? to + outer : to;
      y[to] = p0; y[to + 1] = p1; y[to + 2] = p2; y[to + 3] = p3;
      y[next] = q0; y[next + 1] = q1; y[next + 2] = q2; y[next + 3] = q3;
    }
  }
  for (let o = whole; o < outer; o++) {
    for (let t = 0; t < rows; t++) {
      let sum = bias[o];
      for (let i = 0; i < inner; i++) sum += x[t * inner + i] * w[o * inner + i];
      y[t * outer + o] = sum;
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
