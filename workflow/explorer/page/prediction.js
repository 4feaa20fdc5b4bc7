"use strict";
// The prediction of a panel: the likeliest classes or symbols, and how much of a field is there.

function predictionOf(panel) {
  const { task, state, answer } = panel, names = task.classes ?? task.words;
  const size = names.length, from = task.kind === "next" ? state.at * size : 0;
  const row = Array.from(answer.logProbabilities.slice(from, from + size), Math.exp);
  return row.map((probability, i) => ({ name: names[i], probability })).sort((one, other) => other.probability - one.probability);
}

function predictionView(panel) {
  const { task, state, sentence } = panel, ranked = predictionOf(panel).slice(0, 5);
  const what = task.kind === "next" ? `After ${quoted(sentence.words[panel.at])} at ${panel.at} comes` : `${task.kind === "views" ? "Value" : "Class"}, from the state at 0`;
  return make("div", { class: "prediction" }, make("h3", {}, what), ...ranked.map(({ name, probability }, i) => make(
    "div", { class: i ? "choice" : "choice best" },
    make("span", { class: "name" }, name),
    make("span", { class: "level", "aria-hidden": "true" }, make("i", { style: `width:${100 * probability}%` })),
    make("span", { class: "value" }, percent(probability)),
  )));
}

// How large the field is, in a sentence.
function fieldSentence(panel) {
  const { answer, field, truth: known } = panel;
  const members = [...field.keys()].filter((j) => field[j] && j > 0), seen = panel.reach;
  let said = `Field: ${members.length} of ${plural(seen - 1, "token")}.`;
  if (known) {
    const count = known.filter(Boolean).length, hits = members.filter((j) => known[j]).length;
    const equal = hits === count && members.length === count;
    said += equal ? " Just what is needed." : ` Needed: ${count}, of which it has ${hits}.`;
  }
  if (!answer.discrete) {
    const { below, share } = small(panel);
    said += ` ${percent(below)} of the weights that lead here are below ${SMALL}; they carry ${percent(share)} of all weight.`;
  }
  return said;
}

const SMALL = 0.05;

// Of the weights that the prediction is built on, the fraction that is small, and how much weight these are.
function small({ answer, sentence }) {
  const length = sentence.words.length;
  let count = 0, few = 0, all = 0, little = 0;
  answer.weights.forEach((heads, l) => {
    for (let i = 0; i < length; i++) {
      if (!answer.tree[l + 1][i]) continue;
      for (const rows of heads) {
        for (let j = 0; j < length; j++) {
          const weight = rows[i * length + j];
          if (!weight) continue;
          count++;
          all += weight;
          if (weight < SMALL) { few++; little += weight; }
        }
      }
    }
  });
  return { below: few / count, share: little / all };
}
