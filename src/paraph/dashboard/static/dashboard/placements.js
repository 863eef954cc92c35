// The placement editor over the form of the stamps: what is done on the pages goes into the fields, and what is entered
// into the fields is shown on the pages.
"use strict";

class Editor {
  constructor(form) {
    this.form = form;
    const part = (name) => document.querySelector(`[data-${name}]`);
    const numbers = (text) => text.split(" ").map(Number);
    [this.stage, this.tools, this.palette, this.said] = ["stage", "tools", "palette", "said"].map(part);
    this.words = form.dataset;
    this.size = Object.fromEntries(["width", "height"].map((name, index) => [name, numbers(form.dataset.size)[index]]));
    this.rectangles = new Rectangles(numbers(form.dataset.widths), numbers(form.dataset.heights));
    this.boxMade = part("box");
    this.ghost = part("ghost");
    this.stamps = new Stamps(form, part("new"));
    this.sheets = new Sheets(this.stage);
    this.boxes = new Map();
    this.changes = new Changes(this.stamps.snapshot);
    this.saving = new Saving(form, part("saved"), this.stamps);
    this.buttons = Object.fromEntries([...this.tools.querySelectorAll("[data-do]")].map((button) => [button.dataset.do, button]));
    this.pages = part("pages");
    this.rail = new Rail(part("rail"), this.sheets);
    new Pointing(this);
    new Keys(this);
    this.listen();
    this.showTargets();
    form.classList.add("live");
    this.tools.hidden = false;
    this.select(this.stamps.all.find((stamp) => stamp.card.querySelector(".errorlist")) || null);
  }

  listen() {
    const acts = {
      undo: () => this.step(-1), redo: () => this.step(1), copy: () => this.copyToAll(this.selected),
      delete: () => this.remove(this.selected), closer: () => this.zoom(1), farther: () => this.zoom(-1),
    };
    for (const [name, button] of Object.entries(this.buttons)) {
      button.addEventListener("click", () => button.getAttribute("aria-disabled") !== "true" && acts[name]());
    }
    this.form.addEventListener("focusin", (event) => {
      const ofCard = this.stamps.all.find(({ card }) => card.contains(event.target));
      const stamp = ofCard || this.stampOf(event.target);
      if (stamp && stamp !== this.selected) this.select(stamp);
      if (ofCard) this.follow(ofCard);
    });
    this.form.addEventListener("input", (event) => event.target.closest("[data-stamp]") && this.show());
    this.form.addEventListener("change", (event) => {
      const stamp = this.stamps.all.find(({ card }) => card.contains(event.target));
      if (!stamp) return;
      this.changed(stamp);
      this.follow(stamp);
    });
    this.form.addEventListener("click", (event) => this.clicked(event));
    this.pages.addEventListener("change", () => this.sheets.all[this.pages.selectedIndex].figure.scrollIntoView());
    this.form.addEventListener("invalid", (event) => { // a folded field takes no focus
      const stamp = this.stamps.all.find(({ card }) => card.contains(event.target));
      if (stamp) this.select(stamp);
    }, true);
    this.stage.addEventListener("seen", () => this.scrolled());
    addEventListener("scroll", () => this.scrolling ||= requestAnimationFrame(() => this.scrolled()), { passive: true });
  }

  scrolled() {
    this.scrolling = 0;
    this.pages.selectedIndex = this.rail.mark(this.sheets.current);
  }

  // The buttons that a page without scripts sends.
  clicked(event) {
    const button = event.target.closest("button");
    const target = this.targets?.get(button);
    if (target) this.put(this.signer, target.sheet, placeAt(target, target.size, target.sheet, this.rectangles));
    else if (button?.name === "remove") this.remove(this.stamps.all[Number(button.value)]);
    else if (button?.value === "add") this.addHere();
    else return;
    event.preventDefault();
  }

  get signer() {
    return this.palette.querySelector(":checked").value;
  }

  stampOf(element) {
    return this.stamps.all.find((stamp) => element && (stamp.card === element || this.boxes.get(stamp) === element));
  }

  rectangleAround(sheet, point) {
    const target = targetAt(point, sheet), { width, height } = this.size;
    const place = target && placeAt(target, target.size, sheet, this.rectangles);
    const around = { x: Math.round(point.x - width / 2), y: Math.round(point.y - height / 2), width, height };
    return place || this.rectangles.fitted(around, sheet);
  }

  put(signer, sheet, rectangle) {
    if (this.count(signer, sheet.document) >= Number(this.words.most)) {
      this.say(this.words.full, { signer: this.nameOf(signer) });
      return;
    }
    const stamp = this.stamps.add({ signer, document: sheet.document, page: sheet.page, ...rectangle });
    this.select(stamp);
    this.changed(stamp);
    this.boxes.get(stamp).focus({ preventScroll: true });
  }

  count(signer, document) {
    return this.stamps.snapshot.filter((each) => each.signer === signer && each.document === document).length;
  }

  // In the middle of the page that is looked at, beside the stamps that stand there.
  addHere() {
    const sheet = this.sheets.current, { width, height } = this.size;
    const rectangle = this.rectangles.fitted({ x: Math.round((sheet.width - width) / 2), y: Math.round((sheet.height - height) / 2), width, height }, sheet);
    const there = this.stamps.snapshot.filter((each) => each.document === sheet.document && each.page === sheet.page);
    const free = (y) => there.every((each) => y + height <= each.y || y >= each.y + each.height || rectangle.x + width <= each.x || rectangle.x >= each.x + each.width);
    const rows = Array.from({ length: Math.floor(sheet.height / height) }, (_, row) => row * height);
    rows.sort((one, other) => Math.abs(one - rectangle.y) - Math.abs(other - rectangle.y));
    const y = [rectangle.y, ...rows].find(free) ?? rectangle.y;
    this.put(this.signer, sheet, { ...rectangle, y });
    this.follow(this.selected);
  }

  reshape(stamp, changes) {
    stamp.values = Object.fromEntries(Object.entries(changes).filter(([name]) => FIELDS.includes(name)));
    this.showBox(stamp);
  }

  changed(stamp, kind = "") {
    this.show();
    if (!this.changes.note(this.stamps.snapshot, kind && `${kind} ${this.stamps.all.indexOf(stamp)}`)) return;
    this.refresh();
    this.saving.soon();
    if (stamp) this.say(`${this.labelOf(stamp)}: ${this.words.at}`, stamp.values);
  }

  // Moves the view to the stamp, where it is out of sight.
  follow(stamp) {
    this.boxes.get(stamp)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  step(by) {
    const state = this.changes.step(by);
    if (!state) return;
    const index = this.stamps.all.indexOf(this.selected);
    this.stamps.restore(state);
    this.select(this.stamps.all[index] || null);
    this.saving.soon();
    if (this.selected) this.follow(this.selected);
    this.say(by < 0 ? this.words.undone : this.words.redone);
  }

  remove(stamp) {
    if (!stamp) return;
    const index = this.stamps.all.indexOf(stamp), label = this.labelOf(stamp);
    this.stamps.remove(stamp);
    this.select(this.stamps.all[index] || this.stamps.all.at(-1) || null);
    this.changed(null);
    (this.boxes.get(this.selected) || this.stage).focus({ preventScroll: true });
    this.say(this.words.removed, { stamp: label });
  }

  // The other pages of its document that have none of the signer at this place yet.
  pagesWithout(stamp) {
    const values = stamp.values, stamped = this.stamps.snapshot;
    const there = (sheet) => stamped.some((each) => each.signer === values.signer &&
      each.document === sheet.document && each.page === sheet.page && each.x === values.x && each.y === values.y);
    return this.sheets.of(values.document).filter((sheet) => sheet.page !== values.page && !there(sheet));
  }

  copyToAll(stamp) {
    const values = stamp.values, sheets = this.pagesWithout(stamp);
    if (this.count(values.signer, values.document) + sheets.length > Number(this.words.most)) {
      this.say(this.words.full, { signer: this.nameOf(values.signer) });
      return;
    }
    this.stamps.add(...sheets.map((sheet) => ({ ...values, page: sheet.page, ...this.rectangles.fitted(values, sheet) })));
    this.changed(null);
    this.say(this.words.copied, { count: sheets.length });
  }

  zoom(by) {
    this.sheets.zoomBy(by);
    this.refresh();
  }

  select(stamp) {
    this.selected = stamp;
    this.show();
    if (stamp) {
      const { card } = stamp, list = this.stamps.list;
      list.scrollTo({ left: card.offsetLeft - list.offsetLeft, top: card.offsetTop - list.offsetTop - 8 });
    }
  }

  show() {
    for (const [stamp, box] of this.boxes) {
      if (!this.stamps.all.includes(stamp)) {
        box.remove();
        this.boxes.delete(stamp);
      }
    }
    for (const stamp of this.stamps.all) this.showBox(stamp);
    const stamped = this.stamps.snapshot;
    this.showLacking(stamped);
    this.rail.count(stamped);
    this.refresh();
  }

  // Signers and documents without a stamp say so, where they stand.
  showLacking(stamped) {
    for (const kind of ["signer", "document"]) {
      for (const note of this.form.querySelectorAll(`[data-lacks-${kind}]`)) {
        note.hidden = stamped.some((each) => each[kind] === note.getAttribute(`data-lacks-${kind}`));
      }
    }
  }

  showBox(stamp) {
    const values = stamp.values, sheet = stamp.whole && this.sheets.find(values.document, values.page);
    const chip = this.palette.querySelector(`input[value="${CSS.escape(values.signer)}"]`);
    const selected = stamp === this.selected, mark = chip?.dataset.mark || "0";
    stamp.card.className = `card stamp mark-${mark}${selected ? " selected" : ""}`;
    if (!sheet) {
      this.boxes.get(stamp)?.remove();
      return;
    }
    if (!this.boxes.has(stamp)) this.boxes.set(stamp, this.boxMade.content.firstElementChild.cloneNode(true));
    const box = this.boxes.get(stamp), focused = box === document.activeElement;
    sheet.lay(box, values);
    if (focused) box.focus({ preventScroll: true }); // it may stand on another page now
    box.className = `box mark-${mark}${selected ? " selected" : ""}`;
    box.querySelector(".name").textContent = this.nameOf(values.signer);
    box.setAttribute("aria-label", `${this.labelOf(stamp)}, ${filled(this.words.at, values)}`);
  }

  showGhost(signer, place) {
    this.ghost.hidden = !place;
    if (!place) return;
    place.sheet.lay(this.ghost, place.rectangle);
    this.ghost.className = `ghost mark-${this.palette.querySelector(`input[value="${signer}"]`).dataset.mark}`;
  }

  showTargets() {
    this.targets = new Map();
    for (const sheet of this.sheets.all) {
      for (const target of sheet.targets) {
        if (!placeAt(target, this.size, sheet, this.rectangles)) continue;
        const hint = document.createElement("button");
        Object.assign(hint, { type: "button", className: `target ${target.kind}` });
        hint.setAttribute("aria-label", filled(this.words.target, { name: target.name, page: sheet.page }));
        this.targets.set(hint, { ...target, sheet });
        sheet.lay(hint, target);
      }
    }
  }

  refresh() {
    const can = {
      undo: this.changes.can(-1), redo: this.changes.can(1), copy: Boolean(this.selected?.whole && this.pagesWithout(this.selected).length),
      delete: Boolean(this.selected), closer: this.sheets.canZoom(1), farther: this.sheets.canZoom(-1),
    };
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-disabled", !can[name]);
    this.tools.querySelector("output").textContent = `${this.sheets.zoom * 100} %`;
  }

  nameOf(signer) {
    return this.palette.querySelector(`input[value="${CSS.escape(signer)}"]`)?.dataset.name || "";
  }

  labelOf(stamp) {
    return filled(this.words.label, { number: this.stamps.all.indexOf(stamp) + 1, signer: this.nameOf(stamp.values.signer) });
  }

  say(sentence, values = {}) {
    this.said.textContent = filled(sentence, values);
  }
}

function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

new Editor(document.querySelector("form[data-places]"));
