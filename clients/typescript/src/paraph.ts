/** Every call of the API. */

import { type Call, type Connection, Sender } from "./sending.js";
import type {
  Answer,
  Body,
  Entry,
  NewDraft,
  NewSignatureRequest,
  NewTemplate,
  Query,
  TemplateSending,
} from "./types.js";

const PDF = "application/pdf";
const LARGEST_PAGE = 100;

type Bytes = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;
type OfRequest = { request_id: number };
type OfSigner = { request_id: number; signer_id: number };

/** A part of a list: a page, or events behind a cursor. */
interface Part<T> {
  data: T[];
  pagination?: { page: number; pages: number };
  next?: string;
  has_more?: boolean;
}

/** A client of one service and one API key.
 *
 * Every method takes one object, whose fields are named as the API names them, and throws `ParaphError` when the
 * service refuses. The `iter…` methods walk all pages. Whatever creates something is sent with an `Idempotency-Key`
 * of its own, so that a call that is sent again after a lost connection does nothing twice. */
export class Paraph {
  readonly #sender: Sender;

  constructor(connection: Connection) {
    this.#sender = new Sender(connection);
  }

  /** Whether the service answers, and in which environment the key is. */
  health(): Promise<Answer<"readHealth">> {
    return this.#read("health");
  }

  /** Uploads a PDF; `name` is what the proof file calls it. `accept_drawn_differently`: also one with text that a
   * second renderer draws otherwise, which is refused else. */
  uploadDocument({
    content,
    name = "document.pdf",
    accept_drawn_differently = false,
  }: {
    content: Bytes;
    name?: string;
    accept_drawn_differently?: boolean;
  }): Promise<Answer<"uploadDocument">> {
    const form = new FormData();
    form.set("file", new Blob([content], { type: PDF }), name);
    return this.#made(accept_drawn_differently ? "documents?accept_drawn_differently=true" : "documents", { form });
  }

  /** One document, with a fresh `download_url`. */
  document({ document_id }: { document_id: number }): Promise<Answer<"readDocument">> {
    return this.#read(`documents/${document_id}`);
  }

  /** One page. */
  documents(query: Query<"listDocuments"> = {}): Promise<Answer<"listDocuments">> {
    return this.#read("documents", query);
  }

  /** All documents, page by page. */
  iterDocuments(query: Query<"listDocuments"> = {}): AsyncGenerator<Entry<"listDocuments">> {
    return this.#walk("documents", query);
  }

  /** The texts in double braces of a document and where they stand, or those of another `text`, verbatim. */
  async listTags({ document_id, text }: { document_id: number; text?: string }): Promise<Entry<"listDocumentTags">[]> {
    return (await this.#read<Answer<"listDocumentTags">>(`documents/${document_id}/tags`, { text })).data;
  }

  /** Creates a request, once: a repetition after a lost connection finds what was created. */
  createSignatureRequest(signature_request: NewSignatureRequest): Promise<Answer<"createSignatureRequest">> {
    return this.#made("signature_requests", { json: { signature_request } });
  }

  /** What a creation would do: all that is wrong with it, and where stamps would stand. Creates nothing. */
  previewRequest(signature_request: NewSignatureRequest): Promise<Answer<"previewSignatureRequest">> {
    return this.#sender.json(this.#previewed(signature_request, "application/json"));
  }

  /** The documents of a creation as one PDF, with its stamps drawn. Creates nothing. */
  previewPdf(signature_request: NewSignatureRequest): Promise<Uint8Array<ArrayBuffer>> {
    return this.#sender.bytes(this.#previewed(signature_request, PDF));
  }

  /** One request; `download_urls` are there once it is finalized. */
  signatureRequest({ request_id }: { request_id: number }): Promise<Answer<"readSignatureRequest">> {
    return this.#read(`signature_requests/${request_id}`);
  }

  /** Where all evidence of a finalized request lies, in one archive. */
  evidence({ request_id }: { request_id: number }): Promise<Answer<"readEvidence">> {
    return this.#read(`signature_requests/${request_id}/evidence`);
  }

  /** One page. */
  signatureRequests(query: Query<"listSignatureRequests"> = {}): Promise<Answer<"listSignatureRequests">> {
    return this.#read("signature_requests", query);
  }

  /** All requests, page by page. */
  iterSignatureRequests(query: Query<"listSignatureRequests"> = {}): AsyncGenerator<Entry<"listSignatureRequests">> {
    return this.#walk("signature_requests", query);
  }

  /** One page of a request's journal, oldest first. */
  auditLogs({ request_id, ...query }: OfRequest & Query<"listAuditLogs">): Promise<Answer<"listAuditLogs">> {
    return this.#read(`signature_requests/${request_id}/audit_logs`, query);
  }

  /** The whole journal of a request, oldest first. */
  iterAuditLogs({ request_id, ...query }: OfRequest & Query<"listAuditLogs">): AsyncGenerator<Entry<"listAuditLogs">> {
    return this.#walk(`signature_requests/${request_id}/audit_logs`, query);
  }

  /** Withdraws a request before everybody has signed. The audit log, webhooks and mails to those invited give the `reason`. */
  endRequest({ request_id, reason }: OfRequest & { reason: string }): Promise<Answer<"endSignatureRequest">> {
    return this.#made(`signature_requests/${request_id}/end`, { json: { reason } });
  }

  /** Sends a reminder to a signer whose turn it is. */
  remindSigner({ request_id, signer_id }: OfSigner): Promise<Answer<"remindSigner">> {
    return this.#made(`signature_requests/${request_id}/signers/${signer_id}/remind`);
  }

  /** Puts right who a signer is who has not signed, or how they are reached; then their link is another one. */
  correctSigner({
    request_id,
    signer_id,
    ...json
  }: OfSigner & Body<"correctSigner">): Promise<Answer<"correctSigner">> {
    return this.#made(`signature_requests/${request_id}/signers/${signer_id}/correct`, { json });
  }

  /** Gives signers so many days from now, never less than they had. */
  extendRequest({ request_id, ...json }: OfRequest & Body<"extendSignatureRequest">): Promise<
    Answer<"extendSignatureRequest">
  > {
    return this.#made(`signature_requests/${request_id}/extend`, { json });
  }

  /** What happened after a cursor, of all requests: from the oldest kept without one, from now on with
   * `after: "latest"`. Go on from `next`, and you miss nothing and see nothing twice. */
  listEvents(query: Query<"listEvents"> = {}): Promise<Answer<"listEvents">> {
    return this.#read("events", query);
  }

  /** All events behind a cursor, to the end. */
  iterEvents(query: Query<"listEvents"> = {}): AsyncGenerator<Entry<"listEvents">> {
    return this.#walk("events", query);
  }

  /** One page, sorted by name. */
  brandingProfiles(query: Query<"listBrandingProfiles"> = {}): Promise<Answer<"listBrandingProfiles">> {
    return this.#read("branding_profiles", query);
  }

  /** All profiles, sorted by name. */
  iterBrandingProfiles(query: Query<"listBrandingProfiles"> = {}): AsyncGenerator<Entry<"listBrandingProfiles">> {
    return this.#walk("branding_profiles", query);
  }

  /** One template. */
  template({ template_id }: { template_id: number }): Promise<Answer<"readTemplate">> {
    return this.#read(`templates/${template_id}`);
  }

  /** One page, sorted by name. */
  listTemplates(query: Query<"listTemplates"> = {}): Promise<Answer<"listTemplates">> {
    return this.#read("templates", query);
  }

  /** All templates, sorted by name. */
  iterTemplates(query: Query<"listTemplates"> = {}): AsyncGenerator<Entry<"listTemplates">> {
    return this.#walk("templates", query);
  }

  /** Keeps a template of requests, with roles instead of signers. */
  createTemplate(template: NewTemplate): Promise<Answer<"createTemplate">> {
    return this.#made("templates", { json: { template } });
  }

  /** Requests made of it stay as they are. */
  async deleteTemplate({ template_id }: { template_id: number }): Promise<void> {
    await this.#sender.bytes({ method: "DELETE", path: `templates/${template_id}` });
  }

  /** Creates a request of a template, with a signer for each role; options count instead of the template's. */
  sendTemplate({
    template_id,
    ...signature_request
  }: { template_id: number } & TemplateSending): Promise<Answer<"sendTemplate">> {
    return this.#made(`templates/${template_id}/signature_requests`, { json: { signature_request } });
  }

  /** Prepares a request that a person looks at and sends. Anything may be missing. */
  createDraft(signature_request: NewDraft = {}): Promise<Answer<"createDraft">> {
    return this.#made("drafts", { json: { signature_request } });
  }

  /** What became of a draft. */
  draft({ draft_id }: { draft_id: number }): Promise<Answer<"readDraft">> {
    return this.#read(`drafts/${draft_id}`);
  }

  /** Signs as the signer would on their page, by a key of the sandbox. */
  sandboxSign({ request_id, signer_id, ...json }: OfSigner & Body<"sandboxSign">): Promise<Answer<"sandboxSign">> {
    return this.#made(`sandbox/signature_requests/${request_id}/signers/${signer_id}/sign`, { json });
  }

  /** Lets a request expire now, by a key of the sandbox. */
  sandboxExpire({ request_id }: OfRequest): Promise<Answer<"sandboxExpire">> {
    return this.#made(`sandbox/signature_requests/${request_id}/expire`);
  }

  /** Declines for a signer, by a key of the sandbox; refused where the request does not allow it. */
  sandboxDecline({
    request_id,
    signer_id,
    reason,
  }: OfSigner & { reason?: string }): Promise<Answer<"sandboxDecline">> {
    const json = reason === undefined ? {} : { reason };
    return this.#made(`sandbox/signature_requests/${request_id}/signers/${signer_id}/decline`, { json });
  }

  /** The bytes behind a presigned URL. The API key is not sent there. */
  download({ url }: { url: string }): Promise<Uint8Array<ArrayBuffer>> {
    return this.#sender.download(url);
  }

  #read<T>(path: string, query?: object): Promise<T> {
    return this.#sender.json({ method: "GET", path, query });
  }

  /** A call that creates or changes something, with a key of its own: sent twice, it does so once. */
  #made<T>(path: string, content: Pick<Call, "json" | "form"> = {}): Promise<T> {
    return this.#sender.json({ method: "POST", path, ...content, headers: { "Idempotency-Key": crypto.randomUUID() } });
  }

  #previewed(signature_request: NewSignatureRequest, Accept: string): Call {
    return { method: "POST", path: "signature_requests/preview", json: { signature_request }, headers: { Accept } };
  }

  async *#walk<T>(path: string, query: object): AsyncGenerator<T> {
    for (let more: object | undefined = {}; more; ) {
      const found: Part<T> = await this.#read(path, { limit: LARGEST_PAGE, ...query, ...more });
      yield* found.data;
      more = following(found);
    }
  }
}

/** What asks for the part behind this one; undefined at the end. */
function following({ pagination, next, has_more }: Part<unknown>): object | undefined {
  if (pagination) return pagination.page < pagination.pages ? { page: pagination.page + 1 } : undefined;
  return has_more ? { after: next } : undefined;
}
