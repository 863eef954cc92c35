// The stamps and the fields of signers, as they stand in the form: it is the only truth, whoever changes it.
"use strict";

const PLACE = ["signer", "document", "page", "x", "y", "width", "height"];
const ASKED = ["type", "name", "label", "required", "options", "value", "ticked", "read_only", "max_length", "minimum", "maximum", "font_size"];
const NUMBERS = PLACE.slice(2);

class Stamp {
  constructor(card) {
    this.card = card;
    this.card.tabIndex = -1;
    this.isField = "fieldId" in card.dataset;
    for (const fold of card.querySelectorAll("[data-fold]")) fold.open = Boolean(fold.querySelector(".errorlist"));
    const names = this.isField ? [...PLACE, ...ASKED] : PLACE;
    this.fields = Object.fromEntries(names.map((name) => [name, card.querySelector(`[name$="-${name}"]`)]));
  }

  // Signer and document by their ids, places as numbers, NaN where a field holds none, the rest as it was entered.
  get values() {
    const read = ([name, field]) => [name, NUMBERS.includes(name) ? field.valueAsNumber : field.type === "checkbox" ? field.checked : field.value];
    return Object.fromEntries(Object.entries(this.fields).map(read));
  }

  set values(changes) {
    for (const [name, field] of Object.entries(this.fields)) {
      if (!(name in changes)) continue;
      const value = changes[name];
      const text = typeof value === "number" ? (Number.isNaN(value) ? "" : String(cents(value))) : value;
      if (field.type === "checkbox") field.checked = value;
      else if (field.value !== text) field.value = text;
    }
  }

  get whole() {
    const { page, x, y, width, height } = this.values;
    return Number.isInteger(page) && [x, y, width, height].every(Number.isFinite);
  }
}

class Stamps {
  constructor(form, blanks) {
    this.totals = ["stamp", "field"].map((kind) => form.querySelector(`[name=${kind}-TOTAL_FORMS]`));
    this.list = form.querySelector("[data-list]");
    this.blanks = blanks;
    this.all = [...this.list.querySelectorAll(".stamp")].map((card) => new Stamp(card));
  }

  of(isField) {
    return this.all.filter((each) => each.isField === isField);
  }

  // Adds one with each of the values, a field where they have a type; returns the last.
  add(...each) {
    for (const values of each) {
      const card = this.blanks[values.type ? 1 : 0].content.firstElementChild.cloneNode(true);
      card.dataset[values.type ? "fieldId" : "stamp"] = "";
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

  // The rows of each kind are counted from 0 without a gap, as the service reads them.
  number() {
    for (const [index, kind] of ["stamp", "field"].entries()) {
      const rows = this.of(index === 1), row = new RegExp(`${kind}-(\\d+|__prefix__)-`, "g");
      this.totals[index].value = rows.length;
      rows.forEach(({ card }, at) => {
        for (const part of card.querySelectorAll("[id], [name], [for], [aria-describedby]")) {
          for (const name of ["id", "name", "for", "aria-describedby"]) {
            const old = part.getAttribute(name);
            if (old) part.setAttribute(name, old.replace(row, `${kind}-${at}-`));
          }
        }
        if (index) card.dataset.fieldId = `field-${at}`;
        card.querySelector("[name^=remove]").value = at;
        card.querySelector("legend").textContent = card.querySelector("legend").textContent.replace(/\d+|__n__/, at + 1);
      });
    }
  }

  get snapshot() {
    return this.all.map((stamp) => stamp.values);
  }

  // Makes these what there is; those that stay keep their place in the list.
  restore(snapshot) {
    const same = this.all.findIndex((stamp, index) => !snapshot[index] || stamp.isField !== "type" in snapshot[index]);
    this.remove(...this.all.slice(same < 0 ? this.all.length : same));
    this.all.forEach((stamp, index) => stamp.values = snapshot[index]);
    this.add(...snapshot.slice(this.all.length));
  }

  // The name, with -2, -3 … at its end where the signer has it on the document already.
  freeName(values, except = null) {
    return this.freeNames(values, 1, except)[0];
  }

  freeNames({ signer, document, name }, count, except = null) {
    const taken = new Set(this.of(true).filter((each) => each !== except).map((each) => each.values)
      .filter((each) => each.signer === signer && each.document === document).map((each) => each.name));
    const candidate = (number) => number < 2 ? name : `${name.slice(0, 100 - String(-number).length)}-${number}`;
    const names = [];
    for (let number = 1; names.length < count; number += 1) if (!taken.has(candidate(number))) names.push(candidate(number));
    return names;
  }
}
