// Says before anything is drawn that scripts run, so that nothing moves once they have.
"use strict";
document.documentElement.classList.add("scripted");
