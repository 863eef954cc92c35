// Uploads begin when files are dropped or chosen, one by one with progress, each as the form alone would send it. A form
// that is sent as a whole, because it leads elsewhere, is sent by the browser.
"use strict";
for (const form of document.querySelectorAll("form[data-upload]")) {
  const field = form.querySelector("input[type=file]");
  const drop = form.querySelector("[data-drop]");
  const list = form.querySelector("[data-progress]");

  const line = (file) => {
    const label = document.createElement("label");
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    label.append(file.name, bar);
    list.append(label);
    return { label, bar };
  };

  const refusal = (page) => {
    const items = [...page.querySelectorAll("main [role=alert] li")];
    const alert = page.querySelector("main [role=alert]");
    return items.length ? items.map((item) => item.textContent).join(" ") : alert && alert.textContent;
  };

  const send = (file) => new Promise((done) => {
    const shown = line(file);
    const content = new FormData();
    content.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    content.append("action", "upload");
    content.append("file", file, file.name);
    const call = new XMLHttpRequest();
    call.open("POST", location.href); // form.action is the button of that name
    call.responseType = "document";
    call.upload.onprogress = (event) => {
      if (event.lengthComputable) shown.bar.value = event.loaded / event.total;
    };
    call.onloadend = () => {
      const taken = call.status >= 200 && call.status < 300;
      shown.bar.value = 1;
      if (!taken) {
        const words = document.createElement("span");
        words.className = "errorlist";
        words.setAttribute("role", "alert");
        words.textContent = (call.response && refusal(call.response)) || call.statusText || file.name;
        shown.bar.replaceWith(words);
      }
      done(taken);
    };
    call.send(content);
  });

  const sendAll = async (files) => {
    list.replaceChildren();
    let taken = true;
    for (const file of files) taken = await send(file) && taken;
    field.value = "";
    if (taken) location.reload();
  };

  const button = drop.querySelector("button");
  drop.classList.add("live"); // the button is all that one needs to see of the field
  field.tabIndex = -1;

  const sendWhole = () => {
    list.replaceChildren(...[...field.files].map((file) => {
      const shown = line(file);
      shown.bar.removeAttribute("value"); // it takes as long as it takes
      return shown.label;
    }));
    form.requestSubmit(button);
  };

  const begin = form.dataset.upload === "whole" ? sendWhole : () => sendAll([...field.files]);
  field.addEventListener("change", () => field.files.length && begin());
  button.addEventListener("click", (event) => {
    if (field.files.length || !event.isTrusted) return;
    event.preventDefault();
    field.click(); // without scripts, it sends what was chosen before
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    field.files = event.dataTransfer.files;
    begin();
  });
}
