"use strict";
// A column sorts: the best first, then the other way, then as the paper has it; groups stay together.
(() => {
  const lower = /\b(nll|loss|bpc|perplexity|bits|updates|seconds|minutes|time|cost|stuck|failed|parameters)\b/i;
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
    const labels = given[0].querySelectorAll("th").length;
    const groups = [...new Set(given.map((row) => row.cells[0].textContent))];
    const group = (row, at) => (labels > 1 && at >= labels && groups.length < given.length ? groups.indexOf(row.cells[0].textContent) : 0);
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column, the best first; a third time goes back to the paper's order";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const numeric = given.some((row) => typeof value(row, at) === "number");
        const first = numeric && !lower.test(head.textContent) ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const next = { none: first, [first]: other }[head.getAttribute("aria-sort") ?? "none"];
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        const sorted = [...given];
        if (next) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          sorted.sort((one, other) => group(one, at) - group(other, at) || sign * order(value(one, at), value(other, at)));
        }
        body.append(...sorted);
      });
    });
  }
})();
