// Times in the reader's own zone, with UTC behind them.
"use strict";

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  const near = Math.abs(moment - Date.now()) < 36e5;
  const form = near ? { timeStyle: "short" } : { dateStyle: "long", timeStyle: "short" };
  time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, form).format(moment);
  const after = time.nextSibling; // "μ.μ." ends a sentence without a second stop
  if (time.textContent.endsWith(".") && after && /^\./.test(after.data)) after.data = after.data.slice(1);
}
