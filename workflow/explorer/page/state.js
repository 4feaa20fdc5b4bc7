"use strict";
// What is shown, all of it, and its address.
//
// task, a, b (models; b may be empty: none beside it), text, at (position of the prediction), place (position of the
// token pointed at), word (what stands there instead; may be empty), layer and head (from 0; -1: all), least (percent of a head's
// weight from which on the graph has a line).

// All tasks; what was recorded of translations is one more, whose text is the number of a sentence, whose
// `at` is a position of the target and `place` one of the source.
const TASKS = [...DATA.tasks, ...(DATA.recorded.length ? [{
  name: "translation", title: "Translation, recorded", kind: "recorded", models: DATA.recorded,
  about: "Attention of whole translators on a few sentences, beside the importance of each source token by gradient.",
  examples: DATA.recorded[0].sentences,
}] : [])];
const taskOf = (state) => TASKS.find((one) => one.name === state.task);

// The models of a task as one chooses them: with several views, each of them.
function choices(task) {
  return task.models.flatMap((model) => (task.kind === "views" && !model.view
    ? ["infix", "prefix"].map((view, index) => ({ key: `${model.name}.${view}`, label: `${model.label}, ${view}`, model, view, index }))
    : [{ key: model.name, label: model.label, model, view: model.view ?? null, index: 0 }]));
}

const textOf = (task, example) => (task.kind === "recorded" ? String(task.examples.indexOf(example) + 1) : (example.tokens.infix ?? example.tokens).map((token) => task.words[token]).join(" "));
const depth = (model) => (model.sentences ? { layers: model.sentences[0].cross.length, heads: model.sentences[0].cross[0].length }
  : model.spec.encoder ?? model.spec.decoder);

const choiceOf = (state, key) => choices(taskOf(state)).find((one) => one.key === key);

// A whole state: what is missing is as at first, what is out of range is as near as can be.
function complete(given) {
  const task = TASKS.find((one) => one.name === given.task) ?? TASKS[0];
  const all = choices(task), known = (key) => all.some((one) => one.key === key);
  const a = known(given.a) ? given.a : all[0].key;
  let word = "";
  try { if (given.word && task.kind !== "recorded") word = oneWord(task, given.word); } catch { /* as without one */ }
  const other = given.b ?? (word ? "" : all.at(-1).key); // before and after are two already
  const b = known(other) && other !== a ? other : "";
  let text;
  try { text = split(task, given.text ?? "").join(" "); } catch { text = textOf(task, task.examples[0]); }
  const words = wordsOf(task, text);
  const number = (value, low, high, otherwise) => {
    const whole = Math.round(Number(value));
    return value === undefined || value === "" || Number.isNaN(whole) ? otherwise : Math.min(Math.max(whole, low), high);
  };
  const recorded = task.kind === "recorded" && task.examples[Number(text) - 1];
  const spec = depth(all.find((one) => one.key === a).model), last = recorded ? recorded.source.length - 1 : words.length;
  // A language model has seen sentences of this length; it never predicted what follows their end.
  const furthest = task.kind === "next" ? Math.min(last, task.trained - 1) : recorded ? recorded.target.length - 1 : last;
  return {
    task: task.name, a, b, text, word,
    at: number(given.at, 0, furthest, task.kind === "next" ? furthest : 0),
    place: number(given.place, recorded ? 0 : 1, last, recorded ? 0 : 1),
    layer: number(given.layer, 0, spec.layers - 1, spec.layers - 1),
    head: number(given.head, -1, spec.heads - 1, -1),
    least: number(given.least, 1, 100, 20),
  };
}

const toAddress = (state) => `#${new URLSearchParams(state)}`;
const fromAddress = (address) => Object.fromEntries(new URLSearchParams(address.slice(1)));

const TELLING = 3; // tokens that a prediction needs, from which on an exact field says something

// What a task opens with, where an address leaves it open: the case that its paper names, else an example
// that its models are right about, best one whose field is just what is needed.
async function opening(given) {
  const task = TASKS.find((one) => one.name === given.task) ?? TASKS[0];
  if (given.text !== undefined || task.kind === "recorded") return given;
  if (task.opens && !unknown(task, [...split(task, task.opens.text), task.opens.word]).length) return { ...task.opens, ...given, task: task.name };
  let best = given, most = 0;
  for (const example of task.examples) {
    const state = complete({ ...given, text: textOf(task, example) });
    const sides = (await Promise.all([state.a, state.b].filter(Boolean).map((key) => panelOf(state, key)))).map(({ before }) => before);
    const [first] = sides, exact = !first?.truth ? TELLING : isExact(first) ? membersOf(first).length : 0;
    const right = sides.filter((side) => side?.right && isRight(side)).length, score = 100 * right + Math.min(exact, TELLING);
    if (score > most) { best = { ...given, text: state.text }; most = score; }
    if (score === 100 * sides.length + TELLING) break;
  }
  return best;
}
