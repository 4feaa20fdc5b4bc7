"use strict";
// The right answers to what is asked of a model.

const VALUES = { "+": (a, b) => a + b, "*": (a, b) => a * b };
const valueOf = ({ sign, sides }) => (sides.length ? VALUES[sign](...sides.map(valueOf)) : Number(sign));

const ANSWERS_OF = {
  views: (task, words) => [task.classes[valueOf(parse(words)) % task.classes.length]],
  // A parenthesis that the depth allows, or the digit that is the depth (kinley2020 appendix).
  next: (task, words, at) => {
    const most = Math.max(...task.words.filter((word) => /^\d$/.test(word)).map(Number));
    let depth = 0;
    for (const word of words.slice(0, at)) {
      depth += { "(": 1, ")": -1 }[word] ?? 0;
      if (depth < 0 || depth > most || (/\d/.test(word) && Number(word) !== depth)) return null;
    }
    return [depth < most && "(", depth > 0 && ")", String(depth)].filter(Boolean);
  },
  class: (task, words) => {
    const example = task.examples.find((one) => textOf(task, one) === words.join(" "));
    return Number.isInteger(example?.label) ? [task.classes[example.label]] : null;
  },
};

// Null where nobody knows.
function rightAnswers(task, words, at) {
  try { return ANSWERS_OF[task.kind](task, words, at); } catch { return null; }
}

const SAID = {
  views: (right) => `the value is ${right[0]}`,
  next: (right) => `${right.map(quoted).join(" or ")} may come next`,
  class: (right) => `the reviewer says ${right[0]}`,
};

const isRight = (side) => side.right.includes(predictionOf(side)[0].name);

function answerView(side) {
  if (!side.right) return make("p", { class: "answer" });
  const right = isRight(side);
  return make("p", { class: `answer ${right ? "right" : "wrong"}` }, `${right ? "✓ Right" : "✗ Wrong"}: ${SAID[side.task.kind](side.right)}.`);
}
