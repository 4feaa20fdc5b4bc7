"use strict";
// A trained model: from tokens to log-probabilities and the weights that they were computed with.

const ENCODERS = { Transformer: transformer, TwoStreamTransformer: twoStream, MultiviewTransformer: multiview };
// A prediction is made of the state at every position, or at the first, where <cls> stands.
const OUTPUTS = {
  Classifier: { encoder: "encoder", keys: ALL, each: false },
  MultiviewClassifier: { encoder: "encoder", keys: ALL, each: false },
  LanguageModel: { encoder: "decoder", keys: CAUSAL, each: true },
};
const classOf = (spec) => spec.path.split(":")[1];

class Model {
  constructor({ spec, tensors, weights }) {
    this.output = OUTPUTS[classOf(spec)];
    this.spec = spec[this.output.encoder];
    this.encoder = ENCODERS[classOf(this.spec)];
    this.parameters = Parameters.decode(tensors, weights);
    this.size = this.parameters.get("output.bias").values.length;
    this.discrete = isDiscrete(this.spec.normalizer);
  }

  // Log-probabilities of the class (C), or of the next symbol at each position (T * V).
  run(tokens, view = 0) {
    const encoder = this.parameters.within(this.output.encoder);
    const { h, weights } = this.encoder(encoder, this.spec, tokens, this.output.keys(tokens), view);
    const logits = linear(this.parameters.within("output"), this.output.each ? h : h.subarray(0, this.spec.width));
    return { tokens, h, logProbabilities: logSoftmax(logits, this.size), weights };
  }

  // The last state at a position, which a prediction there is a function of.
  state({ h }, at) { return h.subarray(at * this.spec.width, (at + 1) * this.spec.width); }

  // What is predicted at a position; a class is, whatever the position, predicted at the first.
  prediction({ logProbabilities }, at) {
    return this.output.each ? logProbabilities.subarray(at * this.size, (at + 1) * this.size) : logProbabilities;
  }
}

function logSoftmax(logits, size) {
  const result = new Float64Array(logits.length);
  for (let from = 0; from < logits.length; from += size) {
    const row = logits.subarray(from, from + size), most = Math.max(...row);
    let total = 0;
    for (const value of row) total += Math.exp(value - most);
    const log = most + Math.log(total);
    row.forEach((value, i) => { result[from + i] = value - log; });
  }
  return result;
}
