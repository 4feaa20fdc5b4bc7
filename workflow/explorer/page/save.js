"use strict";
// A picture as SVG, and the address.

const DRAWN = { fill: "rgb(0, 0, 0)", stroke: "none", "stroke-width": "1px", "stroke-opacity": "1", "fill-opacity": "1", "stroke-linecap": "butt" };
const WRITTEN = { "font-size": "", "font-weight": "400", "font-family": "" };

// A picture that looks the same without the page's style: where it differs from the default, it says so.
function alone(picture) {
  const copy = picture.cloneNode(true), all = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(all[i]), defaults = node.tagName === "text" ? { ...DRAWN, ...WRITTEN } : DRAWN;
    for (const [name, value] of node.tagName === "title" ? [] : Object.entries(defaults)) {
      const own = style.getPropertyValue(name);
      if (!node.hasAttribute(name) && own !== value) node.setAttribute(name, own);
    }
    node.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(draw("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

function saveSvg(picture, name) {
  const address = URL.createObjectURL(new Blob([alone(picture)], { type: "image/svg+xml" }));
  make("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address));
}

async function copyText(text) {
  try { await navigator.clipboard.writeText(text); } catch { // a page from disk may not; an old way still can
    const field = make("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
