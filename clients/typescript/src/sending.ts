/** Sending a call, and sending it again. */

import { ParaphError } from "./errors.js";

const USER_AGENT = "paraph-client-typescript/0.1.0";
const PASSING = [429, 500, 502, 503, 504]; // statuses after which the same call may succeed
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8_000; // milliseconds

export interface Connection {
  /** Where the service lives: `https://sign.example.com`. */
  baseUrl: string;
  apiKey: string;
  /** How often a call is sent again after a 429, a 5xx that may pass or a lost connection; 3 by default. */
  retries?: number;
  /** Milliseconds after the first attempt in which a call may be sent again; 60,000 by default. */
  retryFor?: number;
  /** Milliseconds that an answer may take; 30,000 by default. */
  timeout?: number;
  /** The language of error messages; "en" by default. */
  language?: string;
  /** Your own instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** What is sent: the `query` without what is undefined or null. */
export interface Call {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: object | undefined;
  json?: object | undefined;
  form?: FormData;
  headers?: Record<string, string>;
}

interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
}

export class Sender {
  readonly #connection: Required<Connection>;

  constructor(connection: Connection) {
    const own = { retries: 3, retryFor: 60_000, timeout: 30_000, language: "en", fetch: globalThis.fetch.bind(globalThis) };
    this.#connection = { ...own, ...said(connection), baseUrl: connection.baseUrl.replace(/\/+$/, "") };
  }

  /** The JSON of a success. Throws `ParaphError` for anything else, and what `fetch` throws where nobody answers. */
  async json<T>(call: Call): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await this.bytes(call))) as T;
  }

  /** The bytes of a success. */
  async bytes({ method, path, query = {}, json, form, headers = {} }: Call): Promise<Uint8Array<ArrayBuffer>> {
    const { baseUrl, apiKey, language } = this.#connection;
    const asked = new URLSearchParams(Object.entries(said(query)).map(([name, value]) => [name, String(value)]));
    const url = `${baseUrl}/api/v1/${path}${asked.size ? `?${asked}` : ""}`;
    const content: RequestInit = json ? { body: JSON.stringify(json) } : form ? { body: form } : {};
    return this.#sent(url, {
      method,
      ...content,
      headers: {
        "X-Api-Key": apiKey,
        "Accept-Language": language,
        "User-Agent": USER_AGENT,
        ...(json ? { "Content-Type": "application/json" } : {}),
        ...headers,
      },
    });
  }

  /** The bytes behind a presigned URL, which is not shown the key. */
  download(url: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#sent(url, { method: "GET" });
  }

  async #sent(url: string, options: RequestInit): Promise<Uint8Array<ArrayBuffer>> {
    const answer = await this.#tried(url, options);
    if (answer.status >= 200 && answer.status < 300) return answer.bytes;
    const error = errorOf(answer);
    const message = error.message ?? `The service answered ${answer.status} without an error body.`;
    throw new ParaphError(
      answer.status,
      error.code ?? "unexpected_answer",
      message,
      answer.headers.get("X-Request-Id") ?? "",
      retryAfter(answer),
    );
  }

  /** The first answer that does not pass by itself, or the last. Every call may be repeated: those that create
   * something have an idempotency key. */
  async #tried(url: string, options: RequestInit): Promise<Answer> {
    const { retries, retryFor } = this.#connection;
    const end = performance.now() + retryFor;
    for (let tried = 0; ; tried++) {
      const longest = Math.min(FIRST_WAIT * 2 ** tried, LONGEST_WAIT);
      let wait = longest * (0.5 + Math.random() / 2); // so that clients do not come back together
      const late = () => tried >= retries || performance.now() + wait > end;
      try {
        const answer = await this.#asked(url, options);
        wait = Math.max(wait, (retryAfter(answer) ?? 0) * 1_000);
        if (!passes(answer) || late()) return answer;
      } catch (lost) {
        if (late()) throw lost;
      }
      await new Promise((resume) => setTimeout(resume, wait));
    }
  }

  async #asked(url: string, options: RequestInit): Promise<Answer> {
    const signal = AbortSignal.timeout(this.#connection.timeout);
    // A redirect would take the key to another place.
    const answer = await this.#connection.fetch(url, { ...options, redirect: "manual", signal });
    return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) };
  }
}

function passes(answer: Answer): boolean {
  return PASSING.includes(answer.status) || errorOf(answer).code === "idempotency_key_in_use";
}

/** Seconds that the answer says to wait. */
function retryAfter({ headers }: Answer): number | undefined {
  const said = headers.get("Retry-After") ?? "";
  return /^[0-9]+$/.test(said) ? Number(said) : undefined;
}

/** What the envelope of a refusal holds; nothing of an answer that a proxy made. */
function errorOf({ status, bytes }: Answer): { code?: string; message?: string } {
  if (status < 400) return {};
  try {
    return (JSON.parse(new TextDecoder().decode(bytes)) as { error?: object }).error ?? {};
  } catch {
    return {};
  }
}

function said<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as T;
}
