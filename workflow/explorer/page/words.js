"use strict";
// What is typed as the words of a task, by the rules that its data were prepared by.
//
// Film reviews are in lower case and split as in the Penn Treebank: marks and endings such as n't and 's
// are words of their own, hyphens are not; brackets and quotes have names. What a task has words for
// stays whole.

const LETTER = "[\\p{L}\\p{M}\\p{N}_]", WORD = `${LETTER}(?:(?:\\\\/|[-'.,:&/])?${LETTER})*`;
const ENDING = `(?:n't|'(?:s|m|d|re|ve|ll))(?!${LETTER})`;
const PARTS = new RegExp(`${WORD}?(?=${ENDING})|${ENDING}|${WORD}|(\\S)\\1*`, "gu");
const SPELLED = { "’": "'", "‘": "`", "“": "``", "”": "''", "…": "...", "–": "--", "—": "--" };
const TREEBANK = { "(": "-lrb-", ")": "-rrb-", "[": "-lrb-", "]": "-rrb-", "*": "\\*", "/": "\\/", cannot: "can not" };
const UNKNOWN = "<unk>"; // what a model of texts reads in the place of a word that it does not know

// The number of each word of a task.
function numbersOf(task) {
  task.numbers ??= new Map(task.words.map((word, number) => [word, number]).slice(task.specials));
  return task.numbers;
}

function splitText(known, text) {
  const written = text.normalize("NFC").toLowerCase().replace(/[’‘“”…–—]/g, (mark) => SPELLED[mark]);
  return written.split(/[ \t\n\r\v\f]+/).flatMap((piece) => (known.has(piece) ? piece : [...piece.matchAll(PARTS)].flatMap(({ 0: part, 1: mark, index }) => {
    if (known.has(part)) return part;
    if (mark === '"') return index ? "''" : "``";
    return (TREEBANK[mark ?? part] ?? mark ?? part.replace(/\\?\//g, "\\/")).split(" ");
  })));
}

function splitSymbols(known, text) {
  return text.toLowerCase().split(/\s+/).flatMap((piece) => (known.has(piece) ? piece : [...piece]));
}

// All words of what was typed. Throws a sentence about a fault.
function split(task, text) {
  if (task.kind === "recorded") {
    if (!task.examples[Number(text) - 1]) throw new Error(`There are ${plural(task.examples.length, "sentence")}.`);
    return [text];
  }
  const known = numbersOf(task), words = (task.kind === "class" ? splitText : splitSymbols)(known, text).filter(Boolean);
  if (!words.length) throw new Error("Type a sentence.");
  const [strange] = known.has(UNKNOWN) ? [] : unknown(task, words);
  if (strange !== undefined) throw new Error(`${quoted(strange)} is no symbol of this task; it has ${[...known.keys()].join(" ")}.`);
  return words;
}

// Those that the models read: as many as they have room for.
const wordsOf = (task, text) => split(task, text).slice(0, task.longest - 1);

function oneWord(task, text) {
  const words = split(task, text);
  if (words.length > 1) throw new Error(`${quoted(text.trim())} is ${words.length} words: ${words.join(" ")}. Type one.`);
  return words[0];
}

const unknown = (task, words) => [...new Set(words)].filter((word) => !numbersOf(task).has(word));

// What the models do not read as it was typed.
function notice(task, text, word) {
  const words = split(task, text), read = wordsOf(task, text), strange = unknown(task, word ? [...read, word] : read);
  const said = [];
  if (strange.length) said.push(`${strange.map(quoted).join(", ")}: not among the ${numbersOf(task).size - 1} words of this page. The model reads ${UNKNOWN} instead.`);
  if (read.length < words.length) said.push(`The models read the first ${read.length} of ${words.length} words.`);
  return said.join(" ");
}
