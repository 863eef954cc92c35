// Mouse, pen and touch: a click, a tap or a drag over the page says where what was picked goes, and how large it is; a
// signature, a field or a signer's name dragged onto a page goes there. Boxes are dragged, also to other pages, and resized
// by their corners.
"use strict";

const STILL = 4; // pixels: less is a click
const REACH = 9; // pixels from which a dragged stamp snaps
const EDGE = 56; // pixels at the top and bottom of the window where dragging scrolls it

class Pointing {
  constructor(editor) {
    this.editor = editor;
    this.drag = null;
    const { stage, form } = editor;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("click", (event) => this.tapped(event));
    for (const element of [editor.palette, editor.kinds]) element.addEventListener("pointerdown", (event) => this.take(event));
    for (const element of [stage, editor.palette, editor.kinds]) {
      element.addEventListener("pointermove", (event) => this.move(event));
      element.addEventListener("pointerup", (event) => this.up(event));
      element.addEventListener("pointercancel", () => this.cancel());
    }
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.drag) this.cancel();
    });
  }

  down(event) {
    this.by = event.pointerType;
    if (event.button || this.drag) return;
    const stamp = this.editor.stampOf(event.target.closest(".box"));
    const sheet = this.editor.sheets.under(event);
    if (stamp) {
      this.editor.select(stamp);
      this.editor.boxes.get(stamp).focus({ preventScroll: true });
      this.hold(event, this.editor.stage, { stamp, corner: event.target.dataset.corner, ...this.grip(event, stamp) });
    } else if (sheet && this.by !== "touch" && !event.target.closest("button")) {
      this.hold(event, this.editor.stage, { sheet, from: sheet.point(event) });
    }
  }

  // What is moved is the point at which it was taken.
  grip(event, stamp) {
    const before = stamp.values;
    const sheet = this.editor.sheets.find(before.document, before.page), point = sheet.point(event);
    const right = (event.target.dataset.corner || "").includes("e"), top = (event.target.dataset.corner || "").includes("n");
    const [x, y] = event.target.dataset.corner ?
      [before.x + (right ? before.width : 0), before.y + (top ? before.height : 0)] : [before.x, before.y];
    return { before, sheet, off: { x: point.x - x, y: point.y - y } };
  }

  take(event) {
    const chip = event.target.closest(".palette label, [data-field-type]");
    if (!chip || event.button) return;
    const type = chip.dataset.fieldType || "", signer = chip.querySelector("input")?.value || this.editor.signer;
    this.hold(event, null, { signer, type, from: event.currentTarget });
  }

  hold(event, holder, drag) {
    this.drag = { ...drag, id: event.pointerId, holder, start: event, moved: false };
    if (!holder) return;
    event.preventDefault(); // no selection of text
    holder.setPointerCapture(event.pointerId);
  }

  move(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    drag.at = event;
    if (!drag.moved) {
      if (Math.hypot(event.clientX - drag.start.clientX, event.clientY - drag.start.clientY) < STILL) return;
      drag.moved = true;
      if (drag.signer) drag.from.setPointerCapture(drag.id);
      document.documentElement.classList.add("dragging");
      this.scroll();
    }
    this.follow();
  }

  follow() {
    const { drag, editor } = this, event = drag.at;
    if (drag.signer) editor.showGhost(drag.signer, this.dropped(drag));
    else if (!drag.stamp) editor.showGhost(editor.signer, editor.fresh && { sheet: drag.sheet, rectangle: this.drawn(drag) });
    else if (drag.corner) editor.reshape(drag.stamp, this.resized(drag));
    else editor.reshape(drag.stamp, this.moved(drag), !event.altKey);
  }

  moved({ stamp, off, at, before }) {
    const sheet = this.editor.sheets.under(at) || this.editor.sheets.find(stamp.values.document, stamp.values.page);
    const point = sheet.point(at);
    const wanted = { x: point.x - off.x, y: point.y - off.y, width: before.width, height: before.height };
    const limits = this.editor.limitsOf(stamp.isField);
    const fitted = limits.fitted({ ...wanted, x: Math.round(wanted.x), y: Math.round(wanted.y) }, sheet);
    const place = at.altKey ? fitted : snapped(fitted, sheet, limits, REACH / sheet.scale);
    return { document: sheet.document, page: sheet.page, ...place };
  }

  resized({ stamp, before, sheet, corner, off, at }) {
    const point = sheet.point(at);
    const to = { x: Math.round(point.x - off.x), y: Math.round(point.y - off.y) };
    return this.editor.limitsOf(stamp.isField).resized(before, corner, to, sheet);
  }

  drawn({ sheet, from, at }) {
    const to = sheet.point(at);
    const width = Math.abs(to.x - from.x), height = Math.abs(to.y - from.y);
    return this.editor.limitsOf(Boolean(this.editor.fresh?.isField)).fitted({ x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width, height }, sheet);
  }

  dropped({ at, type }) {
    const sheet = this.editor.sheets.under(at);
    return sheet && { sheet, rectangle: this.editor.rectangleAround(sheet, sheet.point(at), type) };
  }

  up(event) {
    const drag = this.drag;
    if (!drag || event.pointerId !== drag.id) return;
    if (drag.moved) { // the last move of a finger may be told by its end alone
      drag.at = event;
      this.follow();
    }
    this.end();
    const { editor } = this;
    if (drag.signer) {
      const place = drag.moved && this.dropped(drag);
      if (place) editor.put(drag.signer, place.sheet, place.rectangle, drag.type ? editor.asked(drag.type) : {});
    } else if (drag.stamp) {
      if (drag.moved) editor.changed(drag.stamp);
    } else {
      editor.placed(drag.sheet, drag.from, drag.moved ? this.drawn(drag) : null);
    }
  }

  // Touch scrolls the page; only a tap is a click.
  tapped(event) {
    const sheet = this.editor.sheets.under(event);
    if (this.by !== "touch" || !sheet || event.target.closest(".box, button")) return;
    this.editor.placed(sheet, sheet.point(event), null);
  }

  cancel() {
    const drag = this.drag;
    this.end();
    if (drag?.stamp) this.editor.reshape(drag.stamp, drag.before);
  }

  end() {
    this.drag = null;
    this.editor.showGhost();
    document.documentElement.classList.remove("dragging");
  }

  scroll() {
    const { drag } = this;
    if (!drag?.moved) return;
    const { tools, bar, stage } = this.editor, [at, foot, pages] = [drag.at, tools.getBoundingClientRect(), stage.getBoundingClientRect()];
    const low = foot.left < pages.right && foot.right > pages.left ? foot.top : innerHeight; // on a phone, they stand below
    const over = at && at.clientX > pages.left && at.clientX < pages.right && at.clientY < low;
    const by = !over ? 0 : at.clientY < bar.getBoundingClientRect().bottom + EDGE / 2 ? -10 : at.clientY > low - EDGE ? 10 : 0;
    if (by) {
      scrollBy({ top: by, behavior: "instant" });
      this.follow();
    }
    requestAnimationFrame(() => this.scroll());
  }
}
