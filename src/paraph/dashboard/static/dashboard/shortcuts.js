// "/" goes to the search, "n" begins a new request, "?" shows these keys; never while somebody types.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [contenteditable]")) return;
  const sheet = document.getElementById("shortcuts");
  if (event.key === "?") sheet.togglePopover();
  else if (event.key === "/") {
    const search = document.querySelector("[type=search]");
    if (search) search.focus();
    else location.assign(sheet.dataset.search);
  } else if (event.key === "n") document.getElementById("new-request")?.requestSubmit();
  else return;
  event.preventDefault();
});
