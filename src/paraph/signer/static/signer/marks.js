// The signature and the initials of the signing form: drawn or typed, and shown as the stamp that they become.
"use strict";

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

// The stamp as the service draws it, in both steps and in its places on the pages.
let drawnStamps = 0;

async function showStamp() {
  const mark = marks[0].value();
  if (marks[0].missing()) return;
  const ours = (drawnStamps += 1);
  const answer = await post(`stamp?lang=${words.locale}`, { signature: mark });
  if (ours !== drawnStamps || !answer.svg) return;
  const picture = `data:image/svg+xml,${encodeURIComponent(answer.svg)}`;
  for (const shown of document.querySelectorAll("[data-stamp]")) shown.src = picture;
  for (const place of document.querySelectorAll("a[data-place]")) {
    const box = place.querySelector("rect");
    let image = place.querySelector("image");
    if (!image) {
      image = document.createElementNS("http://www.w3.org/2000/svg", "image");
      for (const side of ["x", "y", "width", "height"]) image.setAttribute(side, box.getAttribute(side));
      place.append(image);
    }
    image.setAttribute("href", picture);
    place.classList.add("signed");
  }
}

// What a change of language or a reload puts back counts as entered; where a drawing is not among it, the name does.
for (const mark of marks) mark.restore();
