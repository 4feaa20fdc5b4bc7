"use strict";
// Answers questions of the page beside it, so that the page stays quick: {id, ask, ...} to {id, ...}.

let tasks;
const models = new Map(), runs = new Map();

function modelOf(task, name) {
  const key = `${task}/${name}`;
  if (!models.has(key)) {
    const { models: all } = tasks.find((one) => one.name === task);
    models.set(key, new Model(all.find((one) => one.name === name)));
  }
  return models.get(key);
}

// The run of a model on tokens; the last ones are kept.
function runOf({ task, model, tokens, view }) {
  const key = [task, model, view, ...tokens].join(" ");
  if (!runs.has(key)) {
    if (runs.size > 8) runs.delete(runs.keys().next().value);
    runs.set(key, computed({ task, model, tokens, view }));
  }
  return runs.get(key);
}

const computed = (question) => modelOf(question.task, question.model).run(question.tokens, question.view);

function changed(question, word, run) {
  const after = run({ ...question, tokens: question.tokens.with(question.place, word) });
  return counterfactual(modelOf(question.task, question.model), runOf(question), after, question);
}

const ANSWERS = {
  load: (question) => { tasks = question.tasks; return {}; },
  // Weights, fields, the states behind the prediction, log-probabilities.
  run: (question) => {
    const { tokens, at } = question, model = modelOf(question.task, question.model), result = runOf(question);
    return {
      discrete: model.discrete,
      weights: result.weights,
      logProbabilities: result.logProbabilities,
      fields: fields(result.weights, tokens.length),
      shares: model.discrete ? null : shares(result.weights, tokens.length, at),
      tree: tree(result.weights, tokens.length, at),
    };
  },
  counterfactual: (question) => changed(question, question.word, runOf),
  // The same of each word of `words`.
  search: (question) => question.words.map((word) => ({ word, ...changed(question, word, computed) })),
};

if (typeof WorkerGlobalScope !== "undefined") {
  onmessage = ({ data }) => {
    try {
      postMessage({ id: data.id, answer: ANSWERS[data.ask](data) });
    } catch (error) {
      postMessage({ id: data.id, error: error.message });
    }
  };
}
