// The signing form: asks for a code, gathers what the signer gives, hands it in.
"use strict";

const form = document.getElementById("sign");
const words = JSON.parse(document.getElementById("words").textContent);
const code = form.elements.code;
const consent = form.elements.consent;
const problem = document.getElementById("problem");
const codeStatus = document.getElementById("code-status");
const submit = form.querySelector("[type=submit]");

const marks = [...form.querySelectorAll(".mark")].map((box) => {
  const pad = new Pad(box.querySelector("canvas"));
  const drawn = () => box.querySelector("[value=drawn]").checked;
  box.addEventListener("change", () => {
    box.querySelector(".typed").hidden = drawn();
    box.querySelector(".drawn").hidden = !drawn();
    pad.draw();
  });
  box.querySelector(".clear").addEventListener("click", () => pad.clear());
  return {
    kind: box.dataset.kind,
    field: box.querySelector("[value=drawn]"),
    missing: () => drawn() && pad.empty,
    value: () => (drawn() ? { type: "drawn", strokes: pad.strokes } : { type: "typed" }),
  };
});

for (const button of form.querySelectorAll("[data-channel]")) {
  button.addEventListener("click", () => sendCode(button));
}
for (const picture of document.querySelectorAll(".paper img")) {
  picture.addEventListener("error", () => explain(picture));
  if (picture.complete && !picture.naturalWidth) explain(picture);
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (complete()) sign();
});

async function sendCode(button) {
  button.disabled = true;
  codeStatus.textContent = words.sending;
  const answer = await post("otp", { channel: button.dataset.channel });
  button.disabled = false;
  if (answer.error) {
    codeStatus.textContent = sentence(answer.error);
    reloadIfLocked(answer.error);
    return;
  }
  const told = answer.sandbox_code ? words.sandbox_code.replace("{code}", answer.sandbox_code) : "";
  codeStatus.textContent = `${words.sent} ${told}`;
  code.focus();
}

async function sign() {
  submit.disabled = true;
  submit.textContent = words.signing;
  const given = { code: code.value, consent: true, locale: form.dataset.locale };
  for (const mark of marks) given[mark.kind] = mark.value();
  const answer = await post("signature", given);
  submit.disabled = false;
  submit.textContent = words.sign;
  if (!answer.error) {
    finish();
    return;
  }
  say(answer.error);
  point(code, aboutCode(answer.error));
  reloadIfLocked(answer.error);
}

// The page says then why there is nothing to do here, until when, and whom to ask.
function reloadIfLocked(error) {
  if (error.locked) location.reload();
}

// Why there is no picture of a page: told where it can never be signed, tried again where the service was busy.
async function explain(picture) {
  const response = await fetch(picture.src).catch(() => null);
  if (response && response.status === 422) {
    say((await response.json()).error);
  } else if (!response || response.ok || response.status === 503) {
    const seconds = Number(response && response.headers.get("Retry-After")) || 10;
    setTimeout(() => { picture.src = picture.src; }, seconds * 1000);
  }
}

function say(error) {
  problem.textContent = sentence(error);
  problem.hidden = false;
}

// Says what is missing, and goes to the first of it.
function complete() {
  const checks = marks.map((mark) => [mark.field, `problem-${mark.kind}`, mark.missing()]);
  checks.push([consent, "problem-consent", !consent.checked]);
  checks.push([code, "problem-code", !/^\s*\d{3}\s?\d{3}\s*$/.test(code.value)]);
  problem.hidden = true;
  for (const [field, name, missing] of checks) {
    document.getElementById(name).hidden = !missing;
    point(field, missing);
  }
  const first = checks.find(([, , missing]) => missing);
  if (first) first[0].focus();
  return !first;
}

function point(field, wrong) {
  if (wrong) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

function aboutCode(error) {
  return ["invalid_otp", "too_many_attempts"].includes(error.code);
}

function sentence(error) {
  if (error.page_number) return words.unshown.replace("{page}", error.page_number).replace("{name}", () => error.document);
  if (error.attempts_left) return words.attempts_left.replace("{count}", error.attempts_left);
  if (aboutCode(error) && error.retry_after) return words.too_many_attempts.replace("{time}", timeAfter(error.retry_after));
  return words[error.code] || words[`${error.code}_text`] || words.failed;
}

// On the signer's clock, and with the day where it is another.
function timeAfter(seconds) {
  const moment = new Date(Date.now() + seconds * 1000 + 59999);
  const day = moment.toDateString() === new Date().toDateString() ? undefined : "long";
  return new Intl.DateTimeFormat(form.dataset.locale, { dateStyle: day, timeStyle: "short" }).format(moment);
}

function finish() {
  const done = document.getElementById("done");
  document.querySelector(".columns").hidden = true;
  document.querySelector("header").hidden = true;
  done.hidden = false;
  done.focus();
  window.scrollTo(0, 0);
}

async function post(what, body) {
  try {
    const response = await fetch(`/sign/${form.dataset.token}/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return await response.json();
  } catch {
    return { error: { code: "failed" } };
  }
}
