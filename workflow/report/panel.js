"use strict";
// A cell opens the runs behind it beside the page; its address opens the same.
(() => {
  const panel = document.getElementById("panel");
  const title = document.getElementById("panel-title");
  const content = panel.querySelector(".content");
  let opener;

  const make = (tag, text, ...more) => {
    const node = document.createElement(tag);
    if (text) node.textContent = text;
    node.append(...more);
    return node;
  };
  const words = (node) => node?.textContent.trim().replace(/\s+/g, " ") ?? "";
  const button = (label, action) => {
    const node = make("button", label);
    node.type = "button";
    node.className = "copy";
    node.addEventListener("click", () => action(node));
    return node;
  };

  const copied = async (node, text) => {
    const label = node.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // A page from disk may not write to the clipboard; an old way still can.
      const field = make("textarea");
      field.value = text;
      panel.open ? panel.append(field) : document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
      node.focus();
    }
    node.textContent = "Copied";
    setTimeout(() => { node.textContent = label; }, 1500);
  };
  const save = (name, text) => {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  };
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  // Copying and saving, where there is something to copy or save.
  const equip = (root) => {
    for (const pre of root.querySelectorAll("pre.command")) {
      pre.after(button("Copy command", (node) => copied(node, pre.textContent)));
    }
  };
  equip(document);
  for (const pre of document.querySelectorAll("pre[data-name]")) {
    pre.after(button("Copy", (node) => copied(node, pre.textContent)), button("Save", () => save(pre.dataset.name, pre.textContent)));
  }
  for (const table of document.querySelectorAll("table[data-name]")) {
    const csv = () => [...table.rows].map((row) => [...row.cells].map((cell) => quoted(words(cell))).join(",")).join("\n");
    table.parentElement.before(button("Save as CSV", () => save(table.dataset.name, `${csv()}\n`)));
  }

  // Numbers of a cell in full, from the lines below its table.
  const numbers = (cell) => {
    const lines = cell.closest(".block").querySelectorAll(`tr[id^="${CSS.escape(cell.id)}/"], tr[data-cell="${CSS.escape(cell.id)}"]`);
    const rounded = (node) => {
      const copy = node.cloneNode(true);
      if (copy.nodeType === Node.TEXT_NODE) {
        copy.data = copy.data.replace(/(?<![\w.])\d+\.\d+(?![\w.])/g, (number) => (number.replace(".", "").length > 4 ? Number(Number(number).toPrecision(4)) : number));
      }
      return copy;
    };
    return [...lines].map((line) => {
      const heads = [...line.closest("table").tHead.rows[0].cells];
      const list = make("dl");
      [...line.cells].slice(3).forEach((value, at) => {
        if (words(value)) list.append(make("dt", words(heads[at + 3])), make("dd", "", ...[...value.childNodes].map(rounded)));
      });
      const metric = make("h3", words(line.cells[2]));
      metric.dataset.address = line.id;
      return [metric, list];
    }).flat();
  };

  // What decided a claim, from its row.
  const decided = (row) => {
    const list = make("dl");
    const heads = ["verdict", "why", "compared", "difference"];
    const told = [row.cells[0], row.querySelector(".note p"), row.cells[2], row.cells[3]];
    heads.forEach((head, at) => list.append(make("dt", head), make("dd", "", ...[...told[at].childNodes].map((one) => one.cloneNode(true)))));
    list.querySelectorAll("[id]").forEach((one) => one.replaceWith(words(one)));
    return list;
  };

  const entry = (address, seeds) => {
    const told = document.getElementById(address);
    if (!told) return [make("p", `The runs of ${address.replace("run/", "")} are not on this page.`)];
    const copy = told.querySelector(".entry").cloneNode(true);
    copy.querySelectorAll("button").forEach((one) => one.remove());
    copy.querySelectorAll("[id]").forEach((one) => one.removeAttribute("id"));
    for (const row of copy.querySelectorAll("tr[data-seed]")) {
      row.classList.toggle("lit", seeds.includes(row.dataset.seed));
      const heads = row.closest("table").tHead.rows[0].cells;
      [...row.cells].forEach((cell, at) => { cell.dataset.head = words(heads[at]); });
    }
    equip(copy);
    return [make("h3", `Runs: ${address.replace("run/", "")}`), copy];
  };

  const titled = (cell) => {
    const row = cell.closest("tr");
    if (cell.id.startsWith("claim/")) return words(row.querySelector("th").firstChild);
    const labels = [...row.querySelectorAll("th")].map(words);
    const head = words(cell.closest("table").tHead.rows[0].cells[cell.closest("td").cellIndex]);
    return [...labels, head].filter(Boolean).join(", ");
  };

  const show = (cell, address) => {
    document.querySelector(".cell.open")?.classList.remove("open");
    cell.classList.add("open");
    opener = cell;
    title.textContent = titled(cell);
    const seeds = cell.dataset.seeds.split(" ");
    const parts = cell.id.startsWith("claim/") ? [decided(cell.closest("tr"))] : numbers(cell);
    const runs = cell.dataset.runs.split(" ").filter(Boolean);
    const where = make("p", words(cell.closest(".block").querySelector("h3, h4")));
    where.className = "small";
    where.append(" ", button("Copy address", (node) => copied(node, location.href)));
    content.replaceChildren(where, ...parts, ...runs.flatMap((one) => entry(one, seeds)));
    if (!runs.length) content.append(make("p", "No training is behind it: it is counted from the data, or it was not run."));
    for (const one of content.querySelectorAll("h3[data-address]")) one.classList.toggle("lit", one.dataset.address === address);
    if (!panel.open) panel.show();
    document.documentElement.classList.add("reading");
    panel.scrollTop = 0;
    title.focus({ preventScroll: true });
  };
  const close = () => {
    if (!panel.open) return;
    panel.close();
    document.documentElement.classList.remove("reading");
    opener?.classList.remove("open");
    history.replaceState(null, "", location.pathname + location.search);
    opener?.focus({ preventScroll: true });
  };

  // An address may leave out the folder of its paper where no other has the same.
  const lookup = (address) => {
    const exact = document.getElementById(address);
    if (exact || !address) return exact;
    const ends = document.querySelectorAll(`[id$="${CSS.escape(`/${address}`)}"]`);
    return ends.length === 1 ? ends[0] : null;
  };
  const reveal = (node) => dispatchEvent(new CustomEvent("reveal", { detail: node }));
  const go = () => {
    const address = decodeURIComponent(location.hash.slice(1));
    const place = lookup(address || "overview");
    if (!place) return;
    const cell = place.matches(".cell") ? place : place.matches("tr") && document.getElementById(place.id.replace(/\/[^/]*$/, ""));
    const target = cell || place;
    reveal(target);
    if (cell) show(cell, place.id);
    else if (panel.open) close();
    // The panel takes its room from the page, so the place is found once it is there.
    if (place.matches(".tab")) scrollTo(0, 0);
    else target.scrollIntoView({ block: cell ? "center" : "start", inline: "nearest" });
  };
  addEventListener("hashchange", go);
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("a.cell");
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (location.hash === `#${cell.id}`) go();
    else location.hash = cell.id;
  });
  panel.querySelector("[name=close]").addEventListener("click", close);
  addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  // The browser goes to an address itself once the page is loaded; the panel has the last word.
  go();
  if (document.readyState !== "complete") addEventListener("load", () => setTimeout(go), { once: true });
})();
