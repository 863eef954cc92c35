// What stamps cover, said anew by the service after each save.
"use strict";

const remarks = document.querySelector("[data-remarks]");

document.querySelector("[data-places]").addEventListener("saved", async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const now = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-remarks]");
  if (now && now.innerHTML !== remarks.innerHTML) remarks.replaceChildren(...now.childNodes);
});
