// The small pictures of all pages: how many places each has, which one is looked at, and the way to any of them. One link
// of them takes the focus, and the arrow keys go on from there.
"use strict";

class Rail {
  constructor(nav, sheets) {
    this.nav = nav;
    this.sheets = sheets;
    this.links = [...nav.querySelectorAll("a")];
    nav.querySelectorAll("img").forEach(insist);
    nav.addEventListener("keydown", (event) => this.pressed(event));
    this.mark(sheets.all[0]);
  }

  pressed(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const next = by && this.links[this.links.indexOf(event.target.closest("a")) + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  // Says which page is looked at; returns its place among all.
  mark(sheet) {
    const at = this.sheets.all.indexOf(sheet), link = this.links[at];
    if (link.ariaCurrent) return at;
    this.links.forEach((each, index) => {
      each.tabIndex = index === at ? 0 : -1;
      each.ariaCurrent = index === at ? "true" : null;
    });
    const { nav } = this, top = link.offsetTop;
    if (top < nav.scrollTop || top + link.offsetHeight > nav.scrollTop + nav.clientHeight) {
      nav.scrollTop = top - (nav.clientHeight - link.offsetHeight) / 2;
    }
    return at;
  }

  count(stamped) {
    this.sheets.all.forEach((sheet, index) => {
      const count = stamped.filter((each) => each.document === sheet.document && each.page === sheet.page).length;
      const link = this.links[index], badge = link.querySelector("b");
      if (badge.textContent === String(count)) return;
      badge.textContent = count;
      badge.hidden = !count;
      link.ariaLabel = filled(this.nav.dataset.words, { number: sheet.page, count });
    });
  }
}

// The menu stays as wide as somebody has it.
const widen = document.getElementById("widen");
widen.checked = localStorage.getItem("menu") === "wide";
widen.addEventListener("change", () => localStorage.setItem("menu", widen.checked ? "wide" : "narrow"));
