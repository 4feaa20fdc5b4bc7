"use strict";
// The search jumps to the first row that has all words, and dims the others.
(() => {
  const form = document.querySelector(".tools");
  const { words: field, verdict, found, next } = form.elements;
  const rows = [...document.querySelectorAll("table.sorted > tbody > tr[data-paper], li[data-paper]")];
  const blocks = new Map([...document.querySelectorAll(".block")].map((block) => [block, block.querySelector("h3, h4")]));
  const tabs = [...document.querySelectorAll(".tabs a[href^='#']")].map((link) => [link, document.getElementById(link.hash.slice(1))]);
  const texts = new Map();
  const text = (node) => {
    if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
    return texts.get(node);
  };
  // 6.1 is no part of 16.1 or 6.12.
  const pattern = (word) => new RegExp(`${/^\d/.test(word) ? "(?<![\\d.])" : ""}${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}${/\d$/.test(word) ? "(?!\\.?\\d)" : ""}`);
  const empty = document.createElement("div");
  empty.className = "banner empty";
  empty.hidden = true;
  const main = document.querySelector("main"), guides = document.querySelector(".guides");
  main.prepend(empty);

  let places = [];
  let at = 0;
  const jump = () => {
    document.querySelector(".hit")?.classList.remove("hit");
    const place = places[at];
    dispatchEvent(new CustomEvent("reveal", { detail: place }));
    place.classList.add("hit");
    place.scrollIntoView({ block: place.matches("tr, li") ? "center" : "start", inline: "nearest" });
  };
  const search = () => {
    const patterns = field.value.toLowerCase().split(/\s+/).filter(Boolean).map(pattern);
    const asked = patterns.length > 0 || Boolean(verdict?.value);
    const titled = new Set([...blocks].filter(([, title]) => patterns.length && patterns.every((one) => one.test(text(title)))).map(([block]) => block));
    const hits = rows.filter((row) => asked
      && (!verdict?.value || row.dataset.verdicts.split("|").includes(verdict.value))
      && (titled.has(row.closest(".block")) || patterns.every((one) => one.test(`${text(blocks.get(row.closest(".block")))} ${text(row)}`))));
    const kept = new Set(hits);
    for (const row of rows) row.classList.toggle("dimmed", asked && !kept.has(row));
    for (const [block] of blocks) block.classList.toggle("dimmed", asked && !titled.has(block) && !hits.some((row) => block.contains(row)));
    for (const [link, tab] of tabs) {
      const here = hits.filter((row) => tab.contains(row)).length;
      if (asked && here) link.dataset.hits = here;
      else delete link.dataset.hits;
    }
    // Of a block whose title is asked for, the title is the place: it comes first.
    const titles = verdict?.value ? [] : [...titled].map((block) => blocks.get(block));
    places = [...titles, ...hits.filter((row) => !titles.length || !titled.has(row.closest(".block")))];
    at = 0;
    empty.hidden = !asked || places.length > 0;
    next.hidden = places.length < 2;
    document.querySelector(".hit")?.classList.remove("hit");
    found.value = !asked ? "" : `${hits.length} of ${rows.length} rows`;
    if (places.length) jump();
    else if (asked) {
      const asks = [field.value && `“${field.value}”`, verdict?.value && `the verdict “${verdict.value}”`].filter(Boolean).join(" and ");
      empty.textContent = `No row has ${asks}. Clear the search (Esc), or try the number of a table (6.1), a mechanism (softmax) or data (SST).`;
      scrollTo({ top: 0 });
    }
    if (guides) {
      guides.hidden = !asked;
      (empty.hidden ? main : empty).append(guides);
    }
  };
  form.hidden = false;
  next.hidden = true;
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!places.length) return;
    at = (at + 1) % places.length;
    jump();
  });
  form.addEventListener("reset", () => setTimeout(search));
  field.addEventListener("keydown", (event) => { if (event.key === "Escape") form.reset(); });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
})();
