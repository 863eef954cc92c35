/** Showing a signing page in a frame of yours. Runs in browsers. */

/** What a signing page tells: `paraph:signed`, `paraph:height` and others. */
export interface SigningEvent {
  type: `paraph:${string}`;
  [name: string]: unknown;
}

export interface Embedding {
  /** What the frame is put into. */
  element: Element;
  signing_url: string;
  onEvent?: (event: SigningEvent) => void;
  /** What screen readers call the frame; "Signing" unless you say otherwise. */
  title?: string;
}

/** The frame, and `remove()`, which takes it away again. */
export function embed({ element, signing_url, onEvent = () => {}, title = "Signing" }: Embedding) {
  const { href, origin } = new URL(signing_url, location.href);
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.allow = "";
  frame.src = href;
  Object.assign(frame.style, { display: "block", width: "100%", height: "44rem", maxHeight: "100vh", border: "0" });

  const hear = ({ source, origin: from, data }: MessageEvent) => {
    if (source !== frame.contentWindow || from !== origin) return;
    if (typeof data?.type !== "string" || !data.type.startsWith("paraph:")) return;
    if (data.type === "paraph:height" && data.height > 0) frame.style.height = `${Math.ceil(data.height)}px`;
    onEvent(data as SigningEvent);
  };
  addEventListener("message", hear);
  element.append(frame);
  return {
    frame,
    remove(): void {
      removeEventListener("message", hear);
      frame.remove();
    },
  };
}
