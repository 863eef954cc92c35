// What "Undo" and "Redo" go through: how the stamps stood after each change.
"use strict";

const MOST = 200;
const ONE_CHANGE = 1000; // ms: presses of a key within it are one change

class Changes {
  constructor(first) {
    this.states = [first];
    this.at = 0;
    this.last = { kind: "", time: 0 };
  }

  // Changes of the same kind that follow each other quickly are undone together.
  note(state, kind = "") {
    if (JSON.stringify(state) === JSON.stringify(this.states[this.at])) return false;
    const more = kind && kind === this.last.kind && Date.now() - this.last.time < ONE_CHANGE && this.at > 0;
    this.states.length = this.at + 1;
    if (more) this.states[this.at] = state;
    else this.states.push(state);
    if (this.states.length > MOST) this.states.shift();
    this.at = this.states.length - 1;
    this.last = { kind, time: Date.now() };
    return true;
  }

  // The state one step back (-1) or forward (1); null where there is none.
  step(by) {
    if (!this.can(by)) return null;
    this.at += by;
    this.last = { kind: "", time: 0 };
    return this.states[this.at];
  }

  can(by) {
    return this.states[this.at + by] !== undefined;
  }
}
