"""Examples to paste: each operation with the Python and TypeScript clients, and checks of a webhook's signature; the
signer's endpoints with curl and TypeScript. Those of operations with curl are made from the OpenAPI document.

The examples of uploading and of creating a request make document 35 and request 71 with signer 141, which the others
use; ``API`` and ``KEY`` are set at the top of the page. ``SIGNING_URL`` is a signer's ``signing_url``, ``CODE`` what
they were sent.
"""

SETUP_CURL = """export API={address}/api/v1
export KEY=…   # 64 hexadecimal characters"""

SETUP_PYTHON = """import os
from pathlib import Path

from paraph_client import (
    Client, DocumentInput, Placement, RolePlacement, RoleSigner, SignerInput, TemplateDocument, TemplateRole, at,
    under_tag,
)

paraph = Client("{address}", api_key=os.environ["KEY"])"""

INSTALL_PYTHON = """pip install ./clients/python      # the sources
pip install paraph_client-*.whl   # a package"""

INSTALL_TYPESCRIPT = """npm install ./clients/typescript    # the sources
npm install ./paraph-client-*.tgz   # a package"""

VERIFY_FILES = """paraph verify proof.pdf signed-35.pdf lease.pdf --root root-ca.pem
paraph verify proof.pdf signed-35.pdf lease.pdf --root root-ca.pem --json"""

CURL_QUERIES = {
    "listDocuments": "?created_after=2026-01-31&order=desc&limit=50",
    "listSignatureRequests": "?status=pending&order=desc",
    "listAuditLogs": "?limit=100",
    "listTemplates": "?limit=100",
    "listEvents": "?limit=100",
}

PYTHON = {
    "uploadDocument": """document = paraph.upload_document(Path("lease.pdf").read_bytes(), "lease.pdf")
print(document.id, document.sha256_hash)""",
    "listDocuments": """for document in paraph.iter_documents(created_after="2026-01-31", order="desc"):
    print(document.id, document.created_at)""",
    "readDocument": """document = paraph.document(35)
Path("uploaded.pdf").write_bytes(paraph.download(document.download_url))""",
    "listDocumentTags": """for tag in paraph.list_tags(35):
    print(tag.tag, tag.page_number, tag.x, tag.y)""",
    "createSignatureRequest": """request = paraph.create_signature_request(
    mode="parallel",
    validity_days=14,
    signers=[
        SignerInput("landlord", "Zoë", "Lindqvist", "zoe@example.com"),
        SignerInput("tenant", "Ana", "Costa", "ana@example.com"),
    ],
    documents=[
        DocumentInput(35, [
            Placement("landlord", [under_tag("{{signature:landlord}}")]),
            Placement("tenant", [at(page_number=3, x=316, y=120)]),
        ]),
    ],
)
for signer in request.signers:
    print(signer.full_name, signer.signing_url)""",
    "previewSignatureRequest": """preview = paraph.preview_request(
    mode="parallel",
    validity_days=14,
    signers=[SignerInput("landlord", "Zoë", "Lindqvist", "zoe@example.com")],
    documents=[DocumentInput(35, [Placement("landlord", [under_tag("{{signature:landlord}}")])])],
)
for problem in preview.problems:
    print(problem.path, problem.message)
for stamp in preview.placements:
    print(stamp.signer_ref, stamp.page_number, stamp.x, stamp.y)""",
    "listSignatureRequests": """for request in paraph.iter_signature_requests(status="pending", order="desc"):
    print(request.id, request.expires_at)""",
    "readSignatureRequest": """request = paraph.signature_request(71)
if request.finalized:
    for urls in request.download_urls:
        Path(f"signed-{urls.document_id}.pdf").write_bytes(paraph.download(urls.signed_url))
    Path("proof.pdf").write_bytes(paraph.download(request.download_urls[0].certificate_url))""",
    "endSignatureRequest": """request = paraph.end_request(71, reason="Signed on paper.")
print(request.status, request.ended_reason)""",
    "remindSigner": """signer = paraph.remind_signer(71, 141)
print(signer.full_name, signer.status)""",
    "listAuditLogs": """for entry in paraph.iter_audit_logs(71):
    print(entry.created_at, entry.event_type, entry.metadata)""",
    "createTemplate": """template = paraph.create_template(
    name="Lease",
    mode="sequential",
    validity_days=30,
    roles=[TemplateRole("Landlord"), TemplateRole("Tenant", otp_channel="email")],
    documents=[
        TemplateDocument(35, [
            RolePlacement("Landlord", [under_tag("{{signature:landlord}}")]),
            RolePlacement("Tenant", [at(page_number=3, x=316, y=120)]),
        ]),
    ],
)
print(template.id)""",
    "listTemplates": """for template in paraph.iter_templates():
    print(template.id, template.name, [role["name"] for role in template.roles])""",
    "readTemplate": """template = paraph.template(12)
print(template.name, template.documents)""",
    "sendTemplate": """request = paraph.send_template(
    12,
    signers=[
        RoleSigner("Landlord", "Zoë", "Lindqvist", "zoe@example.com"),
        RoleSigner("Tenant", "Ana", "Costa", "ana@example.com"),
    ],
)
for signer in request.signers:
    print(signer.full_name, signer.signing_url)""",
    "deleteTemplate": """paraph.delete_template(12)""",
    "createDraft": """draft = paraph.create_draft(
    validity_days=14,
    signers=[SignerInput("tenant", "Ana", "Costa", "ana@example.com")],
    documents=[DocumentInput(35, [])],
)
print("To be reviewed:", draft.review_url)""",
    "readDraft": """draft = paraph.draft(23)
print(draft.status, draft.signature_request_id)""",
    "listEvents": """page = paraph.list_events(limit=100)
for event in page.data:
    print(event.id, event.event, event.signature_request.id)
print("go on from", page.next)""",
    "listBrandingProfiles": """for profile in paraph.branding_profiles().data:
    print(profile.id, profile.name)""",
    "sandboxSign": """request = paraph.sandbox_sign(71, 141)
print(request.status, [signer.status for signer in request.signers])""",
    "sandboxExpire": """request = paraph.sandbox_expire(71)
print(request.status, request.expires_at)""",
    "sandboxDecline": """from paraph_client import ParaphError

try:
    paraph.sandbox_decline(71, 141)
except ParaphError as refusal:
    print(refusal.code)   # decline_not_allowed""",
    "readHealth": """print(paraph.health().environment)""",
}

VERIFY_CLIENT = """from paraph_client import InvalidSignatureError, verify_webhook


def receive(body: bytes, signature: str, secret: str) -> int:
    \"\"\"The status to answer with. `body` is raw, `signature` the header X-Service-Signature.\"\"\"
    try:
        event = verify_webhook(body, signature, secret)
    except InvalidSignatureError:
        return 401
    print(event["event"], event["signature_request"]["id"])  # your queue; answer first, work later
    return 204"""

VERIFY_PYTHON = """import hashlib
import hmac


def is_genuine(body: bytes, signature: str, secret: str) -> bool:
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())"""

VERIFY_TYPESCRIPT = """import { InvalidSignatureError, verifyWebhook } from "paraph-client";

export async function receive(incoming: Request, secret: string): Promise<Response> {
  const signature = incoming.headers.get("X-Service-Signature");
  try {
    const event = await verifyWebhook({ body: await incoming.text(), signature, secret });
    console.log(event.event, event.signature_request.id); // your queue; answer first, work later
  } catch (error) {
    if (error instanceof InvalidSignatureError) return new Response(null, { status: 401 });
    throw error;
  }
  return new Response(null, { status: 204 });
}"""

PAGES_CURL = 'curl -s "$API/signature_requests?page=2&limit=50&status=completed&created_after=2026-01-31" \\\n' + (
    '  -H "X-Api-Key: $KEY"'
)
PAGES_PYTHON = """for request in paraph.iter_signature_requests(status="completed", created_after="2026-01-31"):
    print(request.id)   # all pages, one call for each hundred"""

SIGN_CURL = """CODE=$(curl -s "$SIGNING_URL/otp" \\
  -H "Content-Type: application/json" \\
  -d '{"channel": "email"}' |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["sandbox_code"])')
curl -s "$SIGNING_URL/signature" \\
  -H "Content-Type: application/json" \\
  -d '{"code": "'$CODE'", "consent": true}'"""

SETUP_TYPESCRIPT = """import { readFile, writeFile } from "node:fs/promises";
import { Paraph, ParaphError, at, underTag } from "paraph-client";

const paraph = new Paraph({ baseUrl: "{address}", apiKey: process.env.KEY! });"""

TYPESCRIPT = {
    "uploadDocument": """const content = await readFile("lease.pdf");
const document = await paraph.uploadDocument({ content, name: "lease.pdf" });
console.log(document.id, document.sha256_hash);""",
    "listDocuments": """const asked = { created_after: "2026-01-31", order: "desc" } as const;
for await (const document of paraph.iterDocuments(asked)) {
  console.log(document.id, document.created_at);
}""",
    "readDocument": """const document = await paraph.document({ document_id: 35 });
await writeFile("uploaded.pdf", await paraph.download({ url: document.download_url! }));""",
    "listDocumentTags": """for (const tag of await paraph.listTags({ document_id: 35 })) {
  console.log(tag.tag, tag.page_number, tag.x, tag.y);
}""",
    "createSignatureRequest": """const request = await paraph.createSignatureRequest({
  mode: "parallel",
  validity_days: 14,
  signers: [
    { ref: "landlord", first_name: "Zoë", last_name: "Lindqvist", email: "zoe@example.com" },
    { ref: "tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com" },
  ],
  documents: [
    {
      id: 35,
      signers: [
        { signer_ref: "landlord", stamps: [underTag({ tag: "{{signature:landlord}}" })] },
        { signer_ref: "tenant", stamps: [at({ page_number: 3, x: 316, y: 120 })] },
      ],
    },
  ],
});
for (const signer of request.signers) console.log(signer.full_name, signer.signing_url);""",
    "previewSignatureRequest": """const preview = await paraph.previewRequest({
  mode: "parallel",
  validity_days: 14,
  signers: [{ ref: "landlord", first_name: "Zoë", last_name: "Lindqvist", email: "zoe@example.com" }],
  documents: [
    { id: 35, signers: [{ signer_ref: "landlord", stamps: [underTag({ tag: "{{signature:landlord}}" })] }] },
  ],
});
for (const problem of preview.problems) console.log(problem.path, problem.message);
for (const stamp of preview.placements) console.log(stamp.signer_ref, stamp.page_number, stamp.x, stamp.y);""",
    "listSignatureRequests": """const asked = { status: "pending", order: "desc" } as const;
for await (const request of paraph.iterSignatureRequests(asked)) {
  console.log(request.id, request.expires_at);
}""",
    "readSignatureRequest": """const request = await paraph.signatureRequest({ request_id: 71 });
for (const { document_id, signed_url, certificate_url } of request.download_urls ?? []) {
  await writeFile(`signed-${document_id}.pdf`, await paraph.download({ url: signed_url }));
  await writeFile("proof.pdf", await paraph.download({ url: certificate_url }));
}""",
    "endSignatureRequest": """const request = await paraph.endRequest({ request_id: 71, reason: "Signed on paper." });
console.log(request.status, request.ended_reason);""",
    "remindSigner": """const signer = await paraph.remindSigner({ request_id: 71, signer_id: 141 });
console.log(signer.full_name, signer.status);""",
    "listAuditLogs": """for await (const entry of paraph.iterAuditLogs({ request_id: 71 })) {
  console.log(entry.created_at, entry.event_type, entry.metadata);
}""",
    "createTemplate": """const template = await paraph.createTemplate({
  name: "Lease",
  mode: "sequential",
  validity_days: 30,
  roles: [{ name: "Landlord" }, { name: "Tenant", otp_channel: "email" }],
  documents: [
    {
      id: 35,
      roles: [
        { role: "Landlord", stamps: [underTag({ tag: "{{signature:landlord}}" })] },
        { role: "Tenant", stamps: [at({ page_number: 3, x: 316, y: 120 })] },
      ],
    },
  ],
});
console.log(template.id);""",
    "listTemplates": """for await (const template of paraph.iterTemplates()) {
  console.log(template.id, template.name, template.roles.map((role) => role.name));
}""",
    "readTemplate": """const template = await paraph.template({ template_id: 12 });
console.log(template.name, template.documents);""",
    "sendTemplate": """const request = await paraph.sendTemplate({
  template_id: 12,
  signers: [
    { role: "Landlord", first_name: "Zoë", last_name: "Lindqvist", email: "zoe@example.com" },
    { role: "Tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com" },
  ],
});
for (const signer of request.signers) console.log(signer.full_name, signer.signing_url);""",
    "deleteTemplate": """await paraph.deleteTemplate({ template_id: 12 });""",
    "createDraft": """const draft = await paraph.createDraft({
  validity_days: 14,
  signers: [{ ref: "tenant", first_name: "Ana", last_name: "Costa", email: "ana@example.com" }],
  documents: [{ id: 35 }],
});
console.log("To be reviewed:", draft.review_url);""",
    "readDraft": """const draft = await paraph.draft({ draft_id: 23 });
console.log(draft.status, draft.signature_request_id);""",
    "listEvents": """const { data, next } = await paraph.listEvents({ limit: 100 });
for (const event of data) console.log(event.id, event.event, event.signature_request.id);
console.log("go on from", next);""",
    "listBrandingProfiles": """for await (const profile of paraph.iterBrandingProfiles()) {
  console.log(profile.id, profile.name);
}""",
    "sandboxSign": """const request = await paraph.sandboxSign({ request_id: 71, signer_id: 141 });
console.log(request.status, request.signers.map((signer) => signer.status));""",
    "sandboxExpire": """const request = await paraph.sandboxExpire({ request_id: 71 });
console.log(request.status, request.expires_at);""",
    "sandboxDecline": """try {
  await paraph.sandboxDecline({ request_id: 71, signer_id: 141 });
} catch (refusal) {
  if (!(refusal instanceof ParaphError)) throw refusal;
  console.log(refusal.code); // decline_not_allowed
}""",
    "readHealth": """console.log((await paraph.health()).environment);""",
}

PAGES_TYPESCRIPT = """const completed = { status: "completed", created_after: "2026-01-31" } as const;
for await (const request of paraph.iterSignatureRequests(completed)) {
  console.log(request.id); // all pages, one call for each hundred
}"""

RETRY_CURL = """ONCE=$(python3 -c 'import uuid; print(uuid.uuid4())')   # keep it until the call is answered
curl -s --retry 3 --retry-all-errors "$API/documents" \\
  -H "X-Api-Key: $KEY" \\
  -H "Idempotency-Key: $ONCE" \\
  -F "file=@lease.pdf;type=application/pdf\""""

RETRY_PYTHON = """# the client makes the key, and sends the call again up to three times (retries=3)
document = paraph.upload_document(Path("lease.pdf").read_bytes(), "lease.pdf")
print(document.id)"""

RETRY_TYPESCRIPT = """// the client makes the key, and sends the call again up to three times (retries: 3)
const document = await paraph.uploadDocument({ content: await readFile("lease.pdf"), name: "lease.pdf" });
console.log(document.id);"""

CATCH_UP_CURL = """AFTER=$(cat cursor 2> /dev/null || true)
PAGE=$(curl -s "$API/events?limit=100${AFTER:+&after=$AFTER}" \\
  -H "X-Api-Key: $KEY")
echo "$PAGE"   # your work
echo "$PAGE" | python3 -c 'import json, sys; print(json.load(sys.stdin)["next"])' > cursor"""

CATCH_UP_PYTHON = """kept = Path("cursor")   # keep it in your database, beside what the events lead to
more = True
while more:
    page = paraph.list_events(after=kept.read_text() if kept.exists() else None, limit=100)
    for event in page.data:
        print(event.id, event.event, event.signature_request.id)   # your work
    kept.write_text(page.next)
    more = page.has_more"""

CATCH_UP_TYPESCRIPT = """// keep the cursor in your database, beside what the events lead to
let after = await readFile("cursor", "utf8").catch(() => undefined);
for (let more = true; more; ) {
  const page = await paraph.listEvents({ after, limit: 100 });
  for (const event of page.data) console.log(event.id, event.event, event.signature_request.id); // your work
  after = page.next;
  await writeFile("cursor", after);
  more = page.has_more;
}"""

TEST_CURL = """NEXT=$(curl -s "$API/events?after=latest" -H "X-Api-Key: $KEY" |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["next"])')
curl -s -X POST "$API/sandbox/signature_requests/71/signers/141/sign" \\
  -H "X-Api-Key: $KEY"
until curl -s "$API/events?after=$NEXT&signature_request_id=71" -H "X-Api-Key: $KEY" | grep request.completed
do sleep 1; done"""

TEST_PYTHON = """import time

after = paraph.list_events(after="latest").next
for signer in paraph.signature_request(71).signers:
    paraph.sandbox_sign(71, signer.id)
found = []
while not found:   # sealing takes a second or two
    time.sleep(0.5)
    found = paraph.list_events(after=after, event="request.completed", signature_request_id=71).data
for document in found[0].documents:
    assert paraph.download(document.signed_url).startswith(b"%PDF-")"""

TEST_TYPESCRIPT = """const { next: after } = await paraph.listEvents({ after: "latest" });
for (const { id } of (await paraph.signatureRequest({ request_id: 71 })).signers) {
  await paraph.sandboxSign({ request_id: 71, signer_id: id });
}
const asked = { after, event: "request.completed", signature_request_id: 71 } as const;
let { data } = await paraph.listEvents(asked);
while (!data[0]) {
  await new Promise((resolve) => setTimeout(resolve, 500)); // sealing takes a second or two
  ({ data } = await paraph.listEvents(asked));
}
for (const { signed_url } of data[0].documents ?? []) {
  console.log(new TextDecoder().decode((await paraph.download({ url: signed_url })).subarray(0, 5))); // %PDF-
}"""

TEST_FIELDS_CURL = """curl -s "$API/sandbox/signature_requests/71/signers/141/sign" \\
  -H "X-Api-Key: $KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"fields": [{"document_id": 35, "name": "IBAN", "value": "DE02 1203 0000 0000 2020 51"}]}'"""

TEST_FIELDS_PYTHON = """[signer] = paraph.signature_request(71).signers
request = paraph.sandbox_sign(
    71,
    signer.id,
    fields=[{"document_id": 35, "name": "IBAN", "value": "DE02 1203 0000 0000 2020 51"}],
)
print([(field.name, field.value) for field in request.signers[0].fields])"""

TEST_FIELDS_TYPESCRIPT = """const [signer] = (await paraph.signatureRequest({ request_id: 71 })).signers;
const request = await paraph.sandboxSign({
  request_id: 71,
  signer_id: signer!.id,
  fields: [{ document_id: 35, name: "IBAN", value: "DE02 1203 0000 0000 2020 51" }],
});
console.log(request.signers[0]?.fields);"""

_JSON = ' \\\n  -H "Content-Type: application/json" \\\n  -d '
_CURL = 'curl -s "$SIGNING_URL{}"'
_FETCH = """const signing = process.env.SIGNING_URL;
const answer = await fetch(`${signing}%s`);
console.log(%s);"""
_POST = """const signing = process.env.SIGNING_URL;
const answer = await fetch(`${signing}%s`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(%s),
});
console.log(%s);"""

SIGNER_CURL = {
    "sendCode": _CURL.format("/otp") + _JSON + '\'{"channel": "email"}\'',
    "sign": _CURL.format("/signature") + _JSON + '\'{"code": "\'$CODE\'", "consent": true}\'',
    "drawStamp": _CURL.format("/stamp") + _JSON + '\'{"signature": {"type": "typed", "hand": 2}}\'',
    "drawTypedStamp": _CURL.format("/stamp.svg?hand=2") + " -o stamp.svg",
    "drawTypedInitials": _CURL.format("/initials.svg") + " -o initials.svg",
    "readProgress": _CURL.format("/progress"),
    "showLogo": _CURL.format("/logo.png") + " -o logo.png",
    "downloadUnsigned": _CURL.format("/documents/35.pdf") + " -o unsigned.pdf",
    "readPageText": _CURL.format("/documents/35/pages/1/text"),
    "showPage": _CURL.format("/documents/35/pages/1.webp") + " -o page.webp",
    "enlargePage": _CURL.format("/documents/35/pages/1-200.webp") + " -o page.webp",
    "showPrintedPage": _CURL.format("/documents/35/pages/1-print.webp") + " -o page.webp",
    "downloadCopy": _CURL.format("/documents/35/copy.pdf?ticket=$TICKET") + " -o signed.pdf",
    "downloadProof": _CURL.format("/proof.pdf?ticket=$TICKET") + " -o proof.pdf",
}

SIGNER_TYPESCRIPT = {
    "sendCode": _POST % ("/otp", '{ channel: "email" }', "await answer.json()"),
    "sign": _POST
    % (
        "/signature",
        "{ code: process.env.CODE, consent: true }",
        'await answer.json(), answer.headers.get("X-Copy-Ticket")',
    ),
    "drawStamp": _POST % ("/stamp", '{ signature: { type: "typed", hand: 2 } }', "(await answer.json()).svg"),
    "readProgress": _FETCH % ("/progress", "await answer.json()"),
    "readPageText": _FETCH % ("/documents/35/pages/1/text", "(await answer.json()).lines"),
}

EMBED = """<div id="signing"></div>
<script src="{address}/sign/embed.js"></script>
<script>
  Paraph.embed(document.getElementById("signing"), signingUrl, {{
    onEvent(event) {{
      if (event.type === "paraph:signed") {{
        location.assign("/thanks");
      }}
    }},
  }});
</script>"""
