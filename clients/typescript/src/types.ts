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
export type Body<Name extends keyof operations> = Json<NonNullable<operations[Name]["requestBody"]>>;
/** An entry of what an operation lists. */
export type Entry<Name extends keyof operations> = Answer<Name> extends { data: (infer Each)[] } ? Each : never;

export type AuditLog = Schemas["AuditLog"];
export type BrandingProfile = Schemas["BrandingProfile"];
export type Document = Schemas["Document"];
export type Draft = Schemas["Draft"];
export type Event = Schemas["Event"];
export type NewDraft = Body<"createDraft">["signature_request"];
export type NewField = Schemas["FieldInput"];
export type NewSignatureRequest = Body<"createSignatureRequest">["signature_request"];
export type NewTemplate = Body<"createTemplate">["template"];
export type Preview = Answer<"previewSignatureRequest">;
export type SignatureRequest = Schemas["SignatureRequest"];
export type Signer = Schemas["Signer"];
export type Template = Schemas["Template"];
export type TemplateSending = Body<"sendTemplate">["signature_request"];
export type WebhookEvent =
  | Schemas["SignerEvent"]
  | Schemas["RequestCompletedEvent"]
  | Schemas["RequestExpiredEvent"]
  | Schemas["TestEvent"];
