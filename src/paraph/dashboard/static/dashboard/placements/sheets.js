// The pages, with a box for each stamp on them. Boxes are laid out in parts of the page, so that zoom changes no box.
"use strict";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const PICTURES = [100, 150, 200, 400]; // percent of the usual size, in which the service draws pages

const AGAIN = [1000, 2000, 4000, 8000]; // ms after which a picture is asked for again, as a busy service refuses some

class Sheet {
  constructor(figure) {
    this.figure = figure;
    this.document = figure.closest("[data-document]").dataset.document;
    this.page = Number(figure.dataset.page);
    this.width = Number(figure.dataset.width);
    this.height = Number(figure.dataset.height);
    this.paper = figure.querySelector(".paper");
    this.image = this.paper.querySelector("img");
    this.address = this.image.getAttribute("src");
    insist(this.image);
    const found = JSON.parse(figure.dataset.targets || "[]").map(([kind, name, x, y, width, height, ...size]) => ({ kind, name, x, y, width, height, size: { width: size[0], height: size[1] }, offer: size[2] }));
    [this.targets, this.rules] = [false, true].map((isRule) => found.filter(({ kind }) => (kind === "rule") === isRule));
    this.paper.querySelector("svg").remove();
    this.paper.style.aspectRatio = `${this.width} / ${this.height}`; // pictures have whole pixels
    this.paper.style.setProperty("--ratio", this.width / this.height);
  }

  // The point of the page under a point of the window, in whole points.
  point({ clientX, clientY }) {
    const at = this.paper.getBoundingClientRect();
    const x = Math.round((clientX - at.left) / this.scale), y = Math.round((at.bottom - clientY) / this.scale);
    return { x: within(0, this.width, x), y: within(0, this.height, y) };
  }

  get scale() { // pixels of the window per point
    return this.paper.getBoundingClientRect().width / this.width;
  }

  holds({ clientX, clientY }) {
    const at = this.paper.getBoundingClientRect();
    return clientX >= at.left && clientX <= at.right && clientY >= at.top && clientY <= at.bottom;
  }

  lay(element, { x, y, width, height }) {
    const part = (length, whole) => `${length / whole * 100}%`;
    element.style.left = part(x, this.width);
    element.style.bottom = part(y, this.height);
    element.style.width = part(width, this.width);
    element.style.height = part(height, this.height);
    if (element.parentElement !== this.paper) this.paper.append(element);
  }

  // Asks for as sharp a picture as the window can show.
  sharpen() {
    this.usual ||= this.image.naturalWidth;
    if (!this.usual) return;
    const wanted = this.paper.clientWidth * devicePixelRatio / this.usual * 100;
    const size = PICTURES.find((each) => each >= wanted - 10) || PICTURES.at(-1);
    const address = size === 100 ? this.address : this.address.replace(".webp", `-${size}.webp`);
    if (size > (this.sharp || 100)) this.image.src = address;
    this.sharp = Math.max(size, this.sharp || 100);
  }
}

class Sheets {
  constructor(stage) {
    this.stage = stage;
    this.all = [...stage.querySelectorAll(".sheet")].map((figure) => new Sheet(figure));
    this.zoom = 1;
    this.seen = new Set();
    this.watch = new IntersectionObserver((entries) => this.scrolled(entries), { rootMargin: "50%" });
    for (const sheet of this.all) {
      this.watch.observe(sheet.figure);
      sheet.image.addEventListener("load", () => this.seen.has(sheet) && sheet.sharpen());
    }
  }

  find(document, page) {
    return this.all.find((sheet) => sheet.document === document && sheet.page === page);
  }

  of(document) {
    return this.all.filter((sheet) => sheet.document === document);
  }

  under(event) {
    return this.near.find((sheet) => sheet.holds(event));
  }

  // The pages in the window and next to it, of however many there are.
  get near() {
    return this.seen.size ? [...this.seen] : this.all;
  }

  // The page that fills the middle of the window.
  get current() {
    const far = (sheet) => {
      const at = sheet.paper.getBoundingClientRect();
      return Math.max(at.top - innerHeight / 2, innerHeight / 2 - at.bottom, 0);
    };
    return this.near.reduce((best, sheet) => far(sheet) < far(best) ? sheet : best);
  }

  scrolled(entries) {
    for (const { target, isIntersecting } of entries) {
      const sheet = this.all.find(({ figure }) => figure === target);
      this.seen[isIntersecting ? "add" : "delete"](sheet);
      if (isIntersecting) sheet.sharpen();
    }
    this.stage.dispatchEvent(new Event("seen"));
  }

  canZoom(by) {
    return ZOOMS[ZOOMS.indexOf(this.zoom) + by] !== undefined;
  }

  // One step closer (1) or farther (-1); what was in the middle of the window stays there.
  zoomBy(by) {
    if (!this.canZoom(by)) return;
    const sheet = this.current, before = sheet.paper.getBoundingClientRect();
    const part = (innerHeight / 2 - before.top) / before.height;
    const aside = (this.stage.scrollLeft + this.stage.clientWidth / 2) / this.stage.scrollWidth;
    this.zoom = ZOOMS[ZOOMS.indexOf(this.zoom) + by];
    this.stage.style.setProperty("--zoom", this.zoom);
    const after = sheet.paper.getBoundingClientRect();
    scrollBy({ top: after.top + part * after.height - innerHeight / 2, behavior: "instant" });
    this.stage.scrollLeft = aside * this.stage.scrollWidth - this.stage.clientWidth / 2;
    for (const each of this.seen) each.sharpen();
  }
}

function insist(image) {
  let tries = 0;
  const again = () => tries < AGAIN.length && setTimeout(() => { image.src = image.getAttribute("src"); }, AGAIN[tries++]);
  image.addEventListener("error", again);
  if (image.complete && !image.naturalWidth) again();
}
