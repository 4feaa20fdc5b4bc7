"use strict";
// Translations whose models are too large for the page: what was recorded of a few sentences.

// What a target position can depend on among source tokens: those that it reads in any layer, itself or
// by an earlier position of its own field, and what those depend on in the encoder.
function sourceField({ encoder, decoder, cross }, at) {
  const flat = (layers) => layers.map((heads) => heads.map((rows) => Float64Array.from(rows.flat())));
  const S = encoder[0][0].length, T = decoder[0][0].length;
  const own = fields(flat(encoder), S), built = tree(flat(decoder), T, at), reached = new Uint8Array(S);
  cross.forEach((heads, l) => heads.forEach((rows) => rows.forEach((row, t) => {
    if (built[l + 1][t]) row.forEach((weight, j) => { if (weight) for (let i = 0; i < S; i++) reached[i] |= own[j * S + i]; });
  })));
  return reached;
}

function recordedView(panel) {
  const { state, choice } = panel, one = choice.model.sentences[Number(state.text) - 1];
  const at = Math.min(state.at, one.target.length - 1), field = sourceField(one, at);
  const heads = one.cross[Math.min(state.layer, one.cross.length - 1)];
  const chosen = state.head === -1 ? heads : [heads[Math.min(state.head, heads.length - 1)]];
  const attention = one.source.map((_, j) => chosen.reduce((sum, rows) => sum + rows[at][j], 0) / chosen.length);
  const total = one.importance[at].reduce((sum, value) => sum + value, 0) || 1;
  const importance = one.importance[at].map((value) => value / total);
  const most = Math.max(...attention, ...importance);
  const chips = (words, marked, pressed, what) => make("div", { class: "sentence", role: "group", "aria-label": `${what}, ${choice.label}` },
    ...words.map((word, j) => make("button", {
      type: "button", class: `token mark ${marked(j)}`, "data-position": j, "data-side": what, tabindex: j === pressed ? 0 : -1, "aria-pressed": String(j === pressed),
      "aria-label": `${j} ${word}: ${marked(j).includes("in") ? "in the field" : "outside"}`,
    }, word)));
  const level = (share, kind) => make("span", { class: `level ${kind}` }, make("i", { style: `width:${(100 * share) / most}%` }));
  const inside = field.reduce((sum, is) => sum + is, 0);
  return make("section", { class: "panel", "aria-label": choice.label }, make("h2", {}, choice.label),
    make("h3", {}, "Reference translation. Click a word: below is what the model predicts there"),
    chips(one.target, (t) => (t === at ? "at" : ""), at, "target"),
    make("p", { class: "size" }, `In the place of ${quoted(one.target[at])} the model predicts ${quoted(one.predicted[at])}. Its receptive field has ${inside} of ${plural(one.source.length, "source token")}.`),
    make("h3", {}, "Source"), chips(one.source, (j) => `${field[j] ? "in" : "out"}${j === state.place ? " pointed" : ""}`, state.place, "source"),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Attention and importance, ${choice.label}` }, make("table", { class: "beside" },
      make("thead", {}, make("tr", {}, ...["source token", `attention, layer ${state.layer + 1}, ${state.head === -1 ? `mean over ${plural(heads.length, "head")}` : `head ${state.head + 1}`}`, "importance by gradient"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...one.source.map((word, j) => make("tr", {}, make("th", { scope: "row" }, word),
        make("td", {}, level(attention[j], "attention"), percent(attention[j])), make("td", {}, level(importance[j], "importance"), percent(importance[j]))))))),
    make("p", { class: "small" }, `Run ${choice.model.run}.`));
}
