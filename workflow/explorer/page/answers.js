"use strict";
// The right answers to what is asked of a model.

const VALUES = { "+": (a, b) => a + b, "*": (a, b) => a * b };
const valueOf = ({ sign, sides }) => (sides.length ? VALUES[sign](...sides.map(valueOf)) : Number(sign));

// What may stand after `at` symbols: a parenthesis that the depth allows, or the digit that is the depth (kinley2020
// appendix). Where sentences close, `task.closes` symbols long, the depth is at most the number of symbols that follow.
const STEPS = { "(": 1, ")": -1 };
function legal(task, at, depth) {
  const digits = task.words.filter((word) => /^\d$/.test(word)), most = Math.min(digits.length - 1, (task.closes ?? Infinity) - at - 1);
  return ["(", ")", String(depth)].filter((word) => {
    const after = depth + (STEPS[word] ?? 0);
    return after >= 0 && after <= most;
  });
}

const ANSWERS_OF = {
  views: (task, words) => [task.classes[valueOf(parse(words)) % task.classes.length]],
  next: (task, words, at) => {
    let depth = 0;
    for (const [i, word] of words.slice(0, at).entries()) {
      if (!legal(task, i, depth).includes(word)) return null;
      depth += STEPS[word] ?? 0;
    }
    return legal(task, at, depth);
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
  next: (right, { task, sentence, at }) => {
    const any = ANSWERS_OF.next({ ...task, closes: null }, sentence.words.slice(1), at);
    const end = right.length < any.length ? `. It is symbol ${at + 1} of ${task.closes}, and all parentheses must close` : "";
    return `${right.map(quoted).join(" or ")} may come next${end}`;
  },
  class: (right) => `the reviewer says ${right[0]}`,
};

const isRight = (side) => side.right.includes(predictionOf(side)[0].name);

function answerView(side) {
  if (!side.right) return make("p", { class: "answer" });
  const right = isRight(side);
  return make("p", { class: `answer ${right ? "right" : "wrong"}` }, `${right ? "✓ Right" : "✗ Wrong"}: ${SAID[side.task.kind](side.right, side)}.`);
}
