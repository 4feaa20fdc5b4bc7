"use strict";
// What a click on a word opens: "replace with ...".

const replacing = document.getElementById("replace");
let anchor; // the panel whose word is replaced

function openReplacing(panel) {
  anchor = panel;
  const { word } = replacing.elements;
  replacing.hidden = false;
  fillReplacing();
  word.focus();
  word.select();
}

function closeReplacing() {
  if (replacing.hidden) return;
  replacing.hidden = true;
  anchoredChip()?.focus();
}

const anchoredChip = () => shown.children[Math.min(anchor, shown.children.length - 1)]?.querySelector(`.token.pointed`);

// Follows the word that is pointed at, and says which it is.
function fillReplacing() {
  const chip = !replacing.hidden && anchoredChip();
  if (!chip) { replacing.hidden = true; return; }
  const { word } = replacing.elements, room = document.documentElement.clientWidth - replacing.offsetWidth - 8, box = chip.getBoundingClientRect();
  if (document.activeElement !== word) word.value = state.word;
  document.getElementById("replaced").textContent = `Replace ${quoted(wordsOf(taskOf(state), state.text)[state.place - 1])} with`;
  replacing.style.left = `${Math.max(Math.min(box.left, room), 8) + scrollX}px`;
  replacing.style.top = `${box.bottom + scrollY + 6}px`;
}

replacing.addEventListener("submit", (event) => { event.preventDefault(); closeReplacing(); });
replacing.addEventListener("input", ({ target }) => {
  const typed = target.value.trim(), refused = document.getElementById("refused");
  refused.textContent = "";
  try { go({ word: typed && oneWord(taskOf(state), typed) }); } catch (error) { refused.textContent = error.message; go({ word: "" }); }
});
document.getElementById("keep").addEventListener("click", () => { go({ word: "" }); replacing.elements.word.value = ""; closeReplacing(); });
addEventListener("shown", fillReplacing);
addEventListener("resize", fillReplacing);
document.addEventListener("pointerdown", ({ target }) => { if (!replacing.contains(target) && !target.closest(".token")) replacing.hidden = true; });
