// The signing form: the code, the consent, the signature. The marks are in marks.js, what comes after in signed.js.
"use strict";

const form = document.getElementById("form");
const code = form.elements.code;
const consent = form.elements.consent;
const problem = document.getElementById("problem");
const codeStatus = document.getElementById("code-status");
const signButton = form.querySelector("[data-sign]");
const summary = document.getElementById("problems");

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
consent.addEventListener("change", () => consent.checked && clearProblem("consent", consent));
form.querySelector('[href="#confirm"]').addEventListener("click", (event) => {
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
    markProblem("code", code, sentence(answer.error));
    moveOn(answer.error);
    return;
  }
  window.tell?.("code_sent");
  code.value = "";
  const time = new Intl.DateTimeFormat(words.locale, { timeStyle: "short" }).format(new Date());
  sentText = say("sent", { recipient: button.dataset.recipient, time });
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
  const checks = [
    ...marks.map((mark) => [mark.kind, mark.field, mark.missing()]),
    ["consent", consent, consent.checked ? "" : "consent_missing"],
    ["code", code, digits(code.value) ? "" : "code_missing"],
  ];
  problem.hidden = true;
  for (const [name, field, missing] of checks) {
    if (missing) markProblem(name, field, say(missing));
    else clearProblem(name, field);
  }
  const first = checks.find(([, , missing]) => missing);
  if (!first) return true;
  if (first[1].closest("#sign")) location.hash = "#sign";
  first[1].focus();
  return false;
}

function markProblem(name, field, text) {
  const told = document.getElementById(`problem-${name}`);
  told.textContent = text;
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
  const answer = await post("signature", given);
  signButton.disabled = false;
  signButton.textContent = label;
  if (!answer.error) {
    finish(answer);
    return;
  }
  if (["invalid_otp", "too_many_attempts"].includes(answer.error.code)) {
    if (answer.error.retry_after) lock(answer.error.retry_after);
    markProblem("code", code, sentence(answer.error));
    code.focus();
    code.select();
  } else {
    problem.textContent = sentence(answer.error);
    problem.hidden = false;
  }
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
  window.tell?.("error", { code: error.code });
  if (error.locked || ["already_signed", "expired", "not_your_turn", "not_found"].includes(error.code)) {
    location.replace(location.pathname + location.search);
  }
}

function sentence(error) {
  if (error.page_number) return say("unshown", { page: error.page_number, name: error.document });
  if (error.attempts_left) return say("tries_left", { count: error.attempts_left });
  if (error.retry_after) return say("code_locked_until", { time: timeAfter(error.retry_after) });
  if (error.code === "invalid_otp") return say("code_outdated");
  if (error.code === "failed" && !navigator.onLine) return say("offline");
  return say(error.code) || say("failed");
}

// On the signer's clock, and with the day where it is another.
function timeAfter(seconds) {
  const moment = new Date(Date.now() + seconds * 1000 + 59999);
  const day = moment.toDateString() === new Date().toDateString() ? undefined : "long";
  return new Intl.DateTimeFormat(words.locale, { dateStyle: day, timeStyle: "short" }).format(moment);
}

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

// A step that is opened has the focus, so that screen readers and keyboards go on from there.
addEventListener("hashchange", () => {
  const step = document.querySelector(location.hash === "#sign" || location.hash === "#confirm" ? location.hash : "none");
  if (!step) return;
  scrollTo(0, 0);
  const heading = step.querySelector("h1");
  if (!step.contains(document.activeElement)) heading.focus({ preventScroll: true });
});

if (!summary.hidden) summary.focus();
