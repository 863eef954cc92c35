// Times in the reader's zone, with UTC behind.
"use strict";

const pageLocale = document.documentElement.lang;

// In English as most of its countries write it, in German with "Uhr", which no zone follows.
function writeTime(moment, form) {
  const written = new Intl.DateTimeFormat(pageLocale === "en" ? "en-GB" : pageLocale, form).format(moment);
  const hour = pageLocale === "de" && form.timeStyle === "short" && !form.timeZone ? " Uhr" : "";
  return (pageLocale === "en" ? written.replace(" at ", ", ") : written + hour).replace(/ (\D+)$/, "\xa0$1");
}

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  time.title = time.textContent; // as the service writes it, in UTC
  if ("clock" in time.dataset) time.textContent = writeTime(moment, { timeStyle: "short" });
  else {
    const whole = { dateStyle: "long", timeStyle: "short" };
    const isSameDay = moment.getDate() === moment.getUTCDate();
    const inUtc = `${writeTime(moment, { ...whole, dateStyle: isSameDay ? undefined : "long", timeZone: "UTC" })} UTC`;
    time.textContent = moment.getTimezoneOffset() ? `${writeTime(moment, whole)} (${inUtc})` : `${writeTime(moment, { ...whole, timeZone: "UTC" })} UTC`;
  }
  const after = time.nextSibling; // "μ.μ." ends a sentence without a second stop
  if (time.textContent.endsWith(".") && after && /^\./.test(after.data)) after.data = after.data.slice(1);
}
