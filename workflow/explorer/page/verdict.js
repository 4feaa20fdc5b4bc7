"use strict";
// What the token pointed at can do to the prediction, and what another word in its place does.

function verdict(panel) {
  const { before, after, change, state, task } = panel, { answer, field, sentence, at, place, reach } = before;
  if (place < 0) return "This notation does not have that symbol.";
  const word = quoted(sentence.words[place]), to = quoted(state.word);
  const predicts = task.kind === "next" || at === 0, it = predicts ? "the prediction" : `the state at ${at}`;
  if (place >= reach) return `${word} comes after the prediction. The model does not see it.`;
  if (!after) {
    if (!field[place]) return `${word} is outside the receptive field. If each head keeps looking where it looks now, changing this word changes nothing: exactly 0. Click the word to replace it, and try to make a head look elsewhere.`;
    if (answer.discrete) return `${word} is in the receptive field: changing it can change ${it}.`;
    const all = field.subarray(0, reach).every(Boolean), share = answer.shares[place];
    return `${word} is in the receptive field, with a weight of ${share < 0.005 ? "less than 0.01" : share.toFixed(2)} over all paths (1 at most).${all ? " Soft attention reads every word: nothing is outside." : ""}`;
  }
  const effect = predicts ? moved(panel) : `${it} changes`;
  if (change.same) return `${word} → ${to}: no head looks elsewhere. ${it[0].toUpperCase()}${it.slice(1)} is the same to the last bit: the change is exactly 0.`;
  if (!answer.discrete) return `${word} → ${to}: ${effect}. Soft attention changes all its weights a little.`;
  if (!change.flips.length) return `${word} → ${to}: ${effect}. No head looks elsewhere, but the word is in the receptive field.`;
  const { layer, head, position, from, to: now } = change.flips[0], more = change.flips.length - 1;
  return `${word} → ${to}: ${effect}. Head ${head + 1} of layer ${layer + 1} looked at ${quoted(sentence.words[from])} at ${from} and now looks at ${quoted(after.sentence.words[now])} at ${now}, for position ${position}. `
    + `${more ? `${plural(more, "other decision")} ${more === 1 ? "flips" : "flip"} too: all are orange.` : "This decision is orange."}`;
}

// How the likeliest answer moves.
function moved({ before, after }) {
  const [best] = predictionOf(before), now = predictionOf(after), same = now.find(({ name }) => name === best.name);
  if (now[0].name !== best.name) return `the answer turns from ${quoted(best.name)} (${percent(best.probability)}) to ${quoted(now[0].name)} (${percent(now[0].probability)})`;
  return `the answer stays ${quoted(best.name)}, ${percent(best.probability)} before and ${percent(same.probability)} after`;
}

function verdictView(panel) {
  const { change, before } = panel;
  const kind = !change ? "still" : change.same ? "same" : change.flips.length && before.answer.discrete ? "flips" : "moves";
  return make("p", { class: `verdict ${kind}`, role: "status" }, verdict(panel));
}
