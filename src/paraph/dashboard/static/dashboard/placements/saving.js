// Saves the form after each change, as its button would, and says so. One save at a time: the last state wins.
"use strict";

const PAUSE = 700; // ms without a change

class Saving {
  constructor(form, shown, stamps) {
    this.form = form;
    this.shown = shown;
    this.stamps = stamps;
    this.running = null;
    this.waiting = 0;
    form.addEventListener("submit", (event) => this.submitted(event));
    addEventListener("pagehide", () => this.waiting && this.send());
  }

  soon() {
    clearTimeout(this.waiting);
    this.say("");
    this.waiting = setTimeout(() => this.save(), PAUSE);
  }

  async save() {
    if (this.running) {
      this.soon();
      return;
    }
    this.running = this.send();
    const state = await this.running;
    this.running = null;
    if (!this.waiting) this.say(state); // else there is more to be saved, and the next save tells
  }

  // What the form's answer means: 303 is saved, 422 is refused, anything else is a fault.
  async send() {
    clearTimeout(this.waiting);
    this.waiting = 0;
    const content = new URLSearchParams(new FormData(this.form));
    content.set("action", "save");
    try {
      const answer = await fetch(location.href, { method: "POST", body: content, redirect: "manual", keepalive: true });
      if (answer.type !== "opaqueredirect" && answer.status !== 422) return "lost";
      this.tell(answer.status === 422 ? new DOMParser().parseFromString(await answer.text(), "text/html") : null);
      return answer.status === 422 ? "refused" : "saved";
    } catch {
      return "lost";
    }
  }

  // What is wrong with a number stands beside it, as on the page that refuses it; null where nothing is.
  tell(page) {
    for (const { fields } of this.stamps.all) {
      for (const field of Object.values(fields)) {
        const refused = page?.getElementById(field.id);
        const words = refused?.closest(".field")?.querySelector(".errorlist");
        const place = field.closest(".field");
        place?.querySelector(".errorlist")?.remove();
        if (words) {
          words.id = `${field.id}_error`;
          place.append(document.adoptNode(words));
          field.closest("details")?.setAttribute("open", "");
        }
        field.toggleAttribute("aria-invalid", false);
        if (words) field.setAttribute("aria-invalid", "true");
        if (words) field.setAttribute("aria-describedby", words.id);
        else field.removeAttribute("aria-describedby");
      }
    }
  }

  async submitted(event) {
    clearTimeout(this.waiting);
    this.waiting = 0;
    if (!this.running) return;
    event.preventDefault();
    await this.running;
    this.running = null;
    this.form.requestSubmit(event.submitter);
  }

  say(state) {
    this.shown.textContent = state ? this.shown.dataset[state] : "";
    this.shown.classList.toggle("errorlist", state !== "saved");
    if (state) this.form.dispatchEvent(new Event(state));
  }
}
