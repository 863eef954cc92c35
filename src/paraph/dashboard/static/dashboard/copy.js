// Buttons that copy the text of an element: <button type="button" data-copy="id" hidden>. Without scripts they stay hidden.
if (navigator.clipboard)
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
    });
  }
