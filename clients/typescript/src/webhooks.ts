/** Checking that a webhook comes from the service. */

import { InvalidSignatureError } from "./errors.js";
import type { WebhookEvent } from "./types.js";

export interface Delivered {
  /** The raw body, before any parsing. */
  body: Uint8Array<ArrayBuffer> | string;
  /** The header `X-Service-Signature`: `sha256=<hex>`. */
  signature: string | null | undefined;
  /** The application's `webhook_secret`. */
  secret: string;
}

/** The payload of a genuine delivery. Throws `InvalidSignatureError` where body, signature and secret do not belong
 * together; compares in constant time. */
export async function verifyWebhook({ body, signature, secret }: Delivered): Promise<WebhookEvent> {
  const utf8 = new TextEncoder();
  const bytes = typeof body === "string" ? utf8.encode(body) : body;
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", utf8.encode(secret), hmac, false, ["verify"]);
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(signature ?? "") ?? [];
  const given = Uint8Array.from(hex?.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!(await crypto.subtle.verify("HMAC", key, given, bytes))) {
    throw new InvalidSignatureError("The webhook's signature does not match its body and your secret.");
  }
  return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
}
