// Files in the field "Only compare" are hashed here; the field has no name, so no browser sends them.
"use strict";

const form = document.querySelector("[data-verify]");
const field = form?.querySelector("#compared");
const problem = form?.querySelector("[data-problem]");

// A digest that is still being computed when the form is sent must not be missing from it.
let latest = Promise.resolve();

function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function digests(files) {
  const inputs = [];
  for (const file of files) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = "compared";
    input.value = `${hex(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()))} ${file.size} ${file.name.slice(0, 200)}`;
    inputs.push(input);
  }
  return inputs;
}

if (field && globalThis.crypto?.subtle) {
  form.querySelector("[data-compare]").hidden = false;
  form.querySelector("[data-without]").hidden = true;
  const holder = form.querySelector("[data-digests]");
  const read = () => {
    const chosen = [...field.files];
    problem.hidden = true;
    holder.replaceChildren();
    const reading = digests(chosen);
    latest = reading;
    reading.then(
      (inputs) => latest === reading && holder.replaceChildren(...inputs),
      () => latest === reading && ((problem.hidden = false), (field.value = "")),
    );
  };
  field.addEventListener("change", read);
  form.addEventListener("submit", async (event) => {
    if (holder.children.length === field.files.length) return;
    event.preventDefault();
    try {
      await latest;
    } catch {
      return;
    }
    form.requestSubmit();
  });
  if (field.files.length) read(); // a browser that goes back keeps what was chosen
}
document.querySelector("[data-print]")?.addEventListener("click", () => print());
document.querySelector("[data-verdict]")?.focus();
