// The placement editor over the form of signatures and fields: what is done on the pages goes into the form, and what is
// entered into the form is shown on the pages.
"use strict";

const PHONE = 960; // pixels: less has one column

class Editor {
  constructor(form) {
    this.form = form;
    const part = (name) => document.querySelector(`[data-${name}]`);
    const numbers = (text) => text.split(" ").map(Number);
    [this.stage, this.tools, this.palette, this.said, this.bar, this.title, this.acts, this.hint] = ["stage", "tools", "palette", "said", "bar", "title", "acts", "none"].map(part);
    this.words = form.dataset;
    const any = [Number(form.dataset.smallest), Infinity];
    this.limits = [new Rectangles(numbers(form.dataset.widths), numbers(form.dataset.heights)), new Rectangles(any, any)];
    this.fresh = null; // what a click on the palette added, and one on a page moves there
    this.boxMade = part("box");
    this.ghost = part("ghost");
    this.stamps = new Stamps(form, [part("new"), part("new-field")]);
    this.kinds = part("kinds");
    this.sheets = new Sheets(this.stage);
    this.boxes = new Map();
    this.changes = new Changes(this.stamps.snapshot);
    this.saving = new Saving(form, part("saved"), this.stamps);
    this.buttons = Object.fromEntries([...form.querySelectorAll("[data-do]")].map((button) => [button.dataset.do, button]));
    this.pages = part("pages");
    this.rail = new Rail(part("rail"), this.sheets);
    this.remarks = new Remarks(this);
    this.spots = new Spots(this);
    new Pointing(this);
    new Keys(this);
    this.listen();
    this.showTargets();
    this.initials = part("initials"); // null on plans without them
    form.classList.add("live");
    this.showInitials();
    this.remarks.show(document);
    this.select(this.stamps.all.find((stamp) => stamp.card.querySelector(".errorlist")) || null);
  }

  listen() {
    const acts = {
      undo: () => this.step(-1), redo: () => this.step(1), copy: () => this.copyToAll(this.selected), align: () => this.align(this.selected),
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
    this.form.addEventListener("input", (event) => event.target.closest(".stamp") && this.show());
    this.form.addEventListener("change", (event) => {
      if (event.target === this.initials) {
        this.showInitials();
        this.saving.soon();
      }
      const stamp = this.stamps.all.find(({ card }) => card.contains(event.target));
      if (!stamp) return;
      if (stamp.isField) stamp.values = { name: this.stamps.freeName(stamp.values, stamp) };
      this.changed(stamp);
      this.follow(stamp);
    });
    this.form.addEventListener("click", (event) => this.clicked(event));
    this.pages.addEventListener("change", () => this.sheets.all[this.pages.selectedIndex].figure.scrollIntoView());
    this.form.addEventListener("invalid", (event) => this.reveal(event.target), true); // a folded field takes no focus
    document.addEventListener("click", ({ target }) => {
      const wrong = target.closest("a[href^='#id_']");
      if (wrong) this.reveal(document.getElementById(wrong.hash.slice(1)));
    });
    this.form.addEventListener("refused", () => this.show());
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
    if (target) this.putAt(target);
    else if (button?.name === "remove") this.remove(this.stamps.of(false)[Number(button.value)]);
    else if (button?.name === "remove-field") this.remove(this.stamps.of(true)[Number(button.value)]);
    else if (button && "fieldType" in button.dataset) this.add(button.dataset.fieldType, button.closest("details"));
    else return;
    event.preventDefault();
  }

  // Shows the field, whose card or part of it may be folded.
  reveal(field) {
    const stamp = this.stamps.all.find(({ card }) => card.contains(field));
    if (!stamp) return;
    this.select(stamp);
    document.getElementById("unfold").checked = true;
    field.closest("details")?.setAttribute("open", "");
    field.focus();
  }

  get signer() {
    return this.palette.querySelector(":checked").value;
  }

  stampOf(element) {
    return this.stamps.all.find((stamp) => element && (stamp.card === element || this.boxes.get(stamp) === element));
  }

  // The sizes that a stamp or a field may have.
  limitsOf(isField) {
    return this.limits[Number(isField)];
  }

  kind(type) {
    return this.kinds.querySelector(`[data-field-type="${type}"]`).dataset;
  }

  sizeOf(type = "") {
    const [width, height] = this.kind(type).size.split(" ").map(Number);
    return { width, height };
  }

  // What the palette calls it.
  kindName(type) {
    return this.kinds.querySelector(`[data-field-type="${type}"]`).textContent.trim();
  }

  // What a new field of the type asks.
  asked(type, more = {}) {
    const name = this.kindName(type);
    const options = [1, 2].map((number) => filled(this.words.option, { number })).join("\n");
    const empty = Object.fromEntries(ASKED.map((each) => [each, ""]));
    return { ...empty, type, name, required: true, ticked: false, read_only: false, font_size: "10", options: this.kind(type).has.split(" ").includes("options") ? options : "", ...more };
  }

  rectangleAround(sheet, point, type = "", { width, height } = this.sizeOf(type)) {
    const target = targetAt(point, sheet), limits = this.limitsOf(Boolean(type));
    const place = !type && target && placeAt(target, target.size, sheet, limits);
    const around = { x: Math.round(point.x - width / 2), y: Math.round(point.y - height / 2), width, height };
    return place || limits.fitted(around, sheet);
  }

  put(signer, sheet, rectangle, asked = {}) {
    const isField = "type" in asked, [most, full] = isField ? ["mostFields", "fullFields"] : ["most", "full"];
    if (this.count(signer, sheet.document, isField) >= Number(this.words[most])) {
      this.refuse(this.words[full]);
      return;
    }
    const values = { ...asked, signer, document: sheet.document, page: sheet.page, ...rectangle };
    if (isField) values.name = this.stamps.freeName(values);
    const stamp = this.stamps.add(values);
    this.select(stamp);
    this.changed(stamp);
    this.boxes.get(stamp).focus({ preventScroll: true });
  }

  count(signer, document, isField) {
    return this.stamps.of(isField).filter(({ values }) => values.signer === signer && values.document === document).length;
  }

  // What a tag names goes there, and a stamp where it names nothing.
  putAt({ sheet, offer, ...target }) {
    if (!offer?.type) this.put(offer?.signer || this.signer, sheet, placeAt(target, target.size, sheet, this.limitsOf(false)));
    else this.put(offer.signer, sheet, placeAt(target, this.sizeOf(offer.type), sheet, this.limitsOf(true)), this.asked(offer.type, offer.name ? { name: offer.name } : {}));
  }

  // What a click on a page, or a box that was drawn there, means: the place of what was just added, else nothing more.
  placed(sheet, point, drawn) {
    const { fresh } = this;
    if (!fresh) {
      this.select(null);
      return;
    }
    const rectangle = drawn || this.rectangleAround(sheet, point, fresh.values.type, fresh.isField ? fresh.values : undefined);
    this.reshape(fresh, { document: sheet.document, page: sheet.page, ...rectangle });
    this.select(fresh);
    this.changed(fresh);
    this.boxes.get(fresh).focus({ preventScroll: true });
  }

  // One more of the type, a signature where it is "", where it fits best.
  add(type, fold) {
    if (fold && innerWidth < PHONE) fold.open = false; // it lies over the page
    const before = this.stamps.all.length, { sheet, place } = this.spots.best(this.signer, type);
    this.put(this.signer, sheet, place, type ? this.asked(type) : {});
    if (this.stamps.all.length === before) return;
    this.follow(this.selected);
    this.fresh = this.selected;
    this.say(this.words.click);
  }

  reshape(stamp, changes) {
    stamp.values = Object.fromEntries(Object.entries(changes).filter(([name]) => PLACE.includes(name)));
    this.fresh = null;
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
    const values = stamp.values, others = this.stamps.snapshot;
    const there = (sheet) => others.some((each) => each.signer === values.signer && each.type === values.type &&
      each.document === sheet.document && each.page === sheet.page && each.x === values.x && each.y === values.y);
    return this.sheets.of(values.document).filter((sheet) => sheet.page !== values.page && !there(sheet));
  }

  copyToAll(stamp) {
    const values = stamp.values, sheets = this.pagesWithout(stamp), { isField } = stamp, { words } = this;
    const most = Number(isField ? words.mostFields : words.most), pages = this.sheets.of(values.document).length;
    if (this.count(values.signer, values.document, isField) + sheets.length > most) {
      const full = isField ? words.fullFields : words.full, fullPages = isField ? words.fullFieldsPages : words.fullPages;
      this.refuse(pages > most ? fullPages : full, { pages });
      return;
    }
    const names = isField ? this.stamps.freeNames(values, sheets.length) : [];
    this.stamps.add(...sheets.map((sheet, index) => ({ ...values, page: sheet.page, ...this.limitsOf(isField).fitted(values, sheet), ...(isField && { name: names[index] }) })));
    this.changed(null);
    this.say(words.copied, { count: sheets.length });
  }

  // The one before it in the list that stands on the same page.
  before(stamp) {
    const { all } = this.stamps, { document, page } = stamp.values;
    return all.slice(0, all.indexOf(stamp)).findLast(({ values }) => values.document === document && values.page === page);
  }

  // Beside the one before it on one line, else under it with one edge, and as large where both are of one kind.
  align(stamp) {
    const at = stamp.values, { type, ...before } = this.before(stamp).values;
    const beside = at.y < before.y + before.height && before.y < at.y + at.height;
    const names = beside ? ["y", "height"] : ["x", "width"];
    const changes = Object.fromEntries(names.slice(0, type === at.type ? 2 : 1).map((name) => [name, before[name]]));
    const sheet = this.sheets.find(at.document, at.page);
    this.reshape(stamp, this.limitsOf(stamp.isField).fitted({ ...at, ...changes }, sheet));
    this.changed(stamp);
    this.say(this.words.aligned);
  }

  zoom(by) {
    this.sheets.zoomBy(by);
    this.refresh();
  }

  select(stamp) {
    this.selected = stamp;
    if (stamp !== this.fresh) this.fresh = null;
    this.show();
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
    this.remarks.tell(this.selected);
    this.hint.hidden = Boolean(this.selected);
    this.acts.hidden = !this.selected;
    if (this.selected) this.title.textContent = this.kindName(this.selected.values.type ?? "");
    this.refresh();
  }

  showInitials() {
    this.form.classList.toggle("initialed", Boolean(this.initials?.checked));
    if (this.initials) for (const { paper } of this.sheets.all) paper.dataset.initials = this.initials.dataset.initials;
  }

  // Signers and documents without a stamp say so, where they stand.
  showLacking(stamped) {
    for (const kind of ["signer", "document"]) {
      for (const note of this.form.querySelectorAll(`[data-lacks-${kind}]`)) {
        note.hidden = stamped.some((each) => !each.type && each[kind] === note.getAttribute(`data-lacks-${kind}`));
      }
    }
  }

  showBox(stamp) {
    const values = stamp.values, sheet = stamp.whole && this.sheets.find(values.document, values.page);
    const chip = this.palette.querySelector(`input[value="${CSS.escape(values.signer)}"]`);
    const selected = stamp === this.selected, mark = chip?.dataset.mark || "0";
    stamp.card.className = `card stamp mark-${mark}${selected ? " selected" : ""}`;
    if (stamp.card.dataset.type !== values.type) this.showAsked(stamp, values.type);
    if (!sheet) {
      this.boxes.get(stamp)?.remove();
      return;
    }
    if (!this.boxes.has(stamp)) this.boxes.set(stamp, this.boxMade.content.firstElementChild.cloneNode(true));
    const box = this.boxes.get(stamp), focused = box === document.activeElement;
    sheet.lay(box, values);
    if (focused) box.focus({ preventScroll: true }); // it may stand on another page now
    const wrong = stamp.card.querySelector(".errorlist") ? " wrong" : "";
    box.className = `box mark-${mark}${stamp.isField ? " field" : ""}${selected ? " selected" : ""}${wrong}`;
    this.remarks.mark(stamp, box);
    box.querySelector(".name").textContent = stamp.isField ? values.label || values.name : this.nameOf(values.signer);
    box.setAttribute("aria-label", `${this.labelOf(stamp)}, ${filled(this.words.at, values)}`);
  }

  // Only what the type of the field has.
  showAsked({ card }, type) {
    if (!type) return;
    card.dataset.type = type;
    const { has } = this.kind(type);
    for (const part of card.querySelectorAll("[data-of]")) part.hidden = !has.split(" ").includes(part.dataset.of);
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
        if (!placeAt(target, target.offer?.type ? this.sizeOf(target.offer.type) : target.size, sheet, this.limitsOf(Boolean(target.offer?.type)))) continue;
        const hint = document.createElement("button");
        Object.assign(hint, { type: "button", className: `target ${target.kind}` });
        hint.setAttribute("aria-label", filled(target.offer?.type ? this.words.fieldTarget : this.words.target, { name: target.name, page: sheet.page }));
        this.targets.set(hint, { ...target, sheet });
        hint.style.setProperty("--part", target.size.width / target.width);
        hint.style.setProperty("--ratio", target.size.width / target.size.height);
        sheet.lay(hint, target);
      }
    }
  }

  refresh() {
    const can = {
      undo: this.changes.can(-1), redo: this.changes.can(1), copy: Boolean(this.selected?.whole && this.pagesWithout(this.selected).length),
      align: Boolean(this.selected?.whole && this.before(this.selected)), delete: Boolean(this.selected), closer: this.sheets.canZoom(1), farther: this.sheets.canZoom(-1),
    };
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-disabled", !can[name]);
    this.tools.querySelector("output").textContent = `${this.sheets.zoom * 100} %`;
  }

  nameOf(signer) {
    return this.palette.querySelector(`input[value="${CSS.escape(signer)}"]`)?.dataset.name || "";
  }

  labelOf(stamp) {
    const { signer, name } = stamp.values;
    if (stamp.isField) return filled(this.words.fieldLabel, { name, signer: this.nameOf(signer) });
    return filled(this.words.label, { number: this.stamps.of(false).indexOf(stamp) + 1, signer: this.nameOf(signer) });
  }

  say(sentence, values = {}) {
    this.said.textContent = filled(sentence, values);
    this.said.classList.remove("shown");
  }

  // Says why nothing happened, to those who see as well.
  refuse(sentence, values) {
    this.say(sentence, values);
    this.said.classList.add("shown");
  }
}

function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

new Editor(document.querySelector("form[data-places]"));
