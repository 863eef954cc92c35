// What the site is told that shows this page in a frame (docs/embedding.md). Never a token, nor what was entered.
"use strict";

const framedBy = (document.body.dataset.frameOrigins || "").split(" ").filter(Boolean);

// To each site that may frame the page, by name. Where any may, who it is cannot be known: they get the type alone.
function tell(type, data) {
  if (parent === window) return;
  if (!framedBy.length) parent.postMessage({ type: `paraph:${type}` }, "*");
  for (const origin of nearest()) parent.postMessage({ ...data, type: `paraph:${type}` }, origin);
}

// Where the browser says who frames the page, the others on the list need no message, which would be an error in the log.
function nearest() {
  const host = location.ancestorOrigins && location.ancestorOrigins[0];
  return framedBy.includes(host) ? [host] : framedBy;
}

const OPENINGS = {
  ready: ["ready"],
  not_your_turn: ["not_your_turn"],
  expired: ["expired"],
  withdrawn: ["expired"],
  already_signed: ["already_signed"],
  locked: ["error", { code: "too_many_attempts" }],
  not_found: ["error", { code: "not_found" }],
  replaced: ["error", { code: "replaced" }],
};
if (OPENINGS[document.body.dataset.state]) tell(...OPENINGS[document.body.dataset.state]);

new ResizeObserver(() => {
  tell("height", { height: Math.ceil(document.documentElement.getBoundingClientRect().height) });
}).observe(document.documentElement);

// That somebody is at work here, so that the host does not end their session; every 10 seconds at most.
let toldAt = 0;
function active() {
  if (Date.now() - toldAt < 10000) return;
  toldAt = Date.now();
  tell("activity");
}
for (const event of ["pointerdown", "keydown", "scroll"]) addEventListener(event, active, { passive: true });
