"use strict";
// The field as a layered graph: tokens at the bottom, the prediction at the top, and of every state that
// it is built on the edges that its heads read along.

const DASHES = ["", "7 2", "2 2", "8 2 2 2"]; // of the heads of the chosen layer, so that they differ in grey too
const FAINT = 0.05; // edges of soft attention that weigh less are not drawn
const MANY = 400; // edges, up to which each tells its weight

function graphView(panel) {
  const { answer, sentence, at, place, truth: known, state } = panel, length = sentence.words.length;
  const layers = answer.weights.length, longest = Math.max(...sentence.words.slice(1).map((word) => word.length));
  const wide = Math.max(22, Math.min(longest, 3) * 9), tall = 46, words = longest > 3 ? longest * 6.2 + 14 : 24;
  const width = length * wide + 40, height = layers * tall + words + 24;
  const x = (i) => 34 + (i + 0.5) * wide, y = (l) => 14 + (layers - l) * tall;
  const title = `How the prediction at ${at} reaches back through ${plural(layers, "layer")}, ${panel.choice.label}`;
  const picture = draw("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, style: `max-width:${width}px;min-width:${Math.min(width, 520)}px`, role: "img", "aria-label": `${title}. ${fieldSentence(panel)}` });
  picture.append(draw("title", {}, title));

  const edge = (l, from, to, attributes, about) => {
    const line = draw("line", { x1: x(from), y1: y(l + 1) + 4, x2: x(to), y2: y(l) - 4, ...attributes });
    if (about) line.append(draw("title", {}, about));
    picture.append(line);
  };
  const reads = [];
  for (let l = 0; l < layers; l++) {
    picture.append(draw("text", { class: l === state.layer ? "layer chosen" : "layer", x: 4, y: y(l + 1) + 4 }, `${l + 1}`));
    for (let i = 0; i < length; i++) if (answer.tree[l + 1][i]) edge(l, i, i, { class: "same" });
    answer.weights[l].forEach((rows, head) => {
      for (let i = 0; i < length; i++) {
        if (!answer.tree[l + 1][i]) continue;
        for (let j = 0; j < length; j++) {
          const weight = rows[i * length + j];
          if (weight >= FAINT) reads.push({ l, head, i, j, weight, chosen: l === state.layer && (state.head === -1 || state.head === head) });
        }
      }
    });
  }
  const look = ({ head, weight, chosen }) => ({
    class: chosen ? "read chosen" : "read", "stroke-dasharray": chosen ? DASHES[head % DASHES.length] : "", "stroke-opacity": (Math.ceil(Math.max(weight, 0.12) * 8) / 8).toFixed(2),
  });
  if (reads.length <= MANY) {
    for (const one of reads) {
      edge(one.l, one.i, one.j, look(one), `head ${one.head + 1} of layer ${one.l + 1}: ${quoted(sentence.words[one.i])} at ${one.i} reads ${quoted(sentence.words[one.j])} at ${one.j}, ${percent(one.weight)}`);
    }
  } else { // edges that look alike are one path: elements by the thousand are slow
    const alike = new Map();
    for (const one of reads) {
      const key = JSON.stringify({ ...look(one), "stroke-dasharray": "" }); // and dashes are slower still
      alike.set(key, `${alike.get(key) ?? ""}M${x(one.i)} ${y(one.l + 1) + 4}L${x(one.j)} ${y(one.l) - 4}`);
    }
    for (const [key, d] of alike) picture.append(draw("path", { ...JSON.parse(key), d, fill: "none" }));
  }
  const change = panel.change;
  if (change?.flips.length && answer.discrete) {
    const { layer, position, from, to } = change.flips[0];
    edge(layer, position, from, { class: "flip was" }, "before");
    edge(layer, position, to, { class: "flip is" }, "after");
    const path = pathUp(answer.weights, length, position, layer + 1, at);
    for (let l = layer + 1; l < layers; l++) edge(l, path[l + 1 - layer - 1], path[l - layer - 1], { class: "path" });
  }
  // The dots of one kind are one path of points with round ends.
  const dots = { state: "", "state built": "", "state predicted": `M${x(at)} ${y(layers)}h0` };
  for (let l = 0; l <= layers; l++) {
    for (let i = 0; i < length; i++) dots[answer.tree[l][i] ? "state built" : "state"] += `M${x(i)} ${y(l)}h0`;
  }
  for (const [name, d] of Object.entries(dots)) picture.append(draw("path", { class: name, d }));
  sentence.words.forEach((word, i) => {
    const classes = ["word", answer.tree[0][i] && "in", i === place && "pointed", known?.[i] && "true"].filter(Boolean).join(" ");
    const turned = longest > 3, left = x(i), top = y(0) + 14;
    const text = draw("text", { class: classes, x: left, y: top, "text-anchor": turned ? "end" : "middle", ...(turned ? { transform: `rotate(-60 ${left} ${top})` } : {}) }, word);
    picture.append(text);
    if (known?.[i]) picture.append(draw("rect", { class: "needed", x: left - wide / 2 + 3, y: height - 6, width: wide - 6, height: 3 }));
  });
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Graph, ${panel.choice.label}` }, picture);
}

// From the state of a position behind a layer up to the prediction: its positions layer by layer, along
// edges that are read.
function pathUp(weights, length, position, layer, at) {
  let paths = new Map([[position, [position]]]);
  for (let l = layer; l < weights.length; l++) {
    const next = new Map();
    for (const [from, path] of paths) {
      for (let i = 0; i < length; i++) {
        if (!next.has(i) && (i === from || weights[l].some((rows) => rows[i * length + from] > 0))) next.set(i, [...path, i]);
      }
    }
    paths = next;
  }
  return paths.get(at);
}
