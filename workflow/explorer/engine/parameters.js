"use strict";
// Parameters of a model by name, from float16 or float32 in base64.

const HALF = new Float64Array(65536); // the value of every float16
for (let bits = 0; bits < 65536; bits++) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  let value;
  if (exponent === 31) value = fraction ? NaN : Infinity;
  else if (exponent === 0) value = fraction * 2 ** -24;
  else value = (1 + fraction / 1024) * 2 ** (exponent - 15);
  HALF[bits] = bits & 0x8000 ? -value : value;
}

// All parameters whose names begin with a prefix.
class Parameters {
  constructor(all, prefix = "") { this.all = all; this.prefix = prefix; }

  static decode(tensors, base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const view = new DataView(bytes.buffer), all = {};
    for (const [name, { shape, type, at }] of Object.entries(tensors)) {
      const values = new Float64Array(shape.reduce((one, other) => one * other, 1));
      for (let i = 0; i < values.length; i++) {
        values[i] = type === "f2" ? HALF[view.getUint16(at + 2 * i, true)] : view.getFloat32(at + 4 * i, true);
      }
      all[name] = { shape, values };
    }
    return new Parameters(all);
  }

  within(part) { return new Parameters(this.all, `${this.prefix}${part}.`); }

  has(name) { return `${this.prefix}${name}` in this.all; }

  get(name) {
    const found = this.all[`${this.prefix}${name}`];
    if (!found) throw new Error(`The model has no parameter ${this.prefix}${name}.`);
    return found;
  }
}
