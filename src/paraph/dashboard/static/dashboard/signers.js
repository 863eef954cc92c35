// Completes a signer whose address is known from earlier requests. What somebody typed stays; what stood for another
// address makes way.
"use strict";
document.addEventListener("input", (event) => {
  const row = event.target.closest("[data-signer]");
  if (!row || !event.target.name.endsWith("-email")) return;
  const address = event.target.value.trim().toLowerCase();
  const known = [...document.querySelectorAll("#earlier option")].find((option) => option.value.toLowerCase() === address);
  if (!known) return;
  const complete = (name, value) => {
    const field = row.querySelector(`[name$="-${name}"]`);
    if (field && (!field.value || field.value === field.dataset.known)) field.value = field.dataset.known = value;
  };
  complete("first_name", known.dataset.firstName);
  complete("last_name", known.dataset.lastName);
  complete("phone", known.dataset.phone);
});
