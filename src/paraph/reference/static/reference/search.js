// Search over headings, calls, fields, errors and events of all topics. The index is made of the page that has them all,
// which is loaded when it is first wanted. It also knows where an anchor of another topic stands.

const form = document.querySelector(".search");
const input = form.querySelector("input");
const list = form.querySelector(".results");
const status = form.querySelector("[role=status]");
const MOST = 40;

const plain = (text) => text.toLowerCase().replace(/[\s_.\-[\]{}/"“”‘’']+/g, " ").trim();
const words = (element) => (element ? element.textContent.replace(/\s+/g, " ").trim() : "");

let loading = null;
const whole = () =>
  "whole" in document.documentElement.dataset
    ? document
    : (loading ??= fetch("/docs/all")
        .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.statusText))))
        .then((html) => new DOMParser().parseFromString(html, "text/html")));

// The first topic stands at /docs, below the title.
function addressOf(element) {
  if (document.getElementById(element.id)) return `#${element.id}`;
  const topic = element.closest("section").getAttribute("aria-labelledby");
  const page = ["title", "start"].includes(topic) ? "/docs" : `/docs/${topic}`;
  return topic === element.id ? page : `${page}#${element.id}`;
}

async function follow() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id || document.getElementById(id)) return;
  const found = (await whole()).getElementById(id);
  if (found) location.replace(addressOf(found));
}

function* headings(page) {
  for (const heading of page.querySelectorAll("main h2, main h3")) {
    const part = heading.closest("article, section");
    const [method, path] = ["method", "route code"].map((name) => words(part.querySelector(`.${name}`)));
    const isCall = heading.tagName === "H3" && path;
    const above = heading.tagName === "H3" ? words(heading.closest("section").querySelector("h2")) : "";
    const told = [...part.querySelectorAll(isCall ? ".words > p" : "p")].slice(0, 12).map(words).join(" ");
    yield { title: words(heading), context: isCall ? `${method} ${path}` : above, told, address: addressOf(heading), weight: 3 };
  }
}

function* rows(page) {
  for (const row of page.querySelectorAll("main tr[id]")) {
    const part = row.closest("article, section");
    const context = words(part.querySelector("h3, h2"));
    const [status, code] = [row.querySelector("th .status"), row.querySelector("th code")].map(words);
    const above = words(row.querySelector("th .hidden"));
    const told = [...row.querySelectorAll("td")].map(words).join(" ");
    yield status
      ? { title: `${status} ${code}`, context, told, address: addressOf(row), weight: row.closest(".errors") ? 2 : 1 }
      : { title: `${above}${code}`, context: words(row.closest("table").caption), told, address: addressOf(row), weight: 1 };
  }
}

let index = null;
async function entries() {
  const page = await whole();
  return (index ??= [...headings(page), ...rows(page)].map((entry) => ({
    ...entry,
    name: plain(entry.title),
    last: plain(entry.title.split(".").at(-1)),
    label: plain(`${entry.title} ${entry.context}`),
    all: plain(`${entry.title} ${entry.context} ${entry.told}`),
  })));
}

function rank(entry, asked) {
  if (!asked.split(" ").every((word) => entry.all.includes(word))) return 0;
  if (entry.name === asked || entry.last === asked) return 40 + entry.weight;
  if (entry.name.startsWith(asked) || entry.last.startsWith(asked)) return 30 + entry.weight;
  if (entry.name.includes(asked)) return 20 + entry.weight;
  if (entry.label.includes(asked)) return 15 + entry.weight;
  return entry.all.includes(asked) ? 10 + entry.weight : entry.weight;
}

function item(entry) {
  const link = document.createElement("a");
  link.href = entry.address;
  for (const [name, text] of [["title", entry.title], ["context", entry.context]]) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    link.append(part, " ");
  }
  const row = document.createElement("li");
  row.append(link);
  return row;
}

async function search() {
  const asked = plain(input.value);
  let found = [];
  let words = "";
  try {
    if (asked) found = ranked(await entries(), asked);
    words = asked && told(found.length);
  } catch {
    loading = null; // the next letter tries again
    words = "The service cannot be reached. Check your connection.";
  }
  if (asked !== plain(input.value)) return; // more was typed meanwhile
  list.replaceChildren(...found.slice(0, MOST).map((each) => item(each.entry)));
  list.hidden = !found.length;
  status.textContent = words;
  status.classList.toggle("hidden", !(asked && !found.length));
}

const ranked = (all, asked) =>
  all
    .map((entry) => ({ entry, rank: rank(entry, asked) }))
    .filter((each) => each.rank > 0)
    .sort((one, other) => other.rank - one.rank);

const told = (count) => (count === 0 ? `No results for “${input.value.trim()}”.` : count === 1 ? "1 result" : `${count} results`);

function close() {
  list.hidden = true;
  status.classList.add("hidden");
}

function move(event) {
  const links = [...list.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !links.length) return;
  event.preventDefault();
  list.hidden = false;
  const next = links.indexOf(document.activeElement) + step;
  (links[Math.min(next, links.length - 1)] ?? input).focus();
}

input.addEventListener("input", search);
input.addEventListener("focus", () => input.value && search());
form.addEventListener("keydown", move);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
list.addEventListener("click", (event) => {
  if (event.target.closest("a")) close();
});
form.addEventListener("focusout", (event) => {
  if (!form.contains(event.relatedTarget)) setTimeout(close, 150);
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape" && form.contains(event.target)) {
    close();
    input.focus();
  }
});
form.hidden = false;
addEventListener("hashchange", follow);
follow();
