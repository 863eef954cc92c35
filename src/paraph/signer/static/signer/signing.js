// The signing form: the mark, the code, the signature, and what comes after it.
// with pad.js
// with reading.js
"use strict";

const form = document.getElementById("form");
const code = form.elements.code;
const consent = form.elements.consent;
const problem = document.getElementById("problem");
const codeStatus = document.getElementById("code-status");
const signButton = form.querySelector("[data-sign]");
const summary = document.getElementById("problems");

// What an approver reads in the place of what signers do.
const ownWords = form.dataset.words ? JSON.parse(form.dataset.words) : {};
Object.assign(words, ownWords);

const marks = [...form.querySelectorAll(".mark")].map((box) => {
  const kind = box.dataset.kind;
  const holder = box.querySelector(".drawn");
  const field = form.elements[`${kind}-strokes`];
  const drawnChoice = box.querySelector("[value=drawn]");
  const pad = new Pad(holder.querySelector("canvas"), () => {
    field.value = JSON.stringify(pad.strokes);
    if (pad.inked) clearProblem(kind, drawnChoice);
    if (kind === "signature") showStamp();
  });
  const choose = () => {
    for (const part of box.querySelectorAll(".typed")) part.hidden = drawnChoice.checked;
    holder.hidden = !drawnChoice.checked;
    pad.draw();
    clearProblem(kind, drawnChoice);
    if (kind === "signature") showStamp();
  };
  for (const radio of box.querySelectorAll("[name$=-type], [name$=-hand]")) radio.addEventListener("change", choose);
  const tools = {
    undo: () => pad.undo(),
    clear: () => pad.clear(),
    full: (button) => {
      const full = holder.classList.toggle("full");
      button.textContent = say(full ? "done_drawing" : "full_screen");
      button.focus();
    },
  };
  for (const button of holder.querySelectorAll("[data-tool]")) {
    button.addEventListener("click", () => tools[button.dataset.tool](button));
  }
  holder.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && holder.classList.contains("full")) tools.full(holder.querySelector("[data-tool=full]"));
  });
  return {
    kind,
    field: drawnChoice,
    restore: () => {
      if (field.value) pad.set(JSON.parse(field.value));
      else if (drawnChoice.checked) box.querySelector("[name$=-type][value=typed]").checked = true;
      choose();
    },
    missing: () => drawnChoice.checked && !pad.inked && (pad.empty ? `${kind}_missing` : "no_ink"),
    value: () => (drawnChoice.checked ? { type: "drawn", strokes: pad.strokes } : typed(box)),
  };
});

function typed(box) {
  const hand = box.querySelector("[name$=-hand]:checked");
  return hand && hand.value !== "1" ? { type: "typed", hand: Number(hand.value) } : { type: "typed" };
}

// The stamp as the service draws it, in both steps and in its places on the pages, from when one of these steps is seen.
// While there is no line in a drawing, nothing stands there: a name would pass for what is signed with.
let drawnStamps = 0;
let isStepSeen = false;

async function showStamp() {
  if (!isStepSeen) return;
  const ours = (drawnStamps += 1);
  const isMissing = Boolean(marks[0].missing());
  for (const box of document.querySelectorAll(".stamp, .summary .paper-scrap")) box.hidden = isMissing;
  if (isMissing) for (const place of document.querySelectorAll("a[data-place]")) {
    place.classList.remove("signed");
    place.querySelector("image")?.remove();
  }
  if (isMissing) return;
  const answer = await post(`stamp?lang=${words.locale}`, { signature: marks[0].value() });
  if (ours !== drawnStamps) return;
  if (answer.error?.code === "unavailable") setTimeout(() => ours === drawnStamps && showStamp(), 5000);
  if (!answer.svg) return;
  const pictures = [answer.svg, ...answer.others].map((svg) => `data:image/svg+xml,${encodeURIComponent(svg)}`);
  for (const shown of document.querySelectorAll("[data-stamp]")) [shown.src] = pictures;
  for (const place of document.querySelectorAll("a[data-place]")) {
    const box = place.querySelector("rect");
    let image = place.querySelector("image");
    if (!image) {
      image = document.createElementNS("http://www.w3.org/2000/svg", "image");
      for (const side of ["x", "y", "width", "height"]) image.setAttribute(side, box.getAttribute(side));
      place.append(image);
    }
    image.setAttribute("href", pictures[answer.places[place.dataset.place - 1]]);
    place.classList.add("signed");
  }
}

function seeStep() {
  if (isStepSeen || !marks.length || !document.getElementById(location.hash.slice(1))?.closest("#sign, #confirm")) return;
  isStepSeen = true;
  showStamp();
}

for (const button of form.querySelectorAll("[data-channel]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault();
    sendCode(button);
  });
}
signButton.addEventListener("click", (event) => {
  event.preventDefault();
  if (complete()) sign();
});
form.addEventListener("submit", (event) => {
  if (event.submitter && event.submitter.name === "lang") return; // a change of language keeps what was entered
  if (event.submitter && event.submitter.name === "do") return;
  event.preventDefault();
});
code.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  signButton.click();
});
code.addEventListener("input", () => digits(code.value) && clearProblem("code", code));
consent.addEventListener("change", () => consent.checked && holdBack());
form.querySelector('[href="#confirm"]')?.addEventListener("click", (event) => {
  const open = marks.find((mark) => mark.missing());
  if (!open) return;
  event.preventDefault();
  markProblem(open.kind, open.field, say(open.missing()));
  open.field.focus();
});

// The six digits in whatever was pasted, in any script; "" where there are not six.
function digits(text) {
  const found = [...text].flatMap((letter) => (/\p{Nd}/u.test(letter) ? [digit(letter)] : []));
  return found.length === 6 ? found.join("") : "";
}

function digit(letter) {
  let zero = letter.codePointAt(0);
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && letter.codePointAt(0) - zero < 9) zero -= 1;
  return String(letter.codePointAt(0) - zero);
}

async function sendCode(button) {
  if (waitTimer) return;
  button.disabled = true;
  codeStatus.textContent = say("sending");
  clearProblem("code", code);
  problem.hidden = true;
  const answer = await post("otp", { channel: button.dataset.channel, locale: words.locale });
  button.disabled = false;
  if (answer.error) {
    codeStatus.textContent = "";
    const isOurs = ["failed", "internal_error"].includes(answer.error.code);
    markProblem("code", code, `${isOurs ? `${say("code_not_sent")} ` : ""}${sentence(answer.error)}`);
    window.tell?.("error", { code: answer.error.code });
    moveOn(answer.error);
    return;
  }
  window.tell?.("code_sent");
  code.value = "";
  const time = writeTime(new Date(), { timeStyle: "short" });
  sentText = button.dataset.unsent || say("sent", { recipient: button.dataset.recipient, time });
  if (answer.sandbox_code) sentText += ` ${say("sandbox_code", { code: answer.sandbox_code })}`;
  codeStatus.textContent = sentText;
  form.querySelector("[data-send]").textContent = say("send_new_code");
  pause(30);
  code.focus();
}

// A new code may be asked for after half a minute: a mail takes a while, and each new code ends the one before.
let waitTimer = 0;
let sentText = codeStatus.textContent;
const countdown = document.createElement("span");
countdown.className = "quiet";
codeStatus.after(countdown);

function pause(seconds) {
  const buttons = form.querySelectorAll("[data-channel]");
  const until = Date.now() + seconds * 1000;
  clearInterval(waitTimer);
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    for (const button of buttons) button.disabled = left > 0;
    countdown.textContent = left > 0 ? say("new_code_in", { time: `0:${String(left).padStart(2, "0")}` }) : "";
    if (left > 0) return;
    clearInterval(waitTimer);
    waitTimer = 0;
  };
  waitTimer = setInterval(tick, 1000);
  tick();
}
if (Number(codeStatus.dataset.wait)) pause(Number(codeStatus.dataset.wait));

// Says what is missing beside its field, and goes to the first of it.
function complete() {
  if (window.filling && !filling.complete()) return false;
  const checks = [
    ...marks.map((mark) => [mark.kind, mark.field, say(mark.missing())]),
    ["consent", consent, unseen() || (consent.checked ? "" : say("consent_missing"))],
    ["code", code, digits(code.value) ? "" : say("code_missing")],
  ];
  problem.hidden = true;
  for (const [name, field, missing] of checks) {
    if (missing) markProblem(name, field, missing);
    else clearProblem(name, field);
  }
  const first = checks.find(([, , missing]) => missing);
  if (!first) return true;
  if (first[1].closest("#sign")) location.hash = "#sign";
  first[1].focus();
  return false;
}

// Nobody agrees to pages of which they could not see all.
const unseen = () => [...unread.values()][0];

function holdBack() {
  if (unseen()) {
    consent.checked = false;
    markProblem("consent", consent, unseen());
  } else clearProblem("consent", consent);
}
if (unread.size) holdBack();

function markProblem(name, field, text) {
  const told = document.getElementById(`problem-${name}`);
  told.replaceChildren(text); // put there anew, so that the same sentence is read out again
  told.hidden = false;
  field.setAttribute("aria-invalid", "true");
}

function clearProblem(name, field) {
  document.getElementById(`problem-${name}`).hidden = true;
  field.removeAttribute("aria-invalid");
}

async function sign() {
  const label = signButton.textContent;
  signButton.disabled = true;
  signButton.textContent = say("signing");
  const given = { code: digits(code.value), consent: true, locale: words.locale };
  for (const mark of marks) given[mark.kind] = mark.value();
  if (form.elements.esign_disclosure) given.esign_disclosure = form.elements.esign_disclosure.value;
  if (form.dataset.inPerson) given.in_person = form.dataset.inPerson;
  given.fields = window.filling?.values();
  textRequests.abort();
  const answer = await post("signature", given);
  signButton.disabled = false;
  signButton.textContent = label;
  if (!answer.error) {
    finish(answer);
    return;
  }
  textRequests = new AbortController();
  loadAllTexts();
  if (["invalid_otp", "too_many_attempts"].includes(answer.error.code)) {
    if (answer.error.retry_after) lock(answer.error.retry_after);
    if (answer.error.attempts_left === 0) pause(0);
    markProblem("code", code, sentence(answer.error));
    code.focus();
    code.select();
  } else if (!window.filling?.told(answer.error)) {
    problem.textContent = sentence(answer.error);
    problem.hidden = false;
  }
  window.tell?.("error", { code: answer.error.code });
  moveOn(answer.error);
}

// No code is taken for a while: what was entered stays, to go on with.
function lock(seconds) {
  document.body.dataset.state = "locked";
  signButton.disabled = true;
  setTimeout(() => {
    document.body.dataset.state = "ready";
    signButton.disabled = false;
  }, seconds * 1000);
}

// The page itself says why there is nothing to do here any more, until when, and whom to ask.
function moveOn(error) {
  const isOver = error && (error.locked || ["already_signed", "expired", "replaced", "not_your_turn", "not_found"].includes(error.code));
  if (isOver) location.replace(location.pathname + location.search);
  return isOver;
}

// The service says in the language of the page what it refused; what never came there, the page says itself.
function sentence(error) {
  return error.message || say(navigator.onLine ? "failed" : "offline");
}

// After the signature: how far the request is, asked for as long as the page is looked at, and the copy once it is there.
const done = placeDone();
const progressBox = done.querySelector("[data-progress]");
const progressText = done.querySelector("[data-progress-text]");

function placeDone() {
  document.querySelector("main").insertAdjacentHTML("beforeend", words.done);
  const section = document.getElementById("done");
  if (form.dataset.words) sayApproved(section);
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
  for (const way of ["onward", "back"]) {
    const part = section.querySelector(`[data-${way}]`);
    part.hidden = !form.dataset[way];
    if (!part.hidden) part.firstElementChild.href = form.dataset[way];
  }
  return section;
}

function sayApproved(section) {
  const [approver, , time] = section.querySelectorAll(".receipt dt");
  section.querySelector("h1").textContent = ownWords.signed_title;
  approver.textContent = ownWords.receipt_signer;
  time.textContent = ownWords.receipt_time;
}

function finish(answer) {
  if (form.dataset.inPerson) return void location.replace(location.pathname + location.search); // which gives the device back
  for (const part of document.querySelectorAll(".steps, #read, #form, #problems")) part.hidden = true;
  document.body.dataset.state = "signed";
  window.tell?.("signed");
  done.hidden = false;
  const signed = new Date(answer.signed_at);
  const time = document.createElement("time");
  time.dateTime = answer.signed_at;
  time.title = answer.signed_at;
  time.textContent = writeTime(signed, { dateStyle: "long", timeStyle: "long" });
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
    if (state && state.progress === "expired") return void location.replace(location.pathname + location.search);
    if (state && state.progress) {
      showProgress(state, ticket);
      if (state.progress === "ready") return;
    }
  }
  if (Date.now() < until) setTimeout(() => follow(ticket, until, Math.min(pauseMs * 1.3, 10000)), pauseMs);
}

function showProgress({ progress, others }, ticket) {
  const sentences = { waiting: () => say("waiting", { count: others }), sealing: () => say("sealing"), ready: () => say("sealed") };
  const text = sentences[progress]();
  progressBox.dataset.progress = progress;
  if (progressText.textContent !== text) progressText.textContent = text;
  for (const hint of done.querySelectorAll("[data-hint]")) hint.hidden = hint.dataset.hint !== progress;
  if (progress !== "ready" || !ticket) return;
  for (const link of done.querySelectorAll("[data-copy]")) link.href = `${base}/${link.dataset.copy}?ticket=${encodeURIComponent(ticket)}`;
  done.querySelector(".copies").hidden = false;
}
done.querySelector("[data-print]").addEventListener("click", () => print());

async function post(path, body) {
  try {
    const response = await fetch(`${base}/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    const ticket = response.headers.get("X-Copy-Ticket");
    return ticket ? { ...answer, ticket } : answer;
  } catch {
    return { error: { code: "failed" } };
  }
}

async function get(path) {
  try {
    return await (await fetch(`${base}/${path}`)).json();
  } catch {
    return null;
  }
}

// A step that is opened has the focus, so that screen readers and keyboards go on from there.
addEventListener("hashchange", () => {
  seeStep();
  const step = document.querySelector(location.hash === "#sign" || location.hash === "#confirm" ? location.hash : "none");
  if (!step) return;
  scrollTo(0, 0);
  const heading = step.querySelector("h1");
  if (!step.contains(document.activeElement)) heading.focus({ preventScroll: true });
});

// What a change of language or a reload puts back counts as entered; where a drawing is not among it, the name does.
for (const mark of marks) mark.restore();
seeStep();
if (!summary.hidden) summary.focus();
