export { embed, type Embedding, type SigningEvent } from "./embed.js";
export { InvalidSignatureError, ParaphError } from "./errors.js";
export { Paraph } from "./paraph.js";
export type { components, operations, paths } from "./schema.js";
export type { Connection } from "./sending.js";
export { at, underTag } from "./stamps.js";
export type * from "./types.js";
export { type Delivered, verifyWebhook } from "./webhooks.js";
