/** Every call of the API. */

import { type Call, type Connection, Sender } from "./sending.js";
import type { Answer, AuditLog, BrandingProfile, Document, NewSignatureRequest, Query } from "./types.js";

const PDF = "application/pdf";
const LARGEST_PAGE = 100;

type Bytes = Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;

interface Page<T> {
  data: T[];
  pagination: { page: number; pages: number };
}

/** A client of one service and one API key.
 *
 * Every method takes one object, whose fields are named as the API names them, and throws `ParaphError` when the service
 * refuses. The `iter…` methods walk all pages. Whatever creates something is sent with an `Idempotency-Key` of its own, so
 * that a call that is sent again after a lost connection does nothing twice. */
export class Paraph {
  readonly #sender: Sender;

  constructor(connection: Connection) {
    this.#sender = new Sender(connection);
  }

  /** Whether the service answers, and in which environment the key is. */
  health(): Promise<Answer<"readHealth">> {
    return this.#read("health");
  }

  /** Uploads a PDF; `name` is what the proof file calls it. */
  uploadDocument({ content, name = "document.pdf" }: { content: Bytes; name?: string }): Promise<Answer<"uploadDocument">> {
    const form = new FormData();
    form.set("file", new Blob([content], { type: PDF }), name);
    return this.#made("documents", { form });
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
  iterDocuments(query: Query<"listDocuments"> = {}): AsyncGenerator<Document> {
    return this.#walk("documents", query);
  }

  /** Creates a request, once: a repetition after a lost connection finds what was created. */
  createSignatureRequest(signature_request: NewSignatureRequest): Promise<Answer<"createSignatureRequest">> {
    return this.#made("signature_requests", { json: { signature_request } });
  }

  /** One request; `download_urls` are there once it is finalized. */
  signatureRequest({ request_id }: { request_id: number }): Promise<Answer<"readSignatureRequest">> {
    return this.#read(`signature_requests/${request_id}`);
  }

  /** One page. */
  signatureRequests(query: Query<"listSignatureRequests"> = {}): Promise<Answer<"listSignatureRequests">> {
    return this.#read("signature_requests", query);
  }

  /** All requests, page by page. */
  iterSignatureRequests(
    query: Query<"listSignatureRequests"> = {},
  ): AsyncGenerator<Answer<"listSignatureRequests">["data"][number]> {
    return this.#walk("signature_requests", query);
  }

  /** One page of a request's journal, oldest first. */
  auditLogs({ request_id, ...query }: { request_id: number } & Query<"listAuditLogs">): Promise<Answer<"listAuditLogs">> {
    return this.#read(`signature_requests/${request_id}/audit_logs`, query);
  }

  /** The whole journal of a request, oldest first. */
  iterAuditLogs({ request_id, ...query }: { request_id: number } & Query<"listAuditLogs">): AsyncGenerator<AuditLog> {
    return this.#walk(`signature_requests/${request_id}/audit_logs`, query);
  }

  /** One page, sorted by name. */
  brandingProfiles(query: Query<"listBrandingProfiles"> = {}): Promise<Answer<"listBrandingProfiles">> {
    return this.#read("branding_profiles", query);
  }

  /** All profiles, sorted by name. */
  iterBrandingProfiles(query: Query<"listBrandingProfiles"> = {}): AsyncGenerator<BrandingProfile> {
    return this.#walk("branding_profiles", query);
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

  async *#walk<T>(path: string, query: object): AsyncGenerator<T> {
    for (let page: number | undefined, last = false; !last; ) {
      const found = await this.#read<Page<T>>(path, { limit: LARGEST_PAGE, ...query, ...(page ? { page } : {}) });
      yield* found.data;
      last = found.pagination.page >= found.pagination.pages;
      page = found.pagination.page + 1;
    }
  }
}
