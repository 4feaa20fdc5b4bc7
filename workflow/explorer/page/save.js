"use strict";
// A picture as SVG or PNG, and the address.

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-opacity", "fill-opacity", "opacity", "font-size", "font-weight", "font-family"];

// A picture that looks the same without the page's style.
function alone(picture) {
  const copy = picture.cloneNode(true), all = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(all[i]);
    for (const name of DRAWN) if (!node.hasAttribute(name) && !["title"].includes(node.tagName)) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const ground = draw("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

const saveSvg = (picture, name) => download(`${name}.svg`, new Blob([alone(picture)], { type: "image/svg+xml" }));

async function savePng(picture, name) {
  const image = new Image(), { width, height } = picture.viewBox.baseVal;
  image.src = `data:image/svg+xml;base64,${btoa(unescape(encodeURIComponent(alone(picture))))}`;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  canvas.toBlob((blob) => download(`${name}.png`, blob));
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
