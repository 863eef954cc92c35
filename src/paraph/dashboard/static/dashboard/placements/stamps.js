// The stamps, as they stand in the fields of the form: the fields are the only truth, whoever changes them.
"use strict";

const FIELDS = ["signer", "document", "page", "x", "y", "width", "height"];

class Stamp {
  constructor(card) {
    this.card = card;
    this.card.tabIndex = -1;
    this.fields = Object.fromEntries(FIELDS.map((name) => [name, card.querySelector(`[name$="-${name}"]`)]));
  }

  // Signer and document by their ids, the rest as numbers; NaN where a field holds none.
  get values() {
    const read = (name) => FIELDS.indexOf(name) < 2 ? this.fields[name].value : this.fields[name].valueAsNumber;
    return Object.fromEntries(FIELDS.map((name) => [name, read(name)]));
  }

  set values(changes) {
    for (const [name, value] of Object.entries(changes)) {
      const text = typeof value === "number" ? (Number.isNaN(value) ? "" : String(cents(value))) : value;
      if (this.fields[name].value !== text) this.fields[name].value = text;
    }
  }

  get whole() {
    const { page, x, y, width, height } = this.values;
    return Number.isInteger(page) && [x, y, width, height].every(Number.isFinite);
  }
}

class Stamps {
  constructor(form, blank) {
    this.total = form.querySelector("[name=stamp-TOTAL_FORMS]");
    this.list = form.querySelector("[data-list]");
    this.none = form.querySelector("[data-none]");
    this.blank = blank;
    this.all = [...this.list.querySelectorAll("[data-stamp]")].map((card) => new Stamp(card));
  }

  // Adds one with each of the values; returns the last.
  add(...each) {
    for (const values of each) {
      const card = this.blank.content.firstElementChild.cloneNode(true);
      card.dataset.stamp = "";
      this.list.append(card);
      const stamp = new Stamp(card);
      stamp.values = values;
      this.all.push(stamp);
    }
    this.number();
    return this.all.at(-1);
  }

  remove(...stamps) {
    for (const { card } of stamps) card.remove();
    this.all = this.all.filter((each) => !stamps.includes(each));
    this.number();
  }

  // The form's rows are counted from 0 without a gap, as the service reads them.
  number() {
    this.total.value = this.all.length;
    this.none.hidden = this.all.length > 0;
    this.all.forEach(({ card }, index) => {
      for (const part of card.querySelectorAll("[id], [name], [for], [aria-describedby]")) {
        for (const name of ["id", "name", "for", "aria-describedby"]) {
          const old = part.getAttribute(name);
          if (old) part.setAttribute(name, old.replace(/stamp-(\d+|__prefix__)-/g, `stamp-${index}-`));
        }
      }
      card.querySelector("[name=remove]").value = index;
      card.querySelector("legend").textContent = card.querySelector("legend").textContent.replace(/\d+|__n__/, index + 1);
    });
  }

  get snapshot() {
    return this.all.map((stamp) => stamp.values);
  }

  // Makes these the stamps; those that stay keep their place in the list.
  restore(snapshot) {
    this.remove(...this.all.slice(snapshot.length));
    this.all.forEach((stamp, index) => stamp.values = snapshot[index]);
    this.add(...snapshot.slice(this.all.length));
  }
}
