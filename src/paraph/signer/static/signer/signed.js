// After the signature: how far the request is, asked for as long as the page is looked at, and the copy once it is there.
"use strict";

const done = placeDone();
const progressBox = done.querySelector("[data-progress]");
const progressText = done.querySelector("[data-progress-text]");

function placeDone() {
  document.querySelector("main").insertAdjacentHTML("beforeend", words.done);
  const section = document.getElementById("done");
  for (const part of section.querySelectorAll("[data-fill]")) part.textContent = form.dataset[part.dataset.fill];
  const copy = section.querySelector("[data-each]");
  for (const title of document.querySelectorAll(".document h2")) {
    const name = document.createElement("bdi");
    name.textContent = title.textContent;
    section.querySelector("[data-names]").append(name);
    const own = copy.cloneNode(true);
    own.querySelector("bdi").textContent = title.textContent;
    own.firstChild.dataset.copy = `documents/${title.id.split("-")[1]}/copy.pdf`;
    copy.before(own);
  }
  copy.remove();
  return section;
}

function finish(answer) {
  for (const part of document.querySelectorAll(".steps, #read, #form, #problems")) part.hidden = true;
  document.body.dataset.state = "signed";
  window.tell?.("signed");
  done.hidden = false;
  const signed = new Date(answer.signed_at);
  const time = document.createElement("time");
  time.dateTime = answer.signed_at;
  time.title = answer.signed_at;
  time.textContent = new Intl.DateTimeFormat(words.locale, { dateStyle: "long", timeStyle: "long" }).format(signed);
  done.querySelector("[data-signed-at]").replaceChildren(time);
  history.replaceState(null, "", location.pathname + location.search);
  done.focus();
  scrollTo(0, 0);
  const until = Date.now() + 15 * 60 * 1000;
  follow(answer.ticket, until, 1000);
}

async function follow(ticket, until, pauseMs) {
  if (!document.hidden) {
    const state = await get("progress");
    if (state && state.progress) {
      showProgress(state, ticket);
      if (["ready", "expired"].includes(state.progress)) return;
    }
  }
  if (Date.now() < until) setTimeout(() => follow(ticket, until, Math.min(pauseMs * 1.3, 10000)), pauseMs);
}

function showProgress({ progress, others }, ticket) {
  const sentences = { waiting: () => say("waiting", { count: others }), sealing: () => say("sealing"), ready: () => say("sealed"), expired: () => say("request_expired") };
  const text = sentences[progress]();
  progressBox.dataset.progress = progress;
  if (progressText.textContent !== text) progressText.textContent = text;
  done.querySelector("[data-hint=waiting]").hidden = progress !== "waiting";
  done.querySelector("[data-hint=open]").hidden = progress === "ready" || progress === "expired";
  if (progress !== "ready" || !ticket) return;
  for (const link of done.querySelectorAll("[data-copy]")) link.href = `${base}/${link.dataset.copy}?ticket=${encodeURIComponent(ticket)}`;
  done.querySelector(".copies").hidden = false;
}
done.querySelector("[data-print]").addEventListener("click", () => print());

async function get(path) {
  try {
    return await (await fetch(`${base}/${path}`)).json();
  } catch {
    return null;
  }
}
