/** The whole way against a running service: `PARAPH_URL`, a sandbox key `PARAPH_API_KEY`, and `PARAPH_PDF`, a file with
 * the text `{{signature:landlord}}`. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { Paraph, at, underTag } from "../src/index.js";

const { PARAPH_URL = "", PARAPH_API_KEY = "", PARAPH_PDF = "" } = process.env;
const paraph = new Paraph({ baseUrl: PARAPH_URL, apiKey: PARAPH_API_KEY });

test("one request from upload to download", async () => {
  const content = await readFile(PARAPH_PDF);
  const document = await paraph.uploadDocument({ content, name: "lease.pdf" });
  const stored = await paraph.document({ document_id: document.id });
  assert.deepEqual(await paraph.download({ url: stored.download_url ?? "" }), new Uint8Array(content));

  const created = await paraph.createSignatureRequest({
    mode: "sequential",
    validity_days: 7,
    signers: [
      { ref: "landlord", first_name: "Zoë", last_name: "Lindqvist", email: "zoe@example.com", order: 1 },
      { ref: "tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com", order: 2 },
    ],
    documents: [
      {
        id: document.id,
        signers: [
          { signer_ref: "landlord", stamps: [underTag({ tag: "{{signature:landlord}}" })] },
          { signer_ref: "tenant", stamps: [at({ page_number: 1, x: 300, y: 60 })] },
        ],
      },
    ],
  });
  for (const { signing_url } of created.signers) await sign(signing_url ?? "");

  let request = await paraph.signatureRequest({ request_id: created.id });
  for (const end = Date.now() + 60_000; !request.finalized; ) {
    assert.ok(Date.now() < end, "not finalized in a minute");
    await pause(200);
    request = await paraph.signatureRequest({ request_id: created.id });
  }
  const [urls] = request.download_urls ?? [];
  const sealed = await paraph.download({ url: urls?.signed_url ?? "" });
  assert.deepEqual(sealed.subarray(0, content.length), new Uint8Array(content));

  const types: string[] = [];
  for await (const entry of paraph.iterAuditLogs({ request_id: created.id, limit: 3 })) types.push(entry.event_type);
  assert.equal(types[0], "signature_request.created");
  assert.ok(types.includes("signer.signed") && types.length > 3);
});

test("a refusal says what is wrong, in the language asked for", async () => {
  const french = new Paraph({ baseUrl: PARAPH_URL, apiKey: PARAPH_API_KEY, language: "fr" });
  await assert.rejects(french.document({ document_id: 2 ** 40 }), { status: 404, code: "not_found", message: /ressource/ });
});

async function sign(signing_url: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    const answer = await fetch(`${signing_url}${path}`, options);
    assert.ok(answer.ok, await answer.clone().text());
    return (await answer.json()) as { sandbox_code: string };
  };
  const { sandbox_code: code } = await post("/otp", { channel: "email" });
  await post("/signature", { code, consent: true });
}
