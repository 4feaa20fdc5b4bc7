"use strict";
// The sentence of a panel: what is in the field, what is true, what is pointed at.

function sentenceView(panel) {
  const { answer, field, at, place, sentence, truth: known, state } = panel;
  return make("div", { class: "sentence", role: "group", "aria-label": `Tokens, ${panel.choice.label}` },
    ...sentence.words.map((word, j) => {
      const replaced = j === place && state.word;
      const parts = [
        j >= panel.reach ? "not seen" : field[j] ? "in the field" : "outside the field",
        known?.[j] && "truly needed", j === at && "prediction here", j === place && "pointed at",
      ].filter(Boolean);
      const classes = ["token", j < panel.reach && field[j] ? "in" : "out", j >= panel.reach && "unseen", known?.[j] && "true", j === at && "at", j === place && "pointed"];
      const chip = make("button", {
        type: "button", class: classes.filter(Boolean).join(" "), "data-position": j, tabindex: j === Math.max(place, 0) ? 0 : -1,
        "aria-pressed": String(j === place), "aria-label": `${j} ${word}: ${parts.join(", ")}`, title: `${j}: ${parts.join(", ")}`,
        style: answer.discrete ? null : `--share:${answer.shares[j].toFixed(3)}`,
      }, word);
      if (replaced) chip.append(make("span", { class: "instead" }, ` → ${state.word}`));
      return chip;
    }));
}
