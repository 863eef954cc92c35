/** Names for what the API takes and answers, out of the OpenAPI document. */

import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
type Json<T> = T extends { content: { "application/json": infer Content } } ? Content : never;
type Success<T> = T extends { 200: infer Answer } ? Answer : T extends { 201: infer Answer } ? Answer : never;

/** What an operation answers, by its `operationId`. */
export type Answer<Name extends keyof operations> = Json<Success<operations[Name]["responses"]>>;
/** What an operation takes in its query. */
export type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;
/** What an operation takes as its body. */
export type Body<Name extends keyof operations> = Json<operations[Name]["requestBody"]>;

export type AuditLog = Schemas["AuditLog"];
export type BrandingProfile = Schemas["BrandingProfile"];
export type Document = Schemas["Document"];
export type NewSignatureRequest = Body<"createSignatureRequest">["signature_request"];
export type SignatureRequest = Schemas["SignatureRequest"];
export type ListedSignatureRequest = Schemas["ListedSignatureRequest"];
export type Signer = Schemas["Signer"];
export type WebhookEvent =
  | Schemas["SignerEvent"]
  | Schemas["RequestCompletedEvent"]
  | Schemas["RequestExpiredEvent"];
