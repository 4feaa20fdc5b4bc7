"use strict";
// The stacks of layers: from tokens to the last states (T * D) and the weights of every layer.

const ALL = (tokens) => () => tokens.length;
const CAUSAL = () => (i) => i + 1;

// One stream: attention, then feed-forward network.
function transformer(parameters, spec, tokens, keys) {
  let h = embed(parameters.within("embedding"), spec.positions, tokens);
  const weights = [];
  for (let l = 0; l < spec.layers; l++) {
    const layer = parameters.within(`layers.${l}`), normalize = normalizer(spec.normalizer, layer.within("normalizer"));
    h = residual(layer.within("attend"), spec.norm, h, (x) => {
      weights.push(weigh(route(layer.within("routing"), spec.heads, x, keys), normalize));
      return read(layer.within("values"), x, weights[l]);
    });
    h = transform(layer, spec, h);
  }
  return { h: finish(parameters, spec, h), weights };
}

// The controller routes, attending softly itself; the model stream reads where it points.
function twoStream(parameters, spec, tokens, keys) {
  return streams(parameters, parameters, spec, tokens, keys);
}

// One controller a view, and the model stream that all views share.
function multiview(parameters, spec, tokens, keys, view) {
  return streams(parameters.within(`controllers.${view}`), parameters, spec, tokens, keys);
}

function streams(controller, parameters, spec, tokens, keys) {
  const weights = control(controller, parameters, spec, tokens, keys);
  let h = embed(parameters.within("embedding"), spec.positions, tokens);
  weights.forEach((z, l) => {
    const layer = parameters.within(`model_stream.${l}`);
    h = residual(layer.within("attend"), spec.norm, h, (x) => read(layer.within("values"), x, z));
    h = transform(layer, spec, h);
  });
  return { h: finish(parameters, spec, h), weights };
}

function control(controller, parameters, spec, tokens, keys) {
  let g = embed(controller.within("controller_embedding"), spec.positions, tokens);
  const weights = [];
  for (let l = 0; l < spec.layers; l++) {
    const layer = controller.within(`controller.${l}`);
    const normalize = normalizer(spec.normalizer, parameters.within(`normalizers.${l}`));
    g = residual(layer.within("attend"), spec.norm, g, (x) => {
      const scores = route(layer.within("routing"), spec.heads, x, keys);
      weights.push(weigh(scores, normalize));
      return l + 1 < spec.layers ? read(layer.within("values"), x, weigh(scores, softmax)) : x;
    });
    if (l + 1 < spec.layers) g = transform(layer, spec, g); // nothing reads the last state
  }
  return weights;
}

function transform(layer, spec, h) {
  return residual(layer.within("transform"), spec.norm, h, (x) => feedForward(layer.within("feed_forward"), x));
}

function finish(parameters, spec, h) {
  return spec.norm === "pre" ? layerNorm(parameters.within("norm"), h) : h;
}
