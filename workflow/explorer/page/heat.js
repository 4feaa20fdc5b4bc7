"use strict";
// The weights of one layer, of one head or averaged over heads: a row a query, a column a key.

const SHADES = 40;

function heatView(side) {
  const { answer, sentence, state, at } = side, length = sentence.words.length;
  const heads = answer.weights[state.layer], chosen = state.head === -1 ? heads : [heads[state.head]];
  const cell = length > 40 ? 7 : length > 24 ? 9 : 12, left = 16;
  const size = left + length * cell;
  const title = `Weights of layer ${state.layer + 1}, ${state.head === -1 ? "mean over its heads" : `head ${state.head + 1}`}. Row: the position that looks. Column: where it looks.`;
  const picture = draw("svg", { class: "heat", viewBox: `0 0 ${size + 2} ${size + 2}`, width: size + 2, height: size + 2, role: "img", "aria-label": title });
  const weightOf = (i, j) => chosen.reduce((sum, rows) => sum + rows[i * length + j], 0) / chosen.length;
  const shades = new Map(); // squares of one shade are one path: elements by the thousand are slow
  for (let i = 0; i < length; i++) {
    for (let j = 0; j < length; j++) {
      const shade = Math.ceil(weightOf(i, j) * SHADES - 0.1);
      if (shade > 0) shades.set(shade, `${shades.get(shade) ?? ""}M${left + j * cell} ${left + i * cell}h${cell}v${cell}h${-cell}z`);
    }
  }
  for (const [shade, d] of shades) picture.append(draw("path", { class: "weight", d, "fill-opacity": (shade / SHADES).toFixed(3) }));
  picture.append(draw("rect", { class: "frame", x: left, y: left, width: length * cell, height: length * cell }));
  picture.append(draw("rect", { class: "row", x: left, y: left + at * cell, width: length * cell, height: cell }));
  for (let i = 0; i < length; i += 5) {
    picture.append(draw("text", { class: "tick", x: left - 2, y: left + (i + 0.8) * cell, "text-anchor": "end" }, `${i}`));
    picture.append(draw("text", { class: "tick", x: left + (i + 0.5) * cell, y: left - 3, "text-anchor": "middle" }, `${i}`));
  }
  const caption = make("figcaption", {}, title);
  picture.addEventListener("pointermove", (event) => {
    const scale = picture.viewBox.baseVal.width / picture.getBoundingClientRect().width;
    const i = Math.floor((event.offsetY * scale - left) / cell), j = Math.floor((event.offsetX * scale - left) / cell);
    const within = i >= 0 && j >= 0 && i < length && j < length;
    caption.textContent = within ? `${quoted(sentence.words[i])} at ${i} reads ${quoted(sentence.words[j])} at ${j}: ${percent(weightOf(i, j))}` : title;
  });
  return make("figure", { class: "weights more" }, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, picture), caption);
}
