"use strict";
// The page: its state, what changes it, and what it shows.

const worker = new Worker(URL.createObjectURL(new Blob([document.getElementById("engine").textContent], { type: "text/javascript" })));
const waiting = new Map();
let asked = 0;
function ask(question) {
  return new Promise((resolve, reject) => {
    waiting.set(++asked, { resolve, reject });
    worker.postMessage({ ...question, id: asked });
  });
}
worker.onmessage = ({ data: { id, answer, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(new Error(error)); else resolve(answer);
};

let state;
let turn = 0;
let settled; // the address is written once nothing has changed for a while: to write one is slow
const form = document.getElementById("controls"), shown = document.getElementById("panels"), fault = document.getElementById("fault");
const compared = document.getElementById("compared");

// Refuses what was typed: nothing that was shown before stands beside it.
function refuse(error) {
  turn++;
  fault.textContent = error.message;
  compared.replaceChildren();
  shown.replaceChildren();
}

// Shows the state with some of it changed; true once it is shown, unless something newer was asked for.
async function go(change) {
  const mine = ++turn, given = await opening({ ...state, ...change });
  if (mine !== turn) return;
  const next = complete(given);
  const panels = await Promise.all([next.a, next.b].filter(Boolean).map((key) => panelOf(next, key)));
  if (mine !== turn) return; // something newer was asked for
  state = next;
  clearTimeout(settled);
  settled = setTimeout(() => history.replaceState(null, "", toAddress(state)), 200);
  fillControls(panels);
  const focused = document.activeElement?.dataset?.position !== undefined && [...shown.children].findIndex((one) => one.contains(document.activeElement));
  compared.replaceChildren(comparisonView(panels));
  shown.replaceChildren(...panels.map(panelView));
  for (const graph of shown.querySelectorAll(".graph")) { // where it is wider than the screen
    graph.parentElement.scrollLeft = graph.dataset.at - graph.parentElement.clientWidth / 2;
  }
  shown.classList.toggle("pair", panels.length > 1 && !panels.some(({ after }) => after));
  if (focused !== false) shown.children[Math.min(focused, panels.length - 1)]?.querySelector('.token[tabindex="0"]')?.focus();
  dispatchEvent(new Event("shown"));
  return true;
}

// Makes the entries of a list those that are given; elements stay, since to lay out new ones is slow.
function options(select, entries, value) {
  if (select.length !== entries.length) select.replaceChildren(...entries.map(() => make("option")));
  entries.forEach(([key, label], i) => {
    const one = select.options[i];
    if (one.value !== String(key)) one.value = key;
    if (one.textContent !== String(label)) one.textContent = label;
  });
  select.selectedIndex = Math.max(entries.findIndex(([key]) => String(key) === String(value)), 0);
}

let listed; // the task whose words are offered
function fillControls(panels) {
  const task = taskOf(state), all = choices(task).map((one) => [one.key, one.label]), words = wordsOf(task, state.text);
  const spec = depth(choiceOf(state, state.a).model), fields = form.elements;
  options(fields.task, TASKS.map((one) => [one.name, one.title]), state.task);
  options(fields.a, all, state.a);
  options(fields.b, [["", "nothing"], ...all.filter(([key]) => key !== state.a)], state.b);
  const recorded = task.kind === "recorded" && task.examples[Number(state.text) - 1], example = shownExample();
  options(fields.example, [["", "typed"], ...task.examples.map((one, i) => [i, `${i + 1}: ${(one.source?.join(" ") ?? textOf(task, one)).slice(0, 40)}`])].slice(example < 0 ? 0 : 1), example);
  fields.text.closest("label").hidden = Boolean(recorded);
  if (document.activeElement !== fields.text) fields.text.value = state.text;
  options(fields.at, (recorded ? recorded.target : [FIRST[task.kind], ...words]).map((word, i) => [i, `${i} ${word}`]), state.at);
  if (listed !== task) document.getElementById("words").replaceChildren(...(task.words ?? []).slice(task.specials).map((word) => make("option", { value: word })));
  options(fields.layer, Array.from({ length: spec.layers }, (_, l) => [l, l + 1]), state.layer);
  options(fields.head, [[-1, "all"], ...Array.from({ length: spec.heads }, (_, h) => [h, h + 1])], state.head);
  fields.least.value = state.least;
  const start = document.getElementById("start");
  start.hidden = !FIRST[task.kind];
  start.firstChild.textContent = FIRST[task.kind];
  const kinds = [task.kind, ...panels.filter(({ before }) => before).map(({ before }) => (before.answer.discrete ? "discrete" : "soft"))];
  for (const one of document.querySelectorAll("[data-for]")) one.hidden = !one.dataset.for.split(" ").some((kind) => kinds.includes(kind));
  listed = task;
  document.getElementById("about").textContent = task.about;
  fault.textContent = "";
  document.getElementById("notice").textContent = recorded ? "" : notice(task, state.text, state.word);
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", ({ target }) => {
  const task = taskOf(state);
  if (target.name === "text") {
    try { split(task, target.value); } catch (error) { refuse(error); return; }
    go({ text: target.value, word: "", at: task.kind === "next" ? undefined : state.at });
  } else if (target.name === "task") {
    go({ task: target.value, a: undefined, b: undefined, text: undefined, at: undefined, place: undefined, word: undefined, layer: undefined, head: undefined });
  } else if (target.name === "example") {
    if (target.value !== "") choose(Number(target.value));
  } else go({ [target.name]: target.value });
});

// The number of the example that is shown; -1 where it was typed.
function shownExample() {
  const task = taskOf(state);
  return task.examples.findIndex((one) => textOf(task, one) === state.text);
}

function choose(number) {
  const task = taskOf(state), count = task.examples.length;
  go({ text: textOf(task, task.examples[(number + count) % count]), at: undefined, place: undefined, word: "" });
}

shown.addEventListener("click", async (event) => {
  const chip = event.target.closest(".token");
  if (!chip) return;
  if (chip.dataset.side) { go({ [chip.dataset.side === "target" ? "at" : "place"]: chip.dataset.position }); return; }
  const panel = [...shown.children].findIndex((one) => one.contains(chip));
  const choice = choiceOf(state, [state.a, state.b].filter(Boolean)[panel]);
  const typed = sentenceOf(taskOf(state), wordsOf(taskOf(state), state.text), choice.view).places[chip.dataset.position];
  chip.focus();
  if (event.shiftKey || typed === 0) { go({ at: typed }); return; }
  if (typed > 0 && await go({ place: typed, word: typed === state.place ? state.word : "" })) openReplacing(panel);
});

const step = (name, by) => {
  go({ [name]: Math.max(state[name] + by, 0), ...(name === "place" ? { word: "" } : {}) });
};
const KEYS = {
  ArrowLeft: (event) => step(event.shiftKey ? "at" : "place", -1),
  ArrowRight: (event) => step(event.shiftKey ? "at" : "place", 1),
  ArrowUp: () => go({ layer: state.layer + 1 }),
  ArrowDown: () => go({ layer: Math.max(state.layer - 1, 0) }),
  h: () => { const { heads } = depth(choiceOf(state, state.a).model); go({ head: state.head + 1 >= heads ? -1 : state.head + 1 }); },
  n: () => choose(shownExample() + 1),
  p: () => choose(shownExample() - 1),
  e: () => form.elements.text.focus(),
  w: () => { if (taskOf(state).kind !== "recorded") openReplacing(0); },
  x: () => go({ word: "" }),
  "?": () => { const drawer = document.getElementById("drawer"); drawer.open = !drawer.open; },
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) { if (event.key === "Escape") { event.target.blur(); closeReplacing(); } return; }
  if (event.target.matches(".scroll") && event.key.startsWith("Arrow")) return;
  const action = KEYS[event.key];
  if (action) { event.preventDefault(); action(event); }
});
document.getElementById("copy").addEventListener("click", async ({ currentTarget }) => {
  await copyText(new URL(toAddress(state), location.href).href);
  currentTarget.textContent = "Copied";
  setTimeout(() => { document.getElementById("copy").textContent = "Copy link"; }, 1500);
});
addEventListener("hashchange", () => { state = {}; go(fromAddress(location.hash)); });

ask({ ask: "load", tasks: DATA.tasks });
go(fromAddress(location.hash));
