"use strict";
// The menu follows the reader, and folds away on narrow screens.
// The overview shows figures that stand in the page once, below.
(() => {
  document.documentElement.classList.add("scripted");
  for (const link of document.querySelectorAll(".shows")) {
    const copy = document.getElementById(link.hash.slice(1)).querySelector("img").cloneNode();
    copy.alt = "";
    link.prepend(copy);
  }
  const menu = document.querySelector(".menu");
  const fold = menu.querySelector("details");
  const narrow = matchMedia("(max-width: 62rem)");
  const adapt = () => { fold.open = !narrow.matches; };
  narrow.addEventListener("change", adapt);
  adapt();

  const links = new Map();
  for (const link of menu.querySelectorAll("a[href^='#']")) {
    links.set(document.getElementById(link.hash.slice(1)), link);
    link.addEventListener("click", () => { if (narrow.matches) fold.open = false; });
  }
  const places = [...links.keys()];
  let current;
  const follow = () => {
    // Of a section and its first table both may be above the line: the later one counts.
    const above = places.filter((place) => place.getClientRects().length && place.getBoundingClientRect().top < 160);
    const link = links.get(above.at(-1) ?? places[0]);
    if (link === current) return;
    current?.removeAttribute("aria-current");
    for (const item of menu.querySelectorAll(".here")) item.classList.remove("here");
    current = link;
    link.setAttribute("aria-current", "location");
    for (let item = link.closest("li"); item; item = item.parentElement.closest("li")) item.classList.add("here");
    if (narrow.matches) return;
    // `scrollIntoView` would also move the place from which the keyboard goes on.
    const [shown, own] = [menu.getBoundingClientRect(), link.getBoundingClientRect()];
    menu.scrollTop += Math.max(own.bottom - shown.bottom, 0) + Math.min(own.top - shown.top, 0);
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; follow(); });
  }, { passive: true });
  follow();
})();
