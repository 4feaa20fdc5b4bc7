"use strict";
// One tab is shown at a time; what an address leads to opens its tab.
(() => {
  document.documentElement.classList.add("scripted");
  const tabs = [...document.querySelectorAll(".tab")];
  const links = [...document.querySelectorAll(".tabs a[href^='#']")];
  const open = (tab) => {
    for (const one of tabs) one.hidden = one !== tab;
    for (const link of links) {
      if (link.hash === `#${tab.id}`) {
        link.setAttribute("aria-current", "page");
      } else link.removeAttribute("aria-current");
    }
  };
  const seen = () => {
    const link = document.querySelector(".tabs [aria-current][href^='#']");
    link.parentElement.scrollLeft = link.offsetLeft - 40;
  };
  addEventListener("reveal", ({ detail }) => {
    const tab = detail.closest(".tab");
    if (tab?.hidden) open(tab);
    seen();
    for (let fold = detail; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  });
  open(tabs[0]);
})();
