// Moments in the reader's own zone and language, with UTC one hover away; without scripts they stand in UTC.
"use strict";
{
  const page = document.documentElement.lang;
  const own = navigator.languages.find((each) => each.startsWith(`${page}-`));
  const language = own || (page === "en" ? "en-GB" : page); // of "en" alone, browsers make the United States
  const day = { year: "numeric", month: "short", day: "numeric" };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const moment = new Intl.DateTimeFormat(language, { ...day, ...clock });
  const date = new Intl.DateTimeFormat(language, day);
  const exact = new Intl.DateTimeFormat(language, { ...day, ...clock, second: "2-digit" });
  const TEXT = /^\d{4}-\d{2}-\d{2}( \d{2}:\d{2})?(:\d{2})?( UTC)?$/;

  const tell = (part) => {
    for (const time of part.querySelectorAll("time[datetime]")) {
      const found = TEXT.exec(time.textContent.trim());
      if (!found || !time.dateTime.includes("T")) continue; // a day that is one everywhere stays as it is
      time.title = found[0].endsWith("UTC") ? found[0] : `${found[0]} UTC`;
      time.textContent = (found[2] ? exact : found[1] ? moment : date).format(new Date(time.dateTime));
    }
  };

  tell(document);
  document.addEventListener("htmx:load", (event) => tell(event.target.parentElement || document));
}
