// Times in the reader's zone, with UTC behind.
"use strict";

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  const form = { dateStyle: "clock" in time.dataset ? undefined : "long", timeStyle: "short" };
  time.title = time.textContent;
  const text = new Intl.DateTimeFormat(document.documentElement.lang, form).format(moment);
  time.textContent = text.replace(/ (\D+)$/, "\xa0$1");
  const after = time.nextSibling; // "μ.μ." ends a sentence without a second stop
  if (time.textContent.endsWith(".") && after && /^\./.test(after.data)) after.data = after.data.slice(1);
}
