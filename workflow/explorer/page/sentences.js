"use strict";
// Sentences of a task: words to tokens, both notations of an expression, what is true.

const FIRST = { next: "^", class: "‹cls›", views: "‹cls›" }; // what stands before every sentence

function tokensOf(task, words) {
  const numbers = numbersOf(task);
  return [task.first, ...words.map((word) => numbers.get(word) ?? numbers.get(UNKNOWN))];
}

// What stands at each position of a view: words, tokens, and the place in the sentence as it was typed
// that each position comes from (-1: none).
function sentenceOf(task, words, view) {
  let shown = words, places = words.map((_, i) => i + 1);
  if (view === "prefix") {
    const symbols = prefix(parse(words));
    shown = symbols.map(([symbol]) => symbol);
    places = symbols.map(([, at]) => at + 1 || -1);
  }
  return { words: [FIRST[task.kind], ...shown], tokens: tokensOf(task, shown), places: [0, ...places] };
}

// The same with another word at the place of one.
function replaced(task, { words, tokens, places }, place, word) {
  const others = words.with(place, word);
  return { words: others, tokens: tokensOf(task, others.slice(1)), places };
}

// An expression such as ( 4 + 1 ) * 3 as a tree of {sign, at, from, to, sides}: its operator or number,
// where that stands, and its first and last symbol, parentheses among them.
function parse(words) {
  let next = 0;
  const take = (kind) => {
    if (!kind.test(words[next] ?? "")) throw new Error(`No expression: ${next < words.length ? `${quoted(words[next])} at ${next + 1} is out of place` : "its end is missing"}.`);
    return next++;
  };
  const side = () => {
    if (words[next] !== "(") return { sign: words[next], at: take(/^\d$/), from: next - 1, to: next - 1, sides: [] };
    const from = take(/^\($/), inner = operation(), to = take(/^\)$/);
    return { ...inner, from, to };
  };
  const operation = () => {
    const from = next, left = side(), at = take(/^[+*]$/), right = side();
    return { sign: words[at], at, from, to: next - 1, sides: [left, right] };
  };
  const whole = operation();
  if (next < words.length) take(/^$/);
  return whole;
}

const nodes = (node) => [node, ...node.sides.flatMap(nodes)];

// The symbols of an expression in prefix notation, ( * ( + 4 1 ) 3 ), each with where it was typed; the
// outermost parentheses were not.
function prefix(node, typed = false) {
  if (!node.sides.length) return [[node.sign, node.at]];
  const sides = node.sides.flatMap((side) => prefix(side, true));
  return [["(", typed ? node.from : -1], [node.sign, node.at], ...sides, [")", typed ? node.to : -1]];
}

// The positions that the prediction at `at` truly depends on; null where nobody knows.
function truth(task, words, sentence, view, at) {
  const positions = sentence.words.map((_, i) => i);
  if (task.kind === "next") {
    let start = at; // back to the last digit
    while (start > 1 && !/\d/.test(sentence.words[start])) start--;
    return positions.map((i) => at > 0 && i >= start && i <= at);
  }
  if (task.kind !== "views") return null;
  if (at === 0) return positions.map((i) => i > 0);
  let whole;
  try { whole = parse(words); } catch { return null; }
  const typed = sentence.places[at] - 1;
  const node = nodes(whole).find((one) => one.at === typed || one.from === typed || one.to === typed);
  return sentence.places.map((place, i) => (node ? place > node.from && place <= node.to + 1 : i > 0));
}
