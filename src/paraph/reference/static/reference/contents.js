// The contents: open beside the page where there is room, closed after a choice where there is none, with the place
// that is being read marked.

const details = document.querySelector("nav details");
const list = details.querySelector(".list");
const wide = matchMedia("(min-width: 60rem)");
const adapt = () => (details.open = wide.matches);
wide.addEventListener("change", adapt);
adapt();

list.addEventListener("click", (event) => {
  if (event.target.closest("a") && !wide.matches) details.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !wide.matches && details.open) {
    details.open = false;
    details.querySelector("summary").focus();
  }
});

const links = new Map([...list.querySelectorAll("a[href^='#']")].map((link) => [link.hash.slice(1), link]));
const headings = [...links.keys()].map((id) => document.getElementById(id));
const topic = list.querySelector("[aria-current=page]");
let current = null;

function markCurrent() {
  const above = headings.filter((heading) => heading.getBoundingClientRect().top < 170);
  const link = links.get(above.at(-1)?.id);
  if (link === current) return;
  current?.removeAttribute("aria-current");
  current = link;
  current?.setAttribute("aria-current", "true");
  if (wide.matches && current) keepInView(current);
}

function keepInView(link) {
  const box = details.getBoundingClientRect();
  const place = link.getBoundingClientRect();
  if (place.top < box.top + 40 || place.bottom > box.bottom - 40) {
    details.scrollTop += place.top - box.top - box.height / 2;
  }
}

let waiting = false;
addEventListener(
  "scroll",
  () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      markCurrent();
    });
  },
  { passive: true },
);
if (wide.matches && topic) keepInView(topic);
markCurrent();
