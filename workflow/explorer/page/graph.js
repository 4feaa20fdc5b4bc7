"use strict";
// The field as a layered graph: tokens at the bottom, the prediction at the top, and of every state that
// it is built on the edges that its heads read along, but for those that weigh less than `state.least` percent.

const NARROW = matchMedia("(max-width: 40rem)"); // a phone: there columns are as near as their words allow
const MANY = 400; // edges, up to which each tells its weight

// `side` is a sentence before or after a word was replaced; `name` says which.
function graphView(side, name) {
  const { answer, sentence, at, place, truth: known, state } = side, length = sentence.words.length;
  const layers = answer.weights.length, longest = Math.max(...sentence.words.slice(1).map((word) => word.length));
  const roomy = Math.max(22, Math.min(longest, 3) * 9), tight = longest > 3 ? 13 : longest * 7.2 + 2.5;
  const wide = NARROW.matches ? Math.min(tight, roomy) : roomy, tall = 46, left = 62, words = longest > 3 ? longest * 6.2 + 14 : 24;
  const width = Math.max(length * wide + left + 8, 150), height = layers * tall + words + 36;
  const x = (i) => left + (i + 0.5) * wide, y = (l) => 26 + (layers - l) * tall;
  const title = `${name}: how the prediction at ${at} reaches back through ${plural(layers, "layer")}`;
  const picture = draw("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, style: `--wide:${width}px`, "data-at": x(at), role: "img", "aria-label": `${title}. ${fieldSentence(side)}` });
  picture.append(draw("title", {}, title));

  const edge = (l, from, to, attributes, about) => {
    const line = draw("line", { x1: x(from), y1: y(l + 1) + 4, x2: x(to), y2: y(l) - 4, ...attributes });
    if (about) line.append(draw("title", {}, about));
    picture.append(line);
  };
  const flipped = new Set(side.flips.map(({ layer, head, position }) => `${layer} ${head} ${position}`));
  const reads = [];
  let lighter = 0;
  for (let l = 0; l < layers; l++) {
    picture.append(draw("text", { x: 4, y: y(l + 1) + 4 }, `layer ${l + 1}`));
    for (let i = 0; i < length; i++) if (answer.tree[l + 1][i]) edge(l, i, i, { class: "same" });
    answer.weights[l].forEach((rows, head) => {
      for (let i = 0; i < length; i++) {
        const flip = flipped.has(`${l} ${head} ${i}`);
        if (!answer.tree[l + 1][i] && !flip) continue;
        for (let j = 0; j < length; j++) {
          const weight = rows[i * length + j];
          if (100 * weight >= state.least) reads.push({ l, head, i, j, weight, flip, chosen: l === state.layer && state.head === head });
          else if (weight) lighter++;
        }
      }
    });
  }
  reads.sort((one, other) => one.flip - other.flip); // what flipped is drawn last, above the others
  const look = ({ weight, chosen, flip }) => ({
    class: `read${flip ? " flip" : ""}${chosen ? " chosen" : ""}`, "stroke-opacity": (Math.ceil(Math.max(weight, 0.12) * 8) / 8).toFixed(2),
  });
  if (reads.length <= MANY) {
    for (const one of reads) {
      edge(one.l, one.i, one.j, look(one), `head ${one.head + 1} of layer ${one.l + 1}: ${quoted(sentence.words[one.i])} at ${one.i} reads ${quoted(sentence.words[one.j])} at ${one.j}, ${percent(one.weight)}`);
    }
  } else { // edges that look alike are one path: elements by the thousand are slow
    const alike = new Map();
    for (const one of reads) {
      const key = JSON.stringify(look(one));
      alike.set(key, `${alike.get(key) ?? ""}M${x(one.i)} ${y(one.l + 1) + 4}L${x(one.j)} ${y(one.l) - 4}`);
    }
    for (const [key, d] of alike) picture.append(draw("path", { ...JSON.parse(key), d, fill: "none" }));
  }
  picture.append(draw("text", { class: "word in", x: x(at), y: 14, "text-anchor": at < 2 ? "start" : at > length - 3 ? "end" : "middle" }, "prediction"));
  // The dots of one kind are one path of points with round ends.
  const dots = { state: "", "state built": "", "state predicted": `M${x(at)} ${y(layers)}h0` };
  for (let l = 0; l <= layers; l++) {
    for (let i = 0; i < length; i++) dots[answer.tree[l][i] ? "state built" : "state"] += `M${x(i)} ${y(l)}h0`;
  }
  for (const [name, d] of Object.entries(dots)) picture.append(draw("path", { class: name, d }));
  sentence.words.forEach((word, i) => {
    const classes = ["word", answer.tree[0][i] && "in", i === place && "pointed", known?.[i] && "true"].filter(Boolean).join(" ");
    const turned = longest > 3, middle = x(i), top = y(0) + 14;
    picture.append(draw("text", { class: classes, x: middle, y: top, "text-anchor": turned ? "end" : "middle", ...(turned ? { transform: `rotate(-60 ${middle} ${top})` } : {}) }, word));
    if (known?.[i]) picture.append(draw("rect", { class: "needed", x: middle - wide / 2 + 3, y: height - 6, width: wide - 6, height: 3 }));
  });
  if (known) picture.append(draw("text", { x: 4, y: height - 2 }, "needed"));
  const drawn = lighter && `Lines are weights of at least ${state.least} %. ${plural(lighter, "lighter one")} ${lighter === 1 ? "is" : "are"} not drawn.`;
  return make("figure", {}, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Graph, ${name}` }, picture), drawn ? make("figcaption", {}, drawn) : "");
}
