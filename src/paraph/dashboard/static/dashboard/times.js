// Moments in the reader's own zone and language, with UTC one hover away; without scripts they stand in UTC.
"use strict";
{
  const language = document.documentElement.lang;
  const day = { year: "numeric", month: "short", day: "numeric" };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const moment = new Intl.DateTimeFormat(language, { ...day, ...clock });
  const exact = new Intl.DateTimeFormat(language, { ...day, ...clock, second: "2-digit" });
  const TEXT = /^\d{4}-\d{2}-\d{2} (\d{2}:\d{2})(:\d{2})?( UTC)?$/;

  const tell = (part) => {
    for (const time of part.querySelectorAll("time[datetime]")) {
      const found = TEXT.exec(time.textContent.trim());
      if (!found) continue;
      time.title = found[0].endsWith("UTC") ? found[0] : `${found[0]} UTC`;
      time.textContent = (found[2] ? exact : moment).format(new Date(time.dateTime));
    }
  };

  tell(document);
  document.addEventListener("htmx:load", (event) => tell(event.target.parentElement || document));
}
