"use strict";
// Rows of tables and claims are found by words, paper and verdict, and sorted by a column.
(() => {
  const form = document.querySelector(".tools");
  const found = form.elements.found;
  const rows = [...document.querySelectorAll("table.sorted > tbody > tr[data-paper]")];
  const blocks = [...document.querySelectorAll(".block")];
  const texts = new Map();
  const text = (node) => {
    if (!texts.has(node)) texts.set(node, node.textContent.toLowerCase());
    return texts.get(node);
  };
  const about = (block) => ["h3", ".caption", "h4"].map((part) => block.querySelector(part)).filter(Boolean).map(text).join(" ");

  const filter = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const paper = form.elements.paper.value;
    const verdict = form.elements.verdict?.value ?? "";
    const asked = words.length || paper || verdict;
    let shown = 0;
    for (const block of blocks) {
      const title = words.length ? about(block) : "";
      let kept = 0;
      for (const row of block.querySelectorAll("table.sorted > tbody > tr[data-paper]")) {
        row.hidden = !(words.every((word) => title.includes(word) || text(row).includes(word))
          && (!paper || row.dataset.paper === paper)
          && (!verdict || row.dataset.verdicts.split("|").includes(verdict)));
        kept += !row.hidden;
      }
      const own = block.querySelector("tr[data-paper]") === null;
      const titled = own && !verdict && (!paper || block.dataset.paper === paper) && words.every((word) => title.includes(word));
      block.hidden = Boolean(asked) && !kept && !titled;
      shown += kept;
    }
    found.value = asked ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  };
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
  // What a link leads to is never hidden by the filter.
  addEventListener("reveal", (event) => {
    if (event.detail.closest("[hidden]")) { form.reset(); }
  });

  const value = (row, at) => {
    const said = row.cells[at]?.textContent.trim() ?? "";
    const number = parseFloat(said.replace(/,/g, "").replace("−", "-"));
    return Number.isNaN(number) ? said.toLowerCase() : number;
  };
  const order = (one, other) => {
    if (typeof one === typeof other) return one < other ? -1 : Number(one > other);
    return typeof one === "number" ? -1 : 1;
  };
  for (const table of document.querySelectorAll("table.sorted")) {
    const body = table.tBodies[0];
    const given = [...body.rows];
    if (given.length < 2) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column; a third time goes back to the paper's order";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { undefined: "ascending", ascending: "descending" }[head.getAttribute("aria-sort") ?? "undefined"];
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        const sorted = [...given];
        if (next) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          sorted.sort((one, other) => sign * order(value(one, at), value(other, at)));
        }
        body.append(...sorted);
      });
    });
  }
})();
