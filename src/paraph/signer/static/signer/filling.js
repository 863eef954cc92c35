// The step «Fill in»: what is entered is kept as soon as an input is left, and shown where it will stand.
// with signing.js
"use strict";

const fillStep = document.getElementById("fill");
const entries = [...fillStep.querySelectorAll("[data-place]")].filter((entry) => !entry.readOnly && !entry.disabled);
const nextEmpty = fillStep.querySelector("[data-next-empty]");
const still = fillStep.querySelector("[data-still]");
const unsaved = new Set();

const PLAIN = [fillStep.dataset.missing, fillStep.dataset.unticked, fillStep.dataset.noDate];

const entryValue = (entry) => (entry.type === "checkbox" ? entry.checked : entry.value);
const isEmpty = (entry) => (entry.type === "checkbox" ? !entry.checked : !entry.value.trim());
const problemOf = (entry) => document.getElementById(`problem-${entry.id}`);
const placeOf = (entry) => document.getElementById(entry.dataset.place);

function given(entry) {
  const [, documentId, name] = entry.name.match(/^field-(\d+)-([^]*)$/);
  return { document_id: Number(documentId), name, value: entryValue(entry) };
}

// What is plain without the service: a field that is empty and must not be, a date that is half there.
function plainProblem(entry) {
  if (entry.validity.badInput) return fillStep.dataset.noDate;
  if (!entry.required || !isEmpty(entry)) return "";
  return entry.type === "checkbox" ? fillStep.dataset.unticked : fillStep.dataset.missing;
}

const isOpen = (entry) => plainProblem(entry) || entry.getAttribute("aria-invalid") === "true";

// As the last step lists it.
function said(entry) {
  if (entry.type === "checkbox") return entry.checked ? "✓" : "—";
  if (entry.type === "date" && entry.value) return writeTime(new Date(entry.value), { dateStyle: "long", timeZone: "UTC" });
  return entry.value.trim() || "—";
}

function count() {
  const open = entries.filter(isOpen);
  const text = open.length ? fillStep.dataset.left.replace("{left}", open.length) : fillStep.dataset.allFilled;
  if (still.textContent !== text) still.textContent = text;
  nextEmpty.hidden = !open.length;
}

function tellEntry(entry, text) {
  if (text) markProblem(entry.id, entry, text);
  else clearProblem(entry.id, entry);
}

// One after the other, so that the last value of each stays.
let saving = Promise.resolve();
let retry = 0;

function save(entry) {
  unsaved.add(entry);
  saving = saving.then(send);
}

async function send() {
  const sent = [...unsaved].map((entry) => [entry, given(entry)]);
  if (!sent.length || document.body.dataset.state === "signed") return;
  const answer = await post("fields", { fields: sent.map(([, field]) => field), locale: words.locale });
  if (answer.error) {
    if (moveOn(answer.error)) return;
    if (answer.error.code === "validation_error") unsaved.clear(); // the signature says what is wrong
    still.textContent = fillStep.dataset.failed;
    clearTimeout(retry);
    retry = setTimeout(() => { saving = saving.then(send); }, 5000);
    return;
  }
  for (const [index, [entry, field]] of sent.entries()) {
    if (entryValue(entry) !== field.value) continue; // changed meanwhile: its own answer follows
    unsaved.delete(entry);
    tellEntry(entry, answer.fields[index].message || (entry.validity.badInput ? fillStep.dataset.noDate : ""));
    showValue(entry, answer.fields[index]);
  }
  count();
}
addEventListener("online", () => { saving = saving.then(send); });

// All values of a page are one picture, which is replaced as soon as the next one is there.
function showValue(entry, { svg, page }) {
  const place = placeOf(entry);
  const values = place.ownerSVGElement;
  const label = entry.labels[0].textContent.trim();
  const said = svg && entry.type !== "checkbox" ? `${label}: ${entry.value}` : label;
  const shown = () => {
    place.classList.toggle("filled", Boolean(svg));
    place.setAttribute("aria-label", said);
    if (values.dataset.wanted === (page || "")) values.querySelector(":scope > image")?.remove();
    if (!page || values.dataset.wanted !== page) return;
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    for (const side of ["width", "height"]) image.setAttribute(side, "100%");
    image.setAttribute("href", page);
    values.prepend(image);
  };
  values.dataset.wanted = page || "";
  if (!page) {
    shown();
    return;
  }
  const picture = new Image();
  picture.addEventListener("load", shown);
  picture.src = page;
}

// Where the pages stand beside the step, the place comes into sight.
const isBeside = () => read.offsetParent !== null;
const showPlace = (entry) => bring(placeOf(entry));

function goTo(entry) {
  if (location.hash !== "#fill") location.hash = "#fill";
  entry.focus();
  entry.scrollIntoView({ block: "center" });
}

for (const entry of entries) {
  entry.addEventListener("change", () => save(entry));
  entry.addEventListener("input", () => {
    document.querySelector(`[data-value-of=${entry.id}]`).textContent = said(entry);
    if (!plainProblem(entry) && PLAIN.includes(problemOf(entry).textContent)) tellEntry(entry, "");
    count();
  });
  entry.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || entry.tagName === "TEXTAREA") return;
    event.preventDefault(); // as on leaving: no step is sent by accident
    const following = entries[entries.indexOf(entry) + 1];
    if (following) following.focus();
    else fillStep.querySelector("[data-continue]").focus();
  });
}
for (const entry of fillStep.querySelectorAll("[data-place]")) {
  entry.addEventListener("focus", () => isBeside() && showPlace(entry));
  entry.closest(".entry").querySelector(".rules a").addEventListener("click", (event) => {
    if (!isBeside()) return;
    event.preventDefault();
    showPlace(entry);
  });
}
nextEmpty.addEventListener("click", (event) => {
  event.preventDefault();
  const open = entries.filter(isOpen);
  const at = entries.indexOf(document.activeElement);
  const ahead = open.find((entry) => entries.indexOf(entry) > at) || open[0];
  if (ahead) goTo(ahead);
});

// What the signing form asks of the step.
window.filling = {
  values: () => entries.map(given),
  complete() {
    for (const entry of entries) if (plainProblem(entry)) tellEntry(entry, plainProblem(entry));
    const first = entries.find(isOpen);
    count();
    if (first) goTo(first);
    return !first;
  },
  // Whether a refusal was about entries, which then say so.
  told(error) {
    const wrong = new Map((error.fields || []).map((each) => [`field-${each.document_id}-${each.name}`, each.message]));
    const found = entries.filter((entry) => wrong.has(entry.name));
    for (const entry of found) tellEntry(entry, wrong.get(entry.name));
    count();
    if (found.length) goTo(found[0]);
    return found.length > 0;
  },
};

// Another language shows the same step.
form.addEventListener("submit", (event) => {
  if (event.submitter?.name === "lang") form.action = form.action.replace(/#.*/, location.hash || "#read");
});

fillStep.querySelector("[data-continue]").addEventListener("click", (event) => {
  event.preventDefault();
  saving = saving.then(send).then(() => {
    if (window.filling.complete()) location.hash = "#sign";
  });
});

addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target === fillStep && !fillStep.contains(document.activeElement)) {
    scrollTo(0, 0);
    fillStep.querySelector("h1").focus({ preventScroll: true });
  } else if (target?.matches("#fill [data-place]")) {
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "center" });
  }
});
count();
