// Times in the reader's zone, with UTC behind.
"use strict";

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  time.title = time.textContent; // as the service writes it, in UTC
  const write = (form) => new Intl.DateTimeFormat(document.documentElement.lang, form).format(moment).replace(/ (\D+)$/, "\xa0$1");
  if ("clock" in time.dataset) time.textContent = write({ timeStyle: "short" });
  else {
    const day = moment.getDate() === moment.getUTCDate() ? undefined : "long";
    const inUtc = ` (${write({ dateStyle: day, timeStyle: "short", timeZone: "UTC" })} UTC)`;
    time.textContent = write({ dateStyle: "long", timeStyle: "short" }) + (moment.getTimezoneOffset() ? inUtc : " UTC");
  }
  const after = time.nextSibling; // "μ.μ." ends a sentence without a second stop
  if (time.textContent.endsWith(".") && after && /^\./.test(after.data)) after.data = after.data.slice(1);
}
