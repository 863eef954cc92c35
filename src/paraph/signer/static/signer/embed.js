// Shows a signing page in a frame and passes on what it tells (docs/embedding.md).
"use strict";

window.Paraph = {
  // onEvent gets {type: "paraph:…", …}. Returns the frame, and remove(), which takes it away again.
  embed(element, signingUrl, { onEvent = () => {}, title = "Signing" } = {}) {
    const { href, origin } = new URL(signingUrl, location.href);
    const frame = document.createElement("iframe");
    frame.title = title;
    frame.allow = "";
    frame.src = href;
    Object.assign(frame.style, { display: "block", width: "100%", height: "44rem", maxHeight: "100vh", border: "0" });

    const hear = ({ source, origin: from, data }) => {
      if (source !== frame.contentWindow || from !== origin) return;
      if (!data || typeof data.type !== "string" || !data.type.startsWith("paraph:")) return;
      if (data.type === "paraph:height" && data.height > 0) frame.style.height = `${Math.ceil(data.height)}px`;
      onEvent(data);
    };
    addEventListener("message", hear);
    element.append(frame);
    return {
      frame,
      remove() {
        removeEventListener("message", hear);
        frame.remove();
      },
    };
  },
};
