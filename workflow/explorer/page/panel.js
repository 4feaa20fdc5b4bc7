"use strict";
// One model beside the other: prediction, sentence, verdict, graph, weights, and the run behind it.

// Asks the worker for what a panel shows of a state.
async function panelOf(state, key) {
  const task = taskOf(state), choice = choiceOf(state, key);
  if (task.kind === "recorded") return { task, state, choice };
  const words = wordsOf(task, state.text);
  const panel = { task, state, choice };
  try { panel.sentence = sentenceOf(task, words, choice.view); } catch (error) { return { ...panel, fault: error.message }; }
  const { sentence } = panel, { tokens } = sentence;
  panel.at = Math.max(sentence.places.indexOf(state.at), 0);
  panel.place = sentence.places.indexOf(state.place);
  panel.reach = task.kind === "next" ? panel.at + 1 : tokens.length;
  panel.truth = truth(task, words, sentence, choice.view, panel.at);
  const asked = { task: task.name, model: choice.model.name, view: choice.index, tokens, at: panel.at };
  try {
    panel.answer = await ask({ ask: "run", ...asked });
    panel.field = panel.answer.fields.subarray(panel.at * tokens.length, (panel.at + 1) * tokens.length);
    if (state.word && panel.place > 0 && panel.place < panel.reach) {
      panel.change = await ask({ ask: "counterfactual", ...asked, place: panel.place, word: task.words.indexOf(state.word, task.specials) });
    }
  } catch (error) { return { ...panel, fault: error.message }; }
  panel.asked = asked;
  return panel;
}

function panelView(panel) {
  const { choice, task } = panel;
  if (task.kind === "recorded") return recordedView(panel);
  const head = make("h2", {}, choice.label);
  if (panel.fault) return make("section", { class: "panel", "aria-label": choice.label }, head, make("p", { class: "verdict flips", role: "status" }, panel.fault));
  const graph = graphView(panel), picture = graph.querySelector("svg"), name = `${task.name}-${choice.key}`;
  const button = (label, action) => {
    const node = make("button", { type: "button", class: "copy" }, label);
    node.addEventListener("click", action);
    return node;
  };
  return make("section", { class: "panel", "aria-label": choice.label }, head,
    sentenceView(panel), make("p", { class: "size" }, fieldSentence(panel)), verdictView(panel), searchView(panel),
    predictionView(panel), graph,
    make("p", { class: "buttons" }, button("Save as SVG", () => saveSvg(picture, name)), button("Save as PNG", () => savePng(picture, name))),
    heatView(panel),
    make("p", { class: "small" }, `Run ${choice.model.run}, identity ${choice.model.identity}, commit ${choice.model.commit.slice(0, 10)}; weights rounded to 16 bits. `, make("code", {}, choice.model.command)));
}

const SAMPLE = 100; // words of a large vocabulary that are tried

// Tries words in the place of the token pointed at, and lists those that flip a decision.
function searchView(panel) {
  const { task, place, sentence, answer } = panel;
  if (place < 1 || place >= panel.reach || !answer.discrete) return "";
  const token = sentence.tokens[place], count = task.words.length - task.specials - (token >= task.specials);
  const found = make("span", { class: "found", role: "status" });
  const button = make("button", { type: "button", class: "copy" }, count <= SAMPLE ? `Try all ${count} other words here` : `Try ${SAMPLE} of ${count} other words here`);
  button.addEventListener("click", async () => {
    const others = Array.from(task.words.keys()).slice(task.specials).filter((i) => i !== token);
    const words = count <= SAMPLE ? others : Array.from({ length: SAMPLE }, (_, i) => others[Math.ceil((i * count) / SAMPLE)]);
    const tried = await ask({ ask: "search", ...panel.asked, place, words }), hits = tried.filter((one) => one.flips.length);
    found.replaceChildren(` ${hits.length} of ${tried.length} flip a decision${hits.length ? ": " : "."}`, ...hits.slice(0, 24).flatMap(({ word }) => {
      const chosen = make("button", { type: "button", class: "copy" }, task.words[word]);
      chosen.addEventListener("click", () => go({ word: task.words[word] }));
      return [chosen, " "];
    }));
  });
  return make("p", { class: "search" }, button, found);
}
