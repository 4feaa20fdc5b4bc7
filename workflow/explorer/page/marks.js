"use strict";
// Elements, and how numbers are written.

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const percent = (probability) => `${probability < 0.0005 ? (100 * probability).toPrecision(2) : (100 * probability).toFixed(1)} %`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const quoted = (word) => `“${word}”`;
