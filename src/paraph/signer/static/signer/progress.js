// After the signature, on a page that is opened again: shown anew as soon as the request is further.
"use strict";

const box = document.querySelector("[data-progress]");
const until = Date.now() + 15 * 60 * 1000;

async function follow(pauseMs) {
  if (!document.hidden) {
    const answer = await fetch(`${location.pathname.replace(/\/$/, "")}/progress`).catch(() => null);
    const now = answer && answer.ok ? await answer.json() : null;
    if (now && (now.progress !== box.dataset.progress || String(now.others) !== box.dataset.others)) {
      location.reload();
      return;
    }
  }
  if (Date.now() < until) setTimeout(() => follow(Math.min(pauseMs * 1.3, 10000)), pauseMs);
}
if (["waiting", "sealing"].includes(box.dataset.progress)) setTimeout(() => follow(1500), 1500);
