// What a reader has unfolded stays so when the part of the page around it comes anew.
"use strict";
{
  let open = [];
  document.addEventListener("htmx:beforeSwap", (event) => {
    open = [...event.target.querySelectorAll("details[open][id]")].map((each) => each.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  });
}
