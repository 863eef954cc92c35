// What the service remarks about places, said anew after each save: a mark on the box, the sentence with it and among its
// properties, and a count that leads from one to the next.
"use strict";

class Remarks {
  constructor(editor) {
    this.editor = editor;
    this.list = document.querySelector("[data-remarks]");
    this.count = document.querySelector("[data-count]");
    this.told = document.querySelector("[data-told]");
    this.of = new Map(); // the items of the list, by what a place is known by
    this.count.addEventListener("click", (event) => this.next(event));
    editor.form.addEventListener("saved", () => this.ask());
  }

  async ask() {
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.querySelector("[data-remarks]"), count = page.querySelector("[data-count]");
    if (!now || !count) return;
    if (now.innerHTML !== this.list.innerHTML) this.list.innerHTML = now.innerHTML;
    this.count.querySelector("span").textContent = count.textContent.trim();
    this.count.hidden = count.hidden;
    this.show(page);
    this.editor.show();
  }

  // The page has its cards in another order than the window.
  show(page) {
    this.of.clear();
    for (const item of this.list.querySelectorAll("[data-of]")) {
      for (const row of item.dataset.of.split(" ")) {
        const key = keyOf((name) => page.querySelector(`[name="${row}-${name}"]`)?.value ?? "");
        this.of.set(key, [...(this.of.get(key) || []), item]);
      }
    }
  }

  about(stamp) {
    return this.of.get(keyOf((name) => stamp.fields[name].value)) || [];
  }

  mark(stamp, box) {
    const items = this.about(stamp);
    box.classList.toggle("remarked", items.length > 0);
    box.querySelector(".told").textContent = items.map((item) => item.textContent).join(" ");
    box.setAttribute("aria-describedby", [...items.map((item) => item.id), "keys"].join(" "));
  }

  tell(stamp) {
    const items = stamp ? this.about(stamp) : [];
    this.told.replaceChildren(...items.map((item) => Object.assign(document.createElement("li"), { textContent: item.textContent })));
    this.told.hidden = !items.length;
  }

  next(event) {
    const { stamps, selected, boxes } = this.editor;
    const all = stamps.all.filter((stamp) => boxes.has(stamp) && this.about(stamp).length);
    if (!all.length) return;
    event.preventDefault();
    const stamp = all[(all.indexOf(selected) + 1) % all.length];
    this.editor.select(stamp);
    this.editor.follow(stamp);
    boxes.get(stamp).focus({ preventScroll: true });
  }
}

function keyOf(read) {
  return PLACE.map((name) => NUMBERS.includes(name) ? Number(read(name)) : read(name)).join(" ");
}
