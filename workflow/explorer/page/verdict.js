"use strict";
// What the token pointed at can do to the prediction, and what another word in its place does.

function verdict(panel) {
  const { answer, field, sentence, task, at, place, state, change } = panel;
  if (place < 0) return "This view has no such token.";
  const named = `${quoted(sentence.words[place])} at ${place}`;
  const predicts = task.kind === "next" || at === 0, it = predicts ? "the prediction" : `the state at ${at}`;
  if (place >= panel.reach) return `${named} comes after the prediction: it is not seen.`;
  const outside = !field[place];
  if (!state.word) {
    if (outside) return `${named} cannot change ${it}: difference 0, with the routing as it is. Put another word there to see whether a decision flips.`;
    if (answer.discrete) return `${named} is in the field: it can change ${it}.`;
    const all = field.subarray(0, panel.reach).every(Boolean);
    return `${named} is in the field, with s ${answer.shares[place] < 0.005 ? "below 0.01" : `= ${answer.shares[place].toFixed(2)}`}${all ? ": this attention leaves nothing out" : ""}.`;
  }
  if (!change) return "";
  const effect = predicts ? `the prediction ${moved(panel)}` : `${it} changes`;
  if (!change.flips.length) {
    if (change.same) return `With ${quoted(state.word)} no decision changed: ${it} is bit for bit the same.`;
    return `With ${quoted(state.word)} no decision changed, but the token is in the field: ${effect}.`;
  }
  if (!answer.discrete) return `With ${quoted(state.word)} the weights change: ${effect}.`;
  const { layer, head, position, from, to } = change.flips[0], more = change.flips.length - 1;
  return `With ${quoted(state.word)} it flips head ${head + 1} of layer ${layer + 1} at position ${position}, from ${quoted(wordAt(panel, from))} at ${from} to ${quoted(wordAt(panel, to))} at ${to}`
    + `${more ? `, and ${plural(more, "other decision")}` : ""}: ${effect}.`;
}

const wordAt = (panel, position) => (position === panel.place ? panel.state.word : panel.sentence.words[position]);

// How the likeliest class or symbol moves.
function moved(panel) {
  const names = panel.task.classes ?? panel.task.words, [best] = predictionOf(panel);
  const now = Array.from(panel.change.after, Math.exp), first = now.indexOf(Math.max(...now));
  const after = now[names.indexOf(best.name)];
  const said = `goes from ${percent(best.probability)} to ${percent(after)} for ${quoted(best.name)}`;
  return names[first] === best.name ? said : `${said}, and becomes ${quoted(names[first])}`;
}

function verdictView(panel) {
  const kind = panel.change ? (panel.change.flips.length && panel.answer.discrete ? "flips" : panel.change.same ? "same" : "moves") : "still";
  return make("p", { class: `verdict ${kind}`, role: "status" }, verdict(panel));
}
