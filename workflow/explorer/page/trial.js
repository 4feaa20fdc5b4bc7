"use strict";
// Every other word in the place of the token pointed at, counted while it goes on.

const AT_ONCE = 10; // words that the worker is asked for together, so that it stays free for edits
const LISTED = 24; // words that turn the answer, to click on
const trials = new Map(); // what was tried, by what it is of
let trying; // the one that goes on

function trialOf({ task, before }) {
  const { asked, place, sentence } = before, key = JSON.stringify([asked, place]);
  if (!trials.has(key)) {
    const [best] = predictionOf(before), own = sentence.tokens[place];
    const others = [...numbersOf(task).values()].filter((number) => number !== own);
    // In an order that has words from everywhere early: what is counted so far is a fair sample.
    const order = others.map((number, i) => [(i * 0.618034) % 1, number]).sort(([one], [other]) => one - other);
    trials.set(key, { words: order.map(([, number]) => number), best: (task.classes ?? task.words).indexOf(best.name), tried: 0, flipped: 0, broken: 0, turned: [] });
  }
  return trials.get(key);
}

async function tryOn(trial, { asked, place }) {
  trying = trial;
  while (trying === trial && trial.tried < trial.words.length) {
    const words = trial.words.slice(trial.tried, trial.tried + AT_ONCE);
    for (const { word, flips, same, after } of await ask({ ask: "search", ...asked, place, words })) {
      trial.tried++;
      if (flips.length) trial.flipped++;
      else if (!same) trial.broken++; // outside the field: never
      if (after.some((value) => value > after[trial.best])) trial.turned.push(word);
    }
    trial.seen = false;
    dispatchEvent(new Event("tried"));
    if (!trial.seen) break; // something else is shown
  }
  if (trying === trial) trying = undefined;
  dispatchEvent(new Event("tried"));
}

function counted(panel, trial) {
  const { before } = panel, outside = !before.field[before.place];
  const said = [`Tried ${trial.tried} of ${trial.words.length} words. ${trial.turned.length} change the answer.`];
  if (before.answer.discrete) said.push(`${trial.flipped} make a head look elsewhere.`);
  if (outside) said.push(`${trial.broken} change the prediction while each head keeps looking where it looks now.`);
  return said.join(" ");
}

function trialView(panel) {
  const { task, before } = panel;
  if (before.place < 1 || before.place >= before.reach || (task.kind !== "next" && before.at)) return "";
  const trial = trialOf(panel), found = make("span", { class: "found" }), button = make("button", { type: "button", class: "copy" });
  const show = () => {
    if (!button.isConnected && button.textContent) { removeEventListener("tried", show); return; }
    const left = trial.words.length - trial.tried;
    trial.seen = true;
    button.textContent = trying === trial ? "Stop" : trial.tried ? `Try the other ${left}` : `Try all ${trial.words.length} other words here`;
    button.hidden = !left;
    found.replaceChildren(...(trial.tried ? [` ${counted(panel, trial)} `, ...trial.turned.slice(0, LISTED).flatMap((word) => {
      const chosen = make("button", { type: "button", class: "copy" }, task.words[word]);
      chosen.addEventListener("click", () => go({ word: task.words[word] }));
      return [chosen, " "];
    })] : []));
  };
  button.addEventListener("click", () => {
    if (trying === trial) { trying = undefined; show(); } else tryOn(trial, before);
  });
  addEventListener("tried", show);
  show();
  return make("p", { class: "trial" }, button, found);
}
