"""Examples to paste for Node 18 and newer, which brings all that they need."""

import json

from paraph.api.v1.openapi.examples import CREATIONS

SETUP = """import { readFile, writeFile } from "node:fs/promises";

async function call(path, options = {}) {
  const headers = { "X-Api-Key": process.env.KEY, ...options.headers };
  const answer = await fetch("{address}/api/v1" + path, { ...options, headers });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${body.error.code}: ${body.error.message}`);
  return body;
}"""

_BODY = json.dumps(CREATIONS["links"][1], ensure_ascii=False, indent=2)

NODE = {
    "uploadDocument": """const form = new FormData();
form.set("file", new Blob([await readFile("lease.pdf")], { type: "application/pdf" }), "lease.pdf");
const document = await call("/documents", { method: "POST", body: form });
console.log(document.id, document.sha256_hash);""",
    "listDocuments": """const found = await call("/documents?created_after=2026-01-31&order=desc&limit=50");
console.log(found.data.length, "of", found.pagination.count);""",
    "readDocument": """const document = await call("/documents/35");
const file = await fetch(document.download_url);
await writeFile("uploaded.pdf", Buffer.from(await file.arrayBuffer()));""",
    "createSignatureRequest": f"""const request = await call("/signature_requests", {{
  method: "POST",
  headers: {{ "Content-Type": "application/json" }},
  body: JSON.stringify({_BODY.replace(chr(10), chr(10) + "  ")}),
}});
for (const signer of request.signers) console.log(signer.full_name, signer.signing_url);""",
    "listSignatureRequests": """const { data } = await call("/signature_requests?status=pending&order=desc");
for (const request of data) console.log(request.id, request.expires_at);""",
    "readSignatureRequest": """const request = await call("/signature_requests/71");
if (request.finalized) {
  for (const { document_id, signed_url } of request.download_urls) {
    const file = await fetch(signed_url);
    await writeFile(`signed-${document_id}.pdf`, Buffer.from(await file.arrayBuffer()));
  }
}""",
    "listAuditLogs": """const { data } = await call("/signature_requests/71/audit_logs?limit=100");
for (const entry of data) console.log(entry.created_at, entry.event_type, entry.metadata);""",
    "listBrandingProfiles": """const { data } = await call("/branding_profiles");
for (const profile of data) console.log(profile.id, profile.name);""",
    "readHealth": """console.log((await call("/health")).environment);""",
}

PAGES = """for (let page = 1, last = 1; page <= last; page++) {
  const found = await call(`/signature_requests?status=completed&created_after=2026-01-31&limit=100&page=${page}`);
  for (const request of found.data) console.log(request.id);
  last = found.pagination.pages;
}"""
