// Calls with a sandbox key, to the service that this page came from. The key is a variable and a field of this page,
// kept nowhere else; a key of another environment is asked for that environment alone, then forgotten.

const KEY = /^[0-9a-f]{64}$/;
const forms = [...document.querySelectorAll(".try form")];
const keys = forms.map((form) => form.elements.key);
const remembered = "paraph-made";
let confirmed = ""; // the key of which the service said that it is the sandbox's

class Refused extends Error {}

for (const form of forms) {
  form.closest(".try").hidden = false;
  form.elements.key.addEventListener("input", (event) => share(event.target.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form);
  });
}
addEventListener("pagehide", forget); // a page that is kept to go back to keeps no key

function share(key) {
  for (const input of keys) if (input.value !== key) input.value = key;
}

function forget() {
  confirmed = "";
  share("");
}

async function attempt(form) {
  const outcome = form.parentElement.querySelector(".outcome");
  const button = form.querySelector("button");
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  outcome.replaceChildren();
  try {
    const key = form.elements.key.value.trim();
    await requireSandbox(key);
    const call = callOf(form);
    const begun = performance.now();
    const answer = await fetch(call.path, { ...call, headers: { ...call.headers, "X-Api-Key": key } });
    const text = await answer.text();
    outcome.replaceChildren(...shown(call, answer, text, Math.round(performance.now() - begun)));
    if (answer.ok && text) useIds(form.dataset.operation, text);
  } catch (problem) {
    const words = problem instanceof Refused ? problem.message : "The service cannot be reached. Check your connection.";
    outcome.replaceChildren(element("p", "problem", words));
  } finally {
    form.parentElement.querySelector("[role=status]").textContent = outcome.querySelector("p").textContent;
    button.removeAttribute("aria-disabled");
  }
}

async function requireSandbox(key) {
  if (!KEY.test(key)) throw new Refused("A key is 64 hexadecimal characters. Nothing was sent.");
  if (key === confirmed) return;
  const answer = await fetch("/api/v1/health", { headers: { "X-Api-Key": key } });
  const { environment, error } = await answer.json();
  if (environment === "sandbox") {
    confirmed = key;
  } else if (environment === "production" || answer.status === 402) {
    forget();
    throw new Refused("This is a production key. The call was not made, and the key is forgotten: use a sandbox key.");
  } else {
    throw new Refused(`The call was not made: ${error ? error.message : "the service does not know this key."}`);
  }
}

function callOf(form) {
  const call = { method: form.dataset.method, path: form.dataset.path, headers: {} };
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("[data-parameter]")) {
    const value = input.value.trim();
    if (input.dataset.parameter === "header") {
      if (value) call.headers[input.name] = value;
    } else if (call.path.includes(`{${input.name}}`)) call.path = call.path.replace(`{${input.name}}`, encodeURIComponent(value));
    else if (value) query.set(input.name, value);
  }
  if (query.size) call.path += `?${query}`;
  if (form.elements.file) return { ...call, ...upload(form.elements.file) };
  if (!form.elements.body) return call;
  const body = form.elements.body.value;
  return { ...call, headers: { ...call.headers, "Content-Type": "application/json" }, body, told: body };
}

function upload(input) {
  const file = input.files[0] ?? new File([input.dataset.emptyPdf], "empty.pdf", { type: "application/pdf" });
  const body = new FormData();
  body.set("file", file);
  return { body, told: `file: ${file.name}, ${file.type || "no type"}, ${file.size} bytes` };
}

function shown(call, answer, text, milliseconds) {
  const key = "X-Api-Key: ••••••••";
  const sent = [`${call.method} ${call.path}`, key, ...Object.entries(call.headers).map((each) => each.join(": "))];
  const status = element("p", "answered");
  status.append(element("span", answer.ok ? "status" : "status bad", `${answer.status}`), ` ${answer.statusText} in ${milliseconds} ms`);
  return [
    status,
    part("Body of the answer", linked(indented(text)), true),
    part("Headers of the answer", [[...answer.headers].map((each) => each.join(": ")).join("\n")]),
    part("Request", [sent.join("\n") + (call.told ? `\n\n${call.told}` : "")]),
  ];
}

function part(title, content, open = false) {
  const details = element("details");
  details.open = open;
  const pre = element("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", title);
  pre.append(...content);
  details.append(element("summary", "", title), pre);
  return details;
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Addresses in the answer, such as signing_url, as links.
function linked(text) {
  return text.split(/(https?:\/\/[^"\s]+)/).map((piece, place) => {
    if (place % 2 === 0) return piece;
    const link = element("a", "", piece);
    link.href = piece;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    return link;
  });
}

// What was made in this tab is what the other calls are about, on other pages too: numbers, and no key.
function useIds(operation, text) {
  const { id, signers } = JSON.parse(text);
  const made = {
    uploadDocument: { document_id: id },
    createSignatureRequest: { request_id: id, signer_id: signers?.[0].id },
    sendTemplate: { request_id: id, signer_id: signers?.[0].id },
    createTemplate: { template_id: id },
  }[operation];
  if (!made) return;
  fillIn(made);
  try {
    sessionStorage.setItem(remembered, JSON.stringify({ ...kept(), ...made }));
  } catch {} // storage is turned off: they hold for this page
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(remembered)) ?? {};
  } catch {
    return {};
  }
}

function fillIn({ document_id, request_id, signer_id, template_id }) {
  if (document_id) {
    fill(["document_id"], document_id);
    const bodies = forms.map((form) => form.elements.body).filter(Boolean);
    for (const body of bodies) body.value = body.value.replace(/("documents": \[\s*\{\s*"id": )\d+/, `$1${document_id}`);
  }
  if (request_id) {
    fill(["request_id", "signature_request_id"], request_id);
    fill(["signer_id"], signer_id);
  }
  if (template_id) fill(["template_id"], template_id);
}

function fill(names, id) {
  for (const form of forms) for (const name of names) if (form.elements[name]) form.elements[name].value = id;
}

function element(tag, name = "", text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

fillIn(kept());
