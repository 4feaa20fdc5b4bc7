"use strict";
// The receptive field: r(i, 0) = {i}; r(i, l) = r(i, l-1) united with r(z, l-1) for every z that a
// head of i attends to (discrete2020 section 5).

// The field of every position after the last layer: a row (T) each, of a Uint8Array (T * T).
function fields(weights, length) {
  let field = new Uint8Array(length * length);
  for (let i = 0; i < length; i++) field[i * length + i] = 1;
  for (const heads of weights) {
    const below = field, read = summed(heads);
    field = below.slice();
    for (let at = 0; at < read.length; at++) {
      if (read[at] === 0) continue;
      const i = Math.floor(at / length), z = at % length;
      for (let j = 0; j < length; j++) field[i * length + j] |= below[z * length + j];
    }
  }
  return field;
}

// The weights of all heads, added.
function summed(heads) {
  const sum = heads[0].slice();
  for (const rows of heads.slice(1)) for (let at = 0; at < sum.length; at++) sum[at] += rows[at];
  return sum;
}

// How much of s^L(i, j) (discrete2020 eq. 1) each position j has: for soft attention, whose field is all.
function shares(weights, length, at) {
  let s = new Float64Array(length * length);
  for (let i = 0; i < length; i++) s[i * length + i] = 1;
  for (const heads of weights) {
    const next = s.slice(), read = summed(heads);
    for (let i = 0; i < length; i++) {
      for (let k = 0; k < length; k++) {
        const weight = read[i * length + k];
        if (weight) for (let j = 0; j < length; j++) next[i * length + j] += weight * s[k * length + j];
      }
    }
    s = next.map((value) => Math.min(value, 1));
  }
  return s.slice(at * length, (at + 1) * length);
}

// The positions whose states of each layer the prediction at `at` is built on: an array (L + 1) of
// Uint8Arrays (T); what stands at l are the readers of layer l, at 0 the tokens.
function tree(weights, length, at) {
  let active = new Uint8Array(length);
  active[at] = 1;
  const all = [active];
  for (let l = weights.length - 1; l >= 0; l--) {
    const reads = active.slice();
    for (const rows of weights[l]) {
      active.forEach((is, i) => {
        if (is) for (let j = 0; j < length; j++) if (rows[i * length + j]) reads[j] = 1;
      });
    }
    all.unshift(reads);
    active = reads;
  }
  return all;
}

// The decisions of another run that differ among those that the prediction at `at` is built on, from
// the last layer to the first: {layer, head, position, from, to}, each an index from 0.
function flips(before, after, length, at) {
  const built = tree(before, length, at), found = [];
  for (let layer = before.length - 1; layer >= 0; layer--) {
    before[layer].forEach((rows, head) => {
      for (let position = 0; position < length; position++) {
        if (!built[layer + 1][position]) continue;
        const old = rows.subarray(position * length, (position + 1) * length);
        const now = after[layer][head].subarray(position * length, (position + 1) * length);
        if (old.some((weight, j) => weight !== now[j])) {
          found.push({ layer, head, position, from: heaviest(old), to: heaviest(now) });
        }
      }
    });
  }
  return found;
}

const heaviest = (row) => row.reduce((best, weight, j) => (weight > row[best] ? j : best), 0);
