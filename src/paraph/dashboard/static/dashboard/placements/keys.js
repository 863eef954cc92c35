// Keys on a stamp: arrows move it by a point, with Shift by ten; with Alt they change its size; Page Up and Page Down take
// it to another page; Delete removes it. Ctrl+Z and Ctrl+Y go back and forth.
"use strict";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

class Keys {
  constructor(editor) {
    this.editor = editor;
    editor.form.addEventListener("keydown", (event) => this.pressed(event));
  }

  pressed(event) {
    const stamp = this.editor.stampOf(event.target);
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const typing = event.target.matches("input:not([type=radio]), select, textarea");
    if (command && !typing && (key === "z" || key === "y")) this.editor.step(key === "y" || event.shiftKey ? 1 : -1);
    else if (key === "enter" && event.target.matches(".stamp input")) this.entered(event.target);
    else if (!stamp || command || !this.onStamp(stamp, event)) return;
    event.preventDefault();
  }

  // What was entered is kept, and the keys move what it is about.
  entered(field) {
    const { boxes, stamps } = this.editor;
    field.blur();
    boxes.get(stamps.all.find(({ card }) => card.contains(field)))?.focus({ preventScroll: true });
  }

  onStamp(stamp, event) {
    const by = event.shiftKey ? 10 : 1;
    if (ARROWS[event.key]) {
      const [x, y] = ARROWS[event.key];
      if (event.altKey) this.resize(stamp, x * by, y * by);
      else this.move(stamp, x * by, y * by);
    } else if (event.key === "PageUp" || event.key === "PageDown") this.turn(stamp, event.key === "PageUp" ? -1 : 1);
    else if (event.key === "Delete" || event.key === "Backspace") this.editor.remove(stamp);
    else return false;
    return true;
  }

  move(stamp, x, y) {
    const before = stamp.values, sheet = this.editor.sheets.find(before.document, before.page);
    if (!sheet) return;
    this.editor.reshape(stamp, this.editor.limitsOf(stamp.isField).fitted({ ...before, x: before.x + x, y: before.y + y }, sheet));
    this.editor.changed(stamp, "move");
  }

  resize(stamp, x, y) {
    const before = stamp.values, sheet = this.editor.sheets.find(before.document, before.page);
    if (!sheet) return;
    const corner = { x: before.x + before.width + x, y: before.y + before.height + y };
    this.editor.reshape(stamp, this.editor.limitsOf(stamp.isField).resized(before, "ne", corner, sheet));
    this.editor.changed(stamp, "size");
  }

  turn(stamp, by) {
    const before = stamp.values, all = this.editor.sheets.all;
    const sheet = all[all.indexOf(this.editor.sheets.find(before.document, before.page)) + by];
    if (!sheet) return;
    const place = this.editor.limitsOf(stamp.isField).fitted(before, sheet);
    this.editor.reshape(stamp, { document: sheet.document, page: sheet.page, ...place });
    this.editor.boxes.get(stamp).focus({ preventScroll: true });
    this.editor.changed(stamp, "page");
    this.editor.follow(stamp);
  }
}
