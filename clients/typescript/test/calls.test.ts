/** What each method sends. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Paraph, at } from "../src/index.js";
import { answering } from "./answering.js";

const signers = [{ ref: "a", first_name: "Ada", last_name: "B", email: "a@b.example" }];
const stamps = [at({ page_number: 1, x: 2, y: 3 })];
const documents = [{ id: 35, signers: [{ signer_ref: "a", stamps }] }];
const request = { mode: "parallel" as const, validity_days: 3, signers, documents };
const template = {
  name: "Lease",
  mode: "parallel" as const,
  validity_days: 3,
  roles: [{ name: "Tenant" }],
  documents: [{ id: 35, roles: [{ role: "Tenant", stamps }] }],
};
const filled = [{ role: "Tenant", first_name: "Ada", last_name: "B", email: "a@b.example" }];
const signer = { request_id: 71, signer_id: 4 };
const sandbox = "sandbox/signature_requests/71";

type Sample = [send: (paraph: Paraph) => Promise<unknown>, method: string, path: string, json?: object];

const SAMPLES: Record<string, Sample> = {
  health: [(paraph) => paraph.health(), "GET", "health"],
  document: [(paraph) => paraph.document({ document_id: 35 }), "GET", "documents/35"],
  documents: [(paraph) => paraph.documents({ status: "ready", page: 2 }), "GET", "documents?status=ready&page=2"],
  listTags: [
    (paraph) => paraph.listTags({ document_id: 35, text: "Sign & date" }),
    "GET",
    "documents/35/tags?text=Sign+%26+date",
  ],
  createSignatureRequest: [
    (paraph) => paraph.createSignatureRequest(request),
    "POST",
    "signature_requests",
    { signature_request: request },
  ],
  previewRequest: [
    (paraph) => paraph.previewRequest(request),
    "POST",
    "signature_requests/preview",
    { signature_request: request },
  ],
  evidence: [(paraph) => paraph.evidence({ request_id: 71 }), "GET", "signature_requests/71/evidence"],
  signatureRequest: [(paraph) => paraph.signatureRequest({ request_id: 71 }), "GET", "signature_requests/71"],
  signatureRequests: [
    (paraph) => paraph.signatureRequests({ external_id: "lease-9" }),
    "GET",
    "signature_requests?external_id=lease-9",
  ],
  auditLogs: [
    (paraph) => paraph.auditLogs({ request_id: 71, limit: 5 }),
    "GET",
    "signature_requests/71/audit_logs?limit=5",
  ],
  endRequest: [
    (paraph) => paraph.endRequest({ request_id: 71, reason: "Withdrawn" }),
    "POST",
    "signature_requests/71/end",
    { reason: "Withdrawn" },
  ],
  remindSigner: [(paraph) => paraph.remindSigner(signer), "POST", "signature_requests/71/signers/4/remind"],
  correctSigner: [
    (paraph) => paraph.correctSigner({ ...signer, email: "zoe@example.org", language: "sv" }),
    "POST",
    "signature_requests/71/signers/4/correct",
    { email: "zoe@example.org", language: "sv" },
  ],
  extendRequest: [
    (paraph) => paraph.extendRequest({ request_id: 71, validity_days: 30 }),
    "POST",
    "signature_requests/71/extend",
    { validity_days: 30 },
  ],
  listEvents: [
    (paraph) => paraph.listEvents({ after: "c", limit: 5, event: "signer.signed", signature_request_id: 71 }),
    "GET",
    "events?after=c&limit=5&event=signer.signed&signature_request_id=71",
  ],
  brandingProfiles: [(paraph) => paraph.brandingProfiles(), "GET", "branding_profiles"],
  template: [(paraph) => paraph.template({ template_id: 5 }), "GET", "templates/5"],
  listTemplates: [(paraph) => paraph.listTemplates({ page: 2 }), "GET", "templates?page=2"],
  createTemplate: [(paraph) => paraph.createTemplate(template), "POST", "templates", { template }],
  deleteTemplate: [(paraph) => paraph.deleteTemplate({ template_id: 5 }), "DELETE", "templates/5"],
  sendTemplate: [
    (paraph) => paraph.sendTemplate({ template_id: 5, signers: filled, validity_days: 9 }),
    "POST",
    "templates/5/signature_requests",
    { signature_request: { signers: filled, validity_days: 9 } },
  ],
  createDraft: [(paraph) => paraph.createDraft({ documents }), "POST", "drafts", { signature_request: { documents } }],
  draft: [(paraph) => paraph.draft({ draft_id: 8 }), "GET", "drafts/8"],
  sandboxSign: [(paraph) => paraph.sandboxSign(signer), "POST", `${sandbox}/signers/4/sign`, {}],
  sandboxExpire: [(paraph) => paraph.sandboxExpire({ request_id: 71 }), "POST", `${sandbox}/expire`],
  sandboxDecline: [
    (paraph) => paraph.sandboxDecline({ ...signer, reason: "No." }),
    "POST",
    `${sandbox}/signers/4/decline`,
    { reason: "No." },
  ],
};

for (const [name, [send, method, path, json]] of Object.entries(SAMPLES)) {
  test(`what ${name} sends`, async (t) => {
    const service = await answering(t, [200, { data: [] }], [200, { data: [] }]);
    const paraph = new Paraph({ baseUrl: service.url, apiKey: "k" });
    await send(paraph);
    await send(paraph);
    for (const asked of service.asked) {
      assert.deepEqual([asked.method, asked.path], [method, `/api/v1/${path}`]);
      assert.deepEqual(asked.body ? JSON.parse(asked.body) : undefined, json);
    }
    const keys = new Set(service.asked.map((asked) => asked.headers["idempotency-key"]).filter(Boolean));
    assert.equal(keys.size, method === "POST" && !path.endsWith("preview") ? 2 : 0);
  });
}

test("every method is tried", () => {
  const names = Object.getOwnPropertyNames(Paraph.prototype).filter((name) => name !== "constructor");
  const others = ["download", "previewPdf", "uploadDocument"];
  const walked = ["Documents", "SignatureRequests", "AuditLogs", "Events", "BrandingProfiles", "Templates"];
  const expected = [...Object.keys(SAMPLES), ...others, ...walked.map((each) => `iter${each}`)];
  assert.deepEqual(names.sort(), expected.sort());
});

test("a preview can be a PDF", async (t) => {
  const service = await answering(t, [200, "%PDF-"]);
  const found = await new Paraph({ baseUrl: service.url, apiKey: "k" }).previewPdf(request);
  assert.equal(new TextDecoder().decode(found), "%PDF-");
  assert.equal(service.asked[0]?.headers.accept, "application/pdf");
});

test("events are walked by their cursor", async (t) => {
  const first = { data: [{ id: 1 }, { id: 2 }], next: "c", has_more: true };
  const service = await answering(t, [200, first], [200, { data: [{ id: 3 }], next: "d", has_more: false }]);
  const found: number[] = [];
  const paraph = new Paraph({ baseUrl: service.url, apiKey: "k" });
  for await (const { id } of paraph.iterEvents({ event: "signer.signed" })) found.push(id);
  assert.deepEqual(found, [1, 2, 3]);
  assert.equal(service.asked[1]?.path, "/api/v1/events?limit=100&event=signer.signed&after=c");
});
