// Fills the empty fields of a signer whose address was chosen among those of earlier requests.
"use strict";
document.addEventListener("change", (event) => {
  const row = event.target.closest("[data-signer]");
  if (!row || !event.target.name.endsWith("-email")) return;
  const known = [...document.querySelectorAll("#earlier option")].find((option) => option.value === event.target.value);
  if (!known) return;
  const fill = (name, value) => {
    const field = row.querySelector(`[name$="-${name}"]`);
    if (field && !field.value) field.value = value;
  };
  fill("first_name", known.dataset.firstName);
  fill("last_name", known.dataset.lastName);
  fill("phone", known.dataset.phone);
});
