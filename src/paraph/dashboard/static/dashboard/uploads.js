// Uploads with progress: dropped or chosen files are sent one by one, each as the form alone would send it.
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

  form.addEventListener("submit", (event) => {
    if (event.submitter?.value !== "upload" || !field.files.length) return;
    event.preventDefault();
    sendAll([...field.files]);
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) sendAll([...event.dataTransfer.files]);
  });
}
