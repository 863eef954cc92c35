// The pages to read: text, sharper pictures, the way to the next place to sign.
// with frame.js
"use strict";

const say = (name, values = {}) => {
  let text = words[name];
  if (text && typeof text === "object") {
    text = text[new Intl.PluralRules(words.locale).select(values.count)] || text.other;
  }
  return String(text || "").replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
};

const read = document.getElementById("read");
const base = location.pathname.replace(/\/$/, "");
const isLarge = (page) => {
  const { width, height } = page.querySelector("img").attributes;
  return width.value * height.value > 2.1e6;
};
const ZOOMS = [100, 150, 200, 400];
if ([...read.querySelectorAll("[data-page]")].some(isLarge)) ZOOMS.push(800);
let zoom = 100;

// The document that something on the page belongs to, by name.
const nameAt = (part) => part.closest(".document").querySelector("h2").textContent;

const unread = new Map(); // pictures that could not be loaded, each with what is said of it

// Pictures below the screen wait until the reader moves.
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) target.classList.add("near");
});
for (const figure of read.querySelectorAll("[data-page], [id^=print-]")) {
  near.observe(figure);
  const picture = figure.querySelector("img");
  picture.addEventListener("error", () => pictureFailed(picture));
  picture.addEventListener("load", () => unread.delete(picture) && window.holdBack?.());
  if (picture.complete && !picture.naturalWidth) pictureFailed(picture);
}

async function pictureFailed(picture) {
  const paper = picture.parentElement;
  if (paper.querySelector(".failed")) return;
  const response = await fetch(picture.src).catch(() => null);
  const refusal = response && !response.ok ? (await response.json().catch(() => ({}))).error : null;
  if (["already_signed", "expired", "replaced"].includes(refusal?.code) && window.moveOn?.(refusal)) return;
  const error = refusal && response.status === 422 ? refusal : null;
  const [page] = picture.src.match(/\d+(?=(-print)?\.webp)/);
  unread.set(picture, say(error ? "unshown" : "unread", { page, name: nameAt(picture) }));
  window.holdBack?.();
  const notice = document.createElement("div");
  notice.className = "failed";
  notice.setAttribute("role", "alert");
  const told = document.createElement("p");
  told.textContent = error ? say("unshown", { page: error.page_number, name: error.document }) : say(navigator.onLine ? "picture_failed" : "offline");
  notice.append(told);
  if (!error) {
    const again = document.createElement("button");
    again.type = "button";
    again.textContent = say("try_again");
    const retry = () => {
      notice.remove();
      picture.loading = "eager"; // also while another step is shown
      picture.src = picture.src;
    };
    again.addEventListener("click", retry);
    notice.append(again);
    const seconds = Number(response && response.headers.get("Retry-After")) || 10;
    setTimeout(() => notice.isConnected && retry(), seconds * 1000);
  }
  paper.append(notice);
}

// The words of each page over its picture, to be read aloud, selected and found; near the screen first.
const pages = [...read.querySelectorAll("[data-page]")];
const texts = new Map();

// One page at a time: the pictures come first.
let queue = new Promise((resolve) => addEventListener("load", resolve));
let textRequests = new AbortController(); // while a signature is on its way, no text is asked for: the signed page gives none

function loadText(page) {
  if (!texts.has(page)) {
    queue = queue.then(() => fetchText(page).catch(() => texts.delete(page)));
    texts.set(page, queue);
  }
  return texts.get(page);
}

async function fetchText(page) {
  if (read.hidden) return; // signed meanwhile
  const [id, number] = page.dataset.page.split("/");
  const response = await fetch(`${base}/documents/${id}/pages/${number}/text`, { signal: textRequests.signal });
  if (!response.ok) throw new Error("no text");
  const { width, height, lines } = await response.json();
  const layer = document.createElement("div");
  layer.className = "words";
  for (const line of lines) {
    const span = document.createElement("span");
    span.textContent = `${line.text}\n`;
    span.style.insetInlineStart = span.style.left = `${(line.x / width) * 100}%`;
    span.style.top = `${(line.y / height) * 100}%`;
    span.style.fontSize = `${(line.height / width) * 80}cqw`;
    layer.append(span);
  }
  if (!lines.length) {
    const none = document.createElement("p");
    none.className = "hidden";
    none.textContent = say("no_text");
    layer.append(none);
  }
  page.querySelector(".paper img").after(layer);
  page.dir = "auto";
  for (const [index, line] of lines.entries()) {
    const span = layer.children[index];
    const shown = span.getBoundingClientRect().width / layer.getBoundingClientRect().width;
    if (shown > 0) span.style.transform = `scaleX(${line.width / width / shown})`;
  }
}

const seen = new Set();
let current = pages[0];
let hasMoved = false;
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      seen.add(target);
      loadText(target);
    } else seen.delete(target);
  }
  sharpen();
});
for (const page of pages) watch.observe(page);

async function loadAllTexts() {
  for (const page of pages) {
    await loadText(page);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}
addEventListener("load", () => setTimeout(loadAllTexts, 3000));

// Enlarging: the page grows within its frame, with a sharper picture.
for (const button of read.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    const middle = current && current.querySelector(".paper");
    zoom = ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.indexOf(zoom) + Number(button.dataset.zoom)))];
    read.style.setProperty("--zoom", zoom / 100);
    read.classList.toggle("parted", zoom > 400);
    for (const other of read.querySelectorAll("[data-zoom]")) {
      const last = other.dataset.zoom === "1" ? ZOOMS[ZOOMS.length - 1] : ZOOMS[0];
      other.disabled = zoom === last;
    }
    if (middle) middle.scrollIntoView({ block: "nearest" });
    sharpen();
  });
}

function sharpen() {
  for (const page of seen) {
    const picture = page.querySelector("img");
    const [id, number] = page.dataset.page.split("/");
    const address = `${base}/documents/${id}/pages/${number}`;
    const asked = Math.min(zoom, 400); // a smaller picture that comes late must not pass for this
    const wanted = `${address}${asked > 100 ? `-${asked}` : ""}.webp`;
    if (zoom > asked && isLarge(page) && !page.querySelector(".parts")) addParts(page, `${address}-${zoom}-`);
    if (!picture.src.endsWith(wanted) && Number(picture.dataset.sharp || 100) < asked) {
      const sharper = new Image();
      sharper.addEventListener("load", () => {
        if (Number(picture.dataset.sharp || 100) > asked) return;
        picture.dataset.sharp = asked;
        picture.src = sharper.src;
      });
      sharper.addEventListener("error", () => setTimeout(sharpen, 5000));
      sharper.src = wanted;
    }
  }
}

// Of a large page, sixteen parts over its picture; those come that are looked at.
function addParts(page, address) {
  const parts = document.createElement("div");
  parts.className = "parts";
  for (let part = 1; part <= 16; part += 1) {
    const picture = new Image();
    picture.alt = "";
    picture.loading = "lazy";
    picture.src = `${address}${part}.webp`;
    parts.append(picture);
  }
  page.querySelector("img").after(parts);
}

// Where the reader is, and the next place to sign.
const places = [...read.querySelectorAll("a[data-place]")];
const next = read.querySelector("[data-next]");
const where = read.querySelector("[data-where]");

function guide() {
  const middle = innerHeight / 2;
  current = pages.find((page) => page.getBoundingClientRect().bottom > middle) || pages[pages.length - 1];
  const documentId = current.dataset.page.split("/")[0];
  const total = pages.filter((page) => page.dataset.page.startsWith(`${documentId}/`)).length;
  label(where, say("page_of", { page: current.dataset.page.split("/")[1], pages: total }), current);
  if (!next) return;
  const open = places.filter((place) => !inSight(place));
  const ahead = open.find((place) => place.getBoundingClientRect().top > middle) || open[0] || places[0];
  next.hash = `#${ahead.id}`;
  label(next, say("next_place", { page: ahead.closest("[data-page]").dataset.page.split("/")[1] }), ahead);
  next.hidden = !open.length && hasMoved && document.activeElement !== next;
}

// Among several documents, with the name of the one that it is about.
function label(shown, text, part) {
  const name = document.createElement("bdi");
  name.textContent = nameAt(part);
  shown.replaceChildren(text, ...(read.querySelectorAll(".document")[1] ? [" · ", name] : []));
}

function inSight(place) {
  const { top, bottom } = place.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

// A place comes to the middle, where nothing covers it. Over a long way the page jumps, and the picture that is wanted
// is loaded first: those on the way and around it wait until it is there.
function bring(place) {
  const { top } = place.getBoundingClientRect();
  const isFar = Math.abs(top - innerHeight / 2) > 2 * innerHeight;
  if (isFar) loadFirst(place.closest("[data-page]").querySelector("img"));
  place.scrollIntoView({ block: "center", inline: "nearest", behavior: isFar ? "instant" : "auto" });
}

let wanted = null;

function loadFirst(picture) {
  const { dataset } = document.documentElement;
  picture.fetchPriority = "high";
  picture.loading = "eager";
  if (picture.complete && picture.naturalWidth) return;
  wanted = picture;
  delete dataset.moved;
  for (const other of read.querySelectorAll("img[loading=lazy]")) if (!other.complete) other.src = other.src; // ends what is on its way
  const goOn = () => {
    if (wanted !== picture) return;
    wanted = null;
    dataset.moved = "";
  };
  for (const end of ["load", "error"]) picture.addEventListener(end, goOn, { once: true });
}

if (next) next.addEventListener("click", (event) => {
  event.preventDefault();
  const place = document.getElementById(next.hash.slice(1));
  bring(place);
  place.focus({ preventScroll: true });
  hasMoved = true;
  guide();
});

let waiting = false;
addEventListener("scroll", () => {
  hasMoved = true;
  if (!wanted) document.documentElement.dataset.moved = "";
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (read.offsetParent !== null) guide();
  });
}, { passive: true });
addEventListener("resize", () => read.offsetParent !== null && guide());
if (pages.length) guide();
document.documentElement.dataset.scripted = "";
