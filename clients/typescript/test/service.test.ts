/** The whole way against a running service: `PARAPH_URL`, a sandbox key `PARAPH_API_KEY`, and `PARAPH_PDF`, a file with
 * the text `{{signature:landlord}}`. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { type NewField, Paraph, at, underTag } from "../src/index.js";

const { PARAPH_URL = "", PARAPH_API_KEY = "", PARAPH_PDF = "" } = process.env;
const paraph = new Paraph({ baseUrl: PARAPH_URL, apiKey: PARAPH_API_KEY });

const people = [
  { ref: "landlord", first_name: "Zoë", last_name: "Lindqvist", email: "zoe@example.com", order: 1 },
  { ref: "tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com", order: 2 },
];
const places = [
  { signer_ref: "landlord", stamps: [underTag({ tag: "{{signature:landlord}}" })] },
  { signer_ref: "tenant", stamps: [at({ page_number: 1, x: 300, y: 60 })] },
];

async function uploaded(): Promise<{ id: number; content: Uint8Array }> {
  const content = new Uint8Array(await readFile(PARAPH_PDF));
  const { id } = await paraph.uploadDocument({ content, name: "lease.pdf" });
  return { id, content };
}

test("one request from upload to download", async () => {
  const { id, content } = await uploaded();
  const stored = await paraph.document({ document_id: id });
  assert.deepEqual(await paraph.download({ url: stored.download_url ?? "" }), content);

  const { next } = await paraph.listEvents({ after: "latest" });
  const created = await paraph.createSignatureRequest({
    mode: "sequential",
    validity_days: 7,
    signers: people,
    documents: [{ id, signers: places }],
  });
  for (const signer of created.signers) await paraph.sandboxSign({ request_id: created.id, signer_id: signer.id });

  let request = await paraph.signatureRequest({ request_id: created.id });
  for (const end = Date.now() + 60_000; !request.finalized; ) {
    assert.ok(Date.now() < end, "not finalized in a minute");
    await pause(200);
    request = await paraph.signatureRequest({ request_id: created.id });
  }
  const [urls] = request.download_urls ?? [];
  const sealed = await paraph.download({ url: urls?.signed_url ?? "" });
  assert.deepEqual(sealed.subarray(0, content.length), content);

  const types: string[] = [];
  for await (const entry of paraph.iterAuditLogs({ request_id: created.id, limit: 3 })) types.push(entry.event_type);
  assert.equal(types[0], "signature_request.created");
  assert.ok(types.includes("signer.signed") && types.length > 3);

  const events: string[] = [];
  for await (const { event } of paraph.iterEvents({ after: next, limit: 1, signature_request_id: created.id })) {
    events.push(event);
  }
  assert.deepEqual(events.slice(-1), ["request.completed"]);
  assert.equal(events.filter((event) => event === "signer.signed").length, 2);
});

test("a request is looked at before, ended, declined and left to expire", async () => {
  const { id } = await uploaded();
  assert.ok((await paraph.listTags({ document_id: id })).some(({ tag }) => tag === "{{signature:landlord}}"));
  const documents = [{ id, signers: places }];
  const request = { mode: "parallel" as const, validity_days: 7, signers: people, documents };
  const preview = await paraph.previewRequest(request);
  assert.ok(preview.valid && preview.placements.length === 2);
  assert.equal((await paraph.previewRequest({ ...request, validity_days: 0 })).problems[0]?.path, "validity_days");
  assert.equal(new TextDecoder().decode((await paraph.previewPdf(request)).subarray(0, 5)), "%PDF-");

  const ended = await paraph.createSignatureRequest({ ...request, external_id: "lease-9", metadata: { unit: "3b" } });
  const { data } = await paraph.signatureRequests({ external_id: "lease-9" });
  assert.deepEqual(data.map((each) => each.metadata), [{ unit: "3b" }]);
  assert.equal((await paraph.endRequest({ request_id: ended.id, reason: "Withdrawn" })).ended_reason, "Withdrawn");

  const { id: request_id, signers } = await paraph.createSignatureRequest(request);
  const signer = { request_id, signer_id: signers[0]?.id ?? 0 };
  await assert.rejects(paraph.sandboxDecline(signer), { code: "decline_not_allowed" });
  await assert.rejects(paraph.remindSigner(signer), { code: "conflict" });
  assert.equal((await paraph.sandboxExpire({ request_id })).status, "expired");
});

test("a request has fields, an approver and copies", async () => {
  const { id } = await uploaded();
  const placement = at({ page_number: 1, x: 72, y: 300 });
  const field: NewField = { name: "IBAN", type: "text", value: "DE02", placement };
  const boss = { ref: "boss", first_name: "Bo", last_name: "Berg", email: "bo@example.com", role: "approver" as const };
  const signers = [...people, boss];
  const placed = [...places.map((place) => ({ ...place, fields: [field] })), { signer_ref: "boss" }];
  const copies = [{ first_name: "Kim", last_name: "Clerk", email: "kim@example.com" }];
  const asked = { signers, documents: [{ id, signers: placed }], copies, decline_allowed: true };
  const request = { mode: "parallel" as const, validity_days: 7, ...asked };
  assert.equal((await paraph.previewRequest(request)).fields?.length, 2);
  const made = await paraph.createSignatureRequest(request);
  assert.deepEqual(made.signers.map(({ role }) => role), ["signer", "signer", "approver"]);
  assert.deepEqual(made.signers.map(({ fields }) => fields?.map(({ value }) => value)), [[null], [null], []]);
  assert.deepEqual([made.copies, made.decline_allowed, made.declined_by], [copies, true, undefined]);
});

test("a request is made of a template", async () => {
  const { id } = await uploaded();
  const stamps = [at({ page_number: 1, x: 72, y: 72 })];
  const template = await paraph.createTemplate({
    name: "Lease",
    mode: "parallel",
    validity_days: 7,
    roles: [{ name: "Tenant" }],
    documents: [{ id, roles: [{ role: "Tenant", stamps }] }],
  });
  const tenant = { role: "Tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com" };
  const sent = await paraph.sendTemplate({ template_id: template.id, signers: [tenant], validity_days: 3 });
  assert.deepEqual([sent.validity_days, sent.document_ids], [3, [id]]);
  const names: string[] = [];
  for await (const { name } of paraph.iterTemplates()) names.push(name);
  assert.deepEqual(names, ["Lease"]);
  await paraph.deleteTemplate({ template_id: template.id });
  await assert.rejects(paraph.template({ template_id: template.id }), { code: "not_found" });
  await assert.rejects(paraph.createDraft({}), { code: "production_only" });
});

test("a refusal says what is wrong, in the language asked for", async () => {
  const french = new Paraph({ baseUrl: PARAPH_URL, apiKey: PARAPH_API_KEY, language: "fr" });
  const refusal = { status: 404, code: "not_found", message: /ressource/ };
  await assert.rejects(french.document({ document_id: 2 ** 40 }), refusal);
});
