"use strict";
// The sentence of a side: what is in the field, what is true, what is pointed at.

function sentenceView(side, name) {
  const { answer, field, at, place, sentence, truth: known, task } = side;
  return make("div", { class: "sentence", role: "group", "aria-label": `Tokens, ${name}` },
    ...sentence.words.map((word, j) => {
      const read = j === 0 || numbersOf(task).has(word) ? "" : `read as ${UNKNOWN}`;
      const parts = [
        j >= side.reach ? "not seen" : field[j] ? "in the field" : "outside the field",
        known?.[j] && "truly needed", j === at && "prediction here", j === place && "pointed at", read,
      ].filter(Boolean).join(", ");
      const classes = ["token mark", j < side.reach && field[j] ? "in" : "out", j >= side.reach && "unseen", known?.[j] && "true", j === at && "at", j === place && "pointed", read && "unknown"];
      return make("button", {
        type: "button", class: classes.filter(Boolean).join(" "), "data-position": j, tabindex: j === Math.max(place, 0) ? 0 : -1,
        "aria-pressed": String(j === place), "aria-label": `${j} ${word}: ${parts}`, title: `${parts}. Click to replace`,
        style: answer.discrete ? null : `--share:${answer.shares[j].toFixed(3)}`,
      }, word);
    }));
}
