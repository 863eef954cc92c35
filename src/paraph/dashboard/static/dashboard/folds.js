// What a reader has unfolded stays so when the part of the page around it comes anew. A menu closes by Escape, and by a
// press beside it.
"use strict";
{
  let open = [];
  document.addEventListener("htmx:beforeSwap", (event) => {
    open = [...event.target.querySelectorAll("details[open][id]")].map((each) => each.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  });
  const close = (kept) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(kept)) menu.open = false;
  };
  document.addEventListener("click", (event) => close(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement.closest("details.menu[open]")?.querySelector("summary").focus();
    close(null);
  });
}
