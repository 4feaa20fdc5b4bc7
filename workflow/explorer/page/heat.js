"use strict";
// The weights of one layer, of one head or averaged over heads: a row a query, a column a key.

function heatView(panel) {
  const { answer, sentence, state, at } = panel, length = sentence.words.length;
  const heads = answer.weights[state.layer], chosen = state.head === -1 ? heads : [heads[state.head]];
  const cell = length > 40 ? 7 : length > 24 ? 9 : 12, left = 16;
  const size = left + length * cell;
  const title = `Weights of layer ${state.layer + 1}, ${state.head === -1 ? "mean of its heads" : `head ${state.head + 1}`}`;
  const picture = draw("svg", { class: "heat", viewBox: `0 0 ${size + 2} ${size + 2}`, width: size + 2, height: size + 2, role: "img", "aria-label": `${title}: a row a query, a column a key` });
  for (let i = 0; i < length; i++) {
    for (let j = 0; j < length; j++) {
      const weight = chosen.reduce((sum, rows) => sum + rows[i * length + j], 0) / chosen.length;
      if (weight < 0.004) continue;
      const square = draw("rect", { class: "weight", x: left + j * cell, y: left + i * cell, width: cell, height: cell, "fill-opacity": weight.toFixed(3) });
      square.append(draw("title", {}, `${quoted(sentence.words[i])} at ${i} reads ${quoted(sentence.words[j])} at ${j}: ${percent(weight)}`));
      picture.append(square);
    }
  }
  picture.append(draw("rect", { class: "frame", x: left, y: left, width: length * cell, height: length * cell }));
  picture.append(draw("rect", { class: "row", x: left, y: left + at * cell, width: length * cell, height: cell }));
  for (let i = 0; i < length; i += 5) {
    picture.append(draw("text", { class: "tick", x: left - 2, y: left + (i + 0.8) * cell, "text-anchor": "end" }, `${i}`));
    picture.append(draw("text", { class: "tick", x: left + (i + 0.5) * cell, y: left - 3, "text-anchor": "middle" }, `${i}`));
  }
  return make("figure", { class: "weights" }, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, picture), make("figcaption", {}, title));
}
