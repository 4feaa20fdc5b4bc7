"use strict";
// The prediction of a panel: the likeliest classes or symbols, and how much of a field is there.

function predictionOf(side) {
  const { task, at, answer } = side, names = task.classes ?? task.words;
  const size = names.length, from = task.kind === "next" ? at * size : 0;
  const row = Array.from(answer.logProbabilities.slice(from, from + size), Math.exp);
  return row.map((probability, i) => ({ name: names[i], probability })).sort((one, other) => other.probability - one.probability);
}

const SHOWN = 5; // answers that have bars

// The bars of a side, of the same answers in the same order on both sides of a panel.
function predictionView(side, panel) {
  const all = predictionOf(side), [best] = all, first = predictionOf(panel.before);
  const names = [...new Set([first[0].name, ...(panel.after ? [predictionOf(panel.after)[0].name] : []), ...first.map(({ name }) => name)])].slice(0, SHOWN);
  const what = { next: `After ${quoted(side.sentence.words[side.at])} at ${side.at} comes`, views: "The model's value", class: "The model's answer" }[side.task.kind];
  return make("div", { class: "prediction" }, make("h4", {}, what), ...names.map((name) => {
    const { probability } = all.find((one) => one.name === name);
    return make("div", { class: name === best.name ? "choice best" : "choice" },
      make("span", { class: "name" }, name),
      make("span", { class: "level", "aria-hidden": "true" }, make("i", { style: `width:${100 * probability}%` })),
      make("span", { class: "value" }, percent(probability)));
  }));
}

const membersOf = ({ field }) => [...field.keys()].filter((j) => field[j] && j > 0);
const isExact = (side) => side.truth.every((needed, j) => !j || Boolean(needed) === Boolean(side.field[j]));

// How large the field is, in sentences.
function fieldSentence(side) {
  const { answer, truth: known, reach } = side, members = membersOf(side);
  let said = `The receptive field has ${members.length} of ${plural(reach - 1, "token")}`;
  if (known) {
    const count = known.slice(1).filter(Boolean).length, hits = members.filter((j) => known[j]).length;
    said += answer.discrete && isExact(side) ? ": exactly those that the answer needs" : `. The right answer needs ${count}; ${hits} of them ${hits === 1 ? "is" : "are"} in the field`;
  }
  said += ".";
  if (!answer.discrete) {
    const { below, share } = small(side);
    said += ` ${percent(below)} of the weights behind this prediction are below ${SMALL}; together they carry ${percent(share)} of all weight.`;
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
