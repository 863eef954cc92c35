// Samples: a button to copy each, and tabs where there are several languages. The language chosen is that of all.

const remembered = "paraph-sample-language";

function copied(button, text) {
  const told = (words) => {
    button.textContent = words;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  };
  return navigator.clipboard
    ? navigator.clipboard.writeText(text).then(() => told("Copied"), () => told("Not allowed"))
    : told(copiedBySelection(text) ? "Copied" : "Not allowed");
}

// Where the page came over plain http, browsers have no clipboard for scripts but this.
function copiedBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

for (const pre of document.querySelectorAll(".code pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${pre.getAttribute("aria-label")}`);
  button.addEventListener("click", () => copied(button, pre.textContent));
  pre.after(button);
}

function tabbed(samples, number) {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language of the sample");
  for (const figure of samples.querySelectorAll("figure")) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${number}-${list.children.length}`;
    tab.setAttribute("role", "tab");
    tab.textContent = tab.dataset.language = figure.dataset.language;
    figure.id = `panel-${number}-${list.children.length}`;
    figure.setAttribute("role", "tabpanel");
    figure.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", figure.id);
    tab.addEventListener("click", () => choose(tab.dataset.language, tab));
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...list.children];
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    choose(next.dataset.language, next);
    event.preventDefault();
  });
  samples.prepend(list);
}

// Samples of other sizes are shown above as well; what was clicked stays where it is.
function choose(language, clicked) {
  const before = clicked?.getBoundingClientRect().top;
  for (const samples of document.querySelectorAll(".samples.tabs")) show(samples, language);
  if (clicked) {
    scrollBy({ top: clicked.getBoundingClientRect().top - before, behavior: "instant" });
    try {
      localStorage.setItem(remembered, language);
    } catch {} // storage is turned off: the choice holds for this page
  }
}

function show(samples, language) {
  const figures = [...samples.querySelectorAll("figure")];
  const shown = figures.find((each) => each.dataset.language === language) ?? closest(figures, language);
  for (const figure of figures) {
    const tab = document.getElementById(figure.getAttribute("aria-labelledby"));
    const chosen = figure === shown;
    figure.classList.toggle("chosen", chosen);
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
}

const closest = (figures, language) =>
  figures.find((each) => language && language.startsWith(each.dataset.language)) ??
  figures.find((each) => each.classList.contains("chosen")) ??
  figures[0];

const several = [...document.querySelectorAll(".samples")].filter((each) => each.querySelectorAll("figure").length > 1);
for (const [number, samples] of several.entries()) {
  samples.classList.add("tabs");
  tabbed(samples, number);
}
let language = null;
try {
  language = localStorage.getItem(remembered);
} catch {} // storage is turned off
choose(language, null);
