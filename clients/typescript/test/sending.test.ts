/** What the client sends, how it reads, waits and refuses. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { InvalidSignatureError, Paraph, ParaphError, at, underTag, verifyWebhook } from "../src/index.js";
import { answering } from "./answering.js";

const HEALTH = { status: "ok", environment: "sandbox", version: "1", time: "2026-01-02T03:04:05Z" };
const NO = { error: { code: "not_found", message: "No." } };
const BUSY = { error: { code: "unavailable", message: "Wait." } };
const SOON = { "Retry-After": "0" };

function page(number: number, pages: number): object {
  return { data: [{ id: number }], pagination: { page: number, limit: 1, count: pages, pages } };
}

test("the key and the language go with every call", async (t) => {
  const service = await answering(t, [200, HEALTH]);
  const paraph = new Paraph({ baseUrl: `${service.url}/`, apiKey: "k", language: "fr" });
  assert.equal((await paraph.health()).environment, "sandbox");
  const [asked] = service.asked;
  assert.deepEqual([asked?.method, asked?.path], ["GET", "/api/v1/health"]);
  assert.equal(asked?.headers["x-api-key"], "k");
  assert.equal(asked?.headers["accept-language"], "fr");
});

test("an upload is multipart with the PDF type", async (t) => {
  const service = await answering(t, [201, { id: 7 }]);
  const content = new TextEncoder().encode("%PDF");
  const paraph = new Paraph({ baseUrl: service.url, apiKey: "k" });
  const document = await paraph.uploadDocument({ content, name: "lease.pdf" });
  assert.equal(document.id, 7);
  assert.match(service.asked[0]?.body ?? "", /name="file"; filename="lease.pdf"\r\nContent-Type: application\/pdf/);
});

test("what was not said is not sent", async (t) => {
  const refusal = { error: { code: "validation_error", message: "No." } };
  const service = await answering(t, [422, refusal, { "X-Request-Id": "5f0c" }]);
  const given = [underTag({ tag: "{{x}}", optional: true }), at({ page_number: 1, x: 2, y: 3 })];
  const made = new Paraph({ baseUrl: service.url, apiKey: "k" }).createSignatureRequest({
    mode: "parallel",
    validity_days: 1,
    signers: [{ ref: "a", first_name: "A", last_name: "B", email: "a@b.example" }],
    documents: [{ id: 7, signers: [{ signer_ref: "a", stamps: given }] }],
  });
  await assert.rejects(made, (error: ParaphError) => {
    assert.ok(error instanceof ParaphError);
    const { status, code, message, request_id } = error;
    assert.deepEqual([status, code, message, request_id], [422, "validation_error", "No.", "5f0c"]);
    return true;
  });
  const stamps = [
    { type: "magic_field", value: { tag: "{{x}}" }, optional: true },
    { type: "coordinates", value: { page_number: 1, x: 2, y: 3 } },
  ];
  assert.deepEqual(JSON.parse(service.asked[0]?.body ?? ""), {
    signature_request: {
      mode: "parallel",
      validity_days: 1,
      signers: [{ ref: "a", first_name: "A", last_name: "B", email: "a@b.example" }],
      documents: [{ id: 7, signers: [{ signer_ref: "a", stamps }] }],
    },
  });
});

test("a 429 waits as long as it says and is sent again", async (t) => {
  const service = await answering(t, [429, BUSY, { "Retry-After": "1" }], [200, HEALTH]);
  const began = performance.now();
  await new Paraph({ baseUrl: service.url, apiKey: "k" }).health();
  assert.ok(performance.now() - began >= 1_000);
});

for (const [retryFor, said, attempts] of [[undefined, "61", 1], [60_000, "86400", 1], [500, "1", 1], [2_500, "1", 3]] as const) {
  test(`retries end in time, with the error that says when: ${retryFor} ms, ${said} s`, async (t) => {
    const service = await answering(t, ...Array(9).fill([429, BUSY, { "Retry-After": said }]));
    const paraph = new Paraph({ baseUrl: service.url, apiKey: "k", retries: 9, retryFor });
    await assert.rejects(paraph.health(), { status: 429, retry_after: Number(said) });
    assert.equal(service.asked.length, attempts);
  });
}

for (const told of [500, 502, 503, 504, 409, "lost"] as const) {
  test(`a creation is sent again with its key after ${told}`, async (t) => {
    const busy = { error: { code: told === 409 ? "idempotency_key_in_use" : "internal_error", message: "Wait." } };
    const failure = told === "lost" ? told : ([told, busy, SOON] as const);
    const service = await answering(t, ...[failure, [404, NO], failure, [404, NO]].map((each) => each as never));
    const paraph = new Paraph({ baseUrl: service.url, apiKey: "k" });
    for (const content of [new Blob(["%PDF"]), new Blob(["%PDF-"])]) {
      await assert.rejects(paraph.uploadDocument({ content }), { code: "not_found" });
    }
    const [first, again, another, last] = service.asked.map((asked) => asked.headers["idempotency-key"]);
    assert.ok(first && first === again && another === last && first !== another);
  });
}

test("what would fail again is not sent again", async (t) => {
  for (const [status, code] of [[507, "insufficient_storage"], [409, "conflict"], [422, "validation_error"]] as const) {
    const service = await answering(t, [status, { error: { code, message: "No." } }, SOON]);
    await assert.rejects(new Paraph({ baseUrl: service.url, apiKey: "k" }).health(), { code });
    assert.equal(service.asked.length, 1);
  }
});

test("nothing is sent for ever", async (t) => {
  const service = await answering(t, [503, BUSY, SOON], [503, BUSY, SOON], "lost", "lost");
  const paraph = new Paraph({ baseUrl: service.url, apiKey: "k", retries: 1 });
  await assert.rejects(paraph.health(), { status: 503, code: "unavailable" });
  await assert.rejects(paraph.health(), TypeError);
  assert.equal(service.asked.length, 4);
});

test("an iterator walks all pages", async (t) => {
  const service = await answering(t, [200, page(1, 2)], [200, page(2, 2)]);
  const paraph = new Paraph({ baseUrl: service.url, apiKey: "k" });
  const found: number[] = [];
  for await (const { id } of paraph.iterDocuments({ order: "desc" })) found.push(id);
  assert.deepEqual(found, [1, 2]);
  assert.equal(service.asked[1]?.path, "/api/v1/documents?limit=100&order=desc&page=2");
});

test("an answer that is not the service's is an error all the same, and a redirect is not followed", async (t) => {
  const service = await answering(t, [502, "<html>"], [302, "", { Location: "/elsewhere" }]);
  const paraph = new Paraph({ baseUrl: service.url, apiKey: "k", retries: 0 });
  await assert.rejects(paraph.health(), { status: 502, code: "unexpected_answer" });
  await assert.rejects(paraph.health(), { status: 302, code: "unexpected_answer" });
  assert.equal(service.asked.length, 2);
});

test("a presigned download waits for its turn and never sees the key", async (t) => {
  const service = await answering(t, [503, BUSY, SOON], [200, "%PDF"]);
  const found = await new Paraph({ baseUrl: service.url, apiKey: "k" }).download({ url: `${service.url}/files/x` });
  assert.equal(new TextDecoder().decode(found), "%PDF");
  assert.ok(service.asked.every((asked) => asked.headers["x-api-key"] === undefined));
});

test("a webhook is taken only with its own signature", async () => {
  const body = '{"event":"signer.signed"}';
  const signature = `sha256=${createHmac("sha256", "secret").update(body).digest("hex")}`;
  const event = await verifyWebhook({ body: new TextEncoder().encode(body), signature, secret: "secret" });
  assert.equal(event.event, "signer.signed");
  for (const wrong of [signature.slice(0, -1), signature.slice(7), `${signature}00`, "", "é", undefined]) {
    await assert.rejects(verifyWebhook({ body, signature: wrong, secret: "secret" }), InvalidSignatureError);
  }
  await assert.rejects(verifyWebhook({ body: `${body} `, signature, secret: "secret" }), InvalidSignatureError);
});
