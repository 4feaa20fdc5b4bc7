"use strict";
// One model: what it predicts of the sentence and, where a word is replaced, before beside after.

// Asks the worker for what a panel shows of a state.
async function panelOf(state, key) {
  const task = taskOf(state), choice = choiceOf(state, key), panel = { task, state, choice };
  if (task.kind === "recorded") return panel;
  const words = wordsOf(task, state.text);
  try {
    const sentence = sentenceOf(task, words, choice.view);
    panel.before = await sideOf(panel, words, sentence);
    const { asked, place, reach } = panel.before;
    if (state.word && place > 0 && place < reach) {
      const other = replaced(task, sentence, place, state.word);
      panel.after = await sideOf(panel, words.with(state.place - 1, state.word), other);
      panel.change = await ask({ ask: "counterfactual", ...asked, place, word: other.tokens[place] });
      if (panel.before.answer.discrete) panel.before.flips = panel.after.flips = panel.change.flips;
    }
  } catch (error) { return { ...panel, fault: error.message }; }
  return panel;
}

// A sentence as a model reads it.
async function sideOf({ task, state, choice }, words, sentence) {
  const { tokens, places } = sentence, at = Math.max(places.indexOf(state.at), 0);
  const asked = { task: task.name, model: choice.model.name, view: choice.index, tokens, at };
  const answer = await ask({ ask: "run", ...asked });
  return {
    task, state, sentence, at, asked, answer, flips: [],
    place: places.indexOf(state.place),
    reach: task.kind === "next" ? at + 1 : tokens.length,
    field: answer.fields.subarray(at * tokens.length, (at + 1) * tokens.length),
    truth: truth(task, words, sentence, choice.view, at),
    right: rightAnswers(task, words, at),
  };
}

function panelView(panel) {
  const { choice, task } = panel;
  if (task.kind === "recorded") return recordedView(panel);
  const section = make("section", { class: "panel", "aria-label": choice.label }, make("h2", {}, choice.label));
  if (panel.fault) section.append(make("p", { class: "verdict flips", role: "status" }, panel.fault));
  else {
    section.append(verdictView(panel), trialView(panel), make("div", { class: "sides" }, ...["before", "after"].filter((name) => panel[name]).map((name) => sideView(panel, name))));
  }
  section.append(make("p", { class: "small" }, `Run ${choice.model.run}, identity ${choice.model.identity}, commit ${choice.model.commit.slice(0, 10)}; weights rounded to 16 bits. `, make("code", {}, choice.model.command)));
  return section;
}

// What two models say, in a row each: where one column is all that a screen has room for.
function comparisonView(panels) {
  const cells = (side) => [predictionOf(side)[0]].map(({ name, probability }) => `${name} ${percent(probability)}${side.right ? (isRight(side) ? " ✓" : " ✗") : ""}`);
  const rows = panels.filter(({ before }) => before).map(({ choice, before, after }) => [choice.label, ...cells(before), ...(after ? cells(after) : []),
    `${membersOf(before).length} of ${before.reach - 1}`]);
  if (rows.length < 2) return "";
  const heads = rows[0].length > 3 ? ["model", "before", "after", "field"] : ["model", "answer", "field"];
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows.map(([label, ...values]) => make("tr", {}, make("th", { scope: "row" }, label), ...values.map((value) => make("td", {}, value))))));
}

function sideView(panel, name) {
  const { task, choice, state } = panel, side = panel[name];
  const heading = panel.after && `${name === "before" ? "Before" : "After"}: ${quoted(side.sentence.words[side.place])}`;
  const label = panel.after ? `${choice.label}, ${name}` : choice.label, graph = graphView(side, label);
  const button = make("button", { type: "button", class: "copy more" }, "Save as SVG");
  button.addEventListener("click", () => saveSvg(graph.querySelector("svg"), `${task.name}-${choice.key}${panel.after ? `-${name}` : ""}`));
  return make("div", { class: "side" }, heading ? make("h3", {}, heading) : "",
    sentenceView(side, label), predictionView(side, panel), answerView(side), make("p", { class: "size" }, fieldSentence(side)),
    graph, button, heatView(side));
}
