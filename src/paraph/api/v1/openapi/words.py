"""The prose of the OpenAPI document: what the API is, and what each operation and parameter does."""

TITLE = "Paraph API"
SUMMARY = "Electronic signatures: PDFs in, sealed and provable PDFs out."
DESCRIPTION = """Upload PDFs, create a signature request that names who signs where, follow it by webhooks, by events
or by reading it, and download the sealed documents with their proof file.

Bodies are JSON, except the upload (multipart/form-data). Timestamps are UTC, `YYYY-MM-DDTHH:MM:SSZ`. Ids are
integers, unique within a kind of resource, and another number in the other environment. Ignore response fields that
you do not know: new ones are no breaking change. An optional field of a body that is null counts as absent; the one
exception is `optional` of a stamp.

`HEAD` is answered like `GET`, without the body. Any other method gives 405 `method_not_allowed` with `Allow`."""

KEY = """64 hexadecimal characters, shown once when the application is created. The key decides the organization and
the environment, `sandbox` or `production`."""

TAGS = {
    "Documents": "Uploaded PDFs. They are never changed: signing makes a new file.",
    "Signature requests": "Who signs which documents, in which order, where; and what has happened so far.",
    "Templates": "Signature requests without people: documents, roles, places and options, to be sent again and again.",
    "Drafts": "Requests that your program prepares and a person sends.",
    "Events": "What happened to the requests of an environment, kept for 30 days: nothing missed, nothing twice.",
    "Branding profiles": "Colours of the signer's pages. The same in both environments.",
    "Sandbox acts": "What signers and the clock do, done by your tests. For sandbox keys alone.",
    "Service": "Whether the service answers.",
    "Webhooks": "What your backend hears.",
}

OPERATIONS = {
    "uploadDocument": (
        "Upload a PDF",
        "Stores the file as it is and answers with its digest. The part must be of the MIME type `application/pdf`, in "
        "capital or small letters, with or without parameters; its file name is what the proof file calls the "
        "document. Password-protected files, dynamic forms and files whose earlier signature forbids changes are "
        "refused with the reason. What else you may want to know, of scripts and earlier signatures for example, "
        "stands in `preflight`.",
        "The document, with `preflight`.",
    ),
    "listDocuments": (
        "List documents",
        "Lists the documents of the key's environment, oldest first unless `order` says otherwise.",
        "A page of documents, without `download_url` and `preflight`.",
    ),
    "readDocument": (
        "Read a document",
        "Reads one document, with an address to download the uploaded file from for 15 minutes.",
        "The document, with `download_url` and `preflight`.",
    ),
    "listDocumentTags": (
        "List the tags of a document",
        "Lists what stands in double braces, such as `{{signature:landlord}}`, wherever it does: what magic fields can "
        "name. With `text`, the places of another text.",
        "The tags, in reading order.",
    ),
    "createSignatureRequest": (
        "Create a signature request",
        "Creates a request from uploaded documents. Everything is checked first, stamps against the pages of the PDFs "
        "too; whatever is wrong is named in one message, each problem with its path, and nothing is created. Each "
        "signer's `signing_url` is in the answer. With `send_email` the service invites by e-mail: everybody in "
        "`parallel` mode, one after the other in `sequential` mode. A repeated call creates another request, "
        "unless it names the same `Idempotency-Key`.",
        "The request. It is `pending`, and so are its signers.",
    ),
    "previewSignatureRequest": (
        "Preview a signature request",
        "Takes the body of a creation and creates nothing: it says whether it would be accepted, names every problem "
        "with its path, and tells where each stamp would stand. With `Accept: application/pdf` the answer is the "
        "documents as one PDF, with a box and a name where each stamp would stand and PREVIEW across each page, up to "
        "1,000 pages and 100 MiB; where a creation would be refused, it is refused with the same status and code.",
        "What a creation would come to.",
    ),
    "listSignatureRequests": (
        "List signature requests",
        "Lists the requests of the key's environment, oldest first unless `order` says otherwise.",
        "A page of requests, without `download_urls`.",
    ),
    "readSignatureRequest": (
        "Read a signature request",
        "Reads one request. Wait for `finalized`, not for `status`, before you download: sealing follows the last "
        "signature. `status` is what to go by when you reconcile.",
        "The request; once it is completed and finalized, with `download_urls`.",
    ),
    "endSignatureRequest": (
        "End a signature request early",
        "Ends a pending request before its time. Its status becomes `expired`, nobody can sign any more, and what is "
        "signed already is not sealed. Audit log and webhooks say why, and signers are not told.",
        "The request, `expired` and `ended_early`.",
    ),
    "remindSigner": (
        "Remind a signer",
        "Mails the invitation again to a signer who may sign now: at most once in 24 hours and five times in all, "
        "together with the reminders that members send from the dashboard. For requests with `send_email`. There is "
        "no body.",
        "The signer. The mail is on its way; the audit log tells when the mail server has it.",
    ),
    "listAuditLogs": (
        "List the audit log of a request",
        "Lists what happened to a request, oldest first. Entries are only ever added.",
        "A page of entries.",
    ),
    "createTemplate": (
        "Create a template",
        "Keeps documents, roles, places and options for requests to come. It is checked as a creation with somebody in "
        "each role would be: whatever is wrong is named in one message, and nothing is kept. A template never changes. "
        "Those of production stand in the dashboard too, and those made there are listed here.",
        "The template, with the placements as they were given.",
    ),
    "listTemplates": (
        "List templates",
        "Lists the templates of the key's environment by name.",
        "A page of templates.",
    ),
    "readTemplate": ("Read a template", "Reads one template.", "The template."),
    "deleteTemplate": (
        "Delete a template",
        "Deletes the template. Requests from it stay, and so do its documents while anything else uses them.",
        "It is deleted. The answer has no body.",
    ),
    "sendTemplate": (
        "Create a signature request from a template",
        "Creates a request with one signer for each role. Any option of a creation may be given too, and is then used "
        "instead of the template's. The rest is as with a creation.",
        "The request. It is `pending`, and so are its signers.",
    ),
    "createDraft": (
        "Prepare a draft",
        "Prepares a request that a member of your organization reviews and sends: nothing is sent to anybody before. "
        "Anything may be missing; what is there is checked as in a creation. A draft is sent from the dashboard, so it "
        "needs a production key and counts as a request sent there. The service sends the mails, unless `send_email` "
        "is `false`, and the member who sends declares that the signers are identified.",
        "The draft's `id`, and the address to give to a member.",
    ),
    "readDraft": (
        "Read a draft",
        "Tells what became of a draft that a production key has prepared, at any time.",
        "The draft's state.",
    ),
    "listEvents": (
        "List events",
        "Lists what webhooks tell of all requests of the key's environment, those sent from the dashboard too, with or "
        "without a webhook URL, in the order in which it was committed. Go on from `next`: none is missed and none "
        "comes twice, whatever happens meanwhile. Events are kept for 30 days. With a filter, `next` lies behind what "
        "the filter leaves out.",
        "The events behind the cursor.",
    ),
    "listBrandingProfiles": (
        "List branding profiles",
        "Lists the organization's branding profiles by name, whichever environment the key is of.",
        "A page of branding profiles.",
    ),
    "sandboxSign": (
        "Sign for a signer in the sandbox",
        "Signs as the signer's page would, in the same order and with the same refusals, but without a one-time code: "
        "none is sent. Initials, where the request wants them, are those of the name. The entry of the audit log says "
        "`sandbox_act`. With the last signature the request is completed, sealed and finalized as ever.",
        "The request, with the signature.",
    ),
    "sandboxExpire": (
        "Let a request expire in the sandbox",
        "Moves `expires_at` to now and expires the request, as the clock would have: with its webhook, its event and "
        "its entry of the audit log, which says `sandbox_act`.",
        "The request, `expired`.",
    ),
    "sandboxDecline": (
        "Decline for a signer in the sandbox",
        "Declines for a signer, as the signer's page would, where the request allows its signers to decline: the "
        "request ends early, with its webhook, its event and its entry of the audit log, which says `sandbox_act`.",
        "The request, `expired`, with `declined_by`.",
    ),
    "readHealth": (
        "Ask whether the service answers",
        "Tells that the service answers, and which environment the key belongs to. Counts as a call.",
        "It answers.",
    ),
}

PATH_PARAMETERS = {
    "document_id": "The document's `id`.",
    "request_id": "The request's `id`.",
    "signature_request_id": "The request's `id`.",
    "template_id": "The template's `id`.",
    "draft_id": "The draft's `id`.",
    "signer_id": "The signer's `id` in the request.",
}

LIMIT_HEADERS = {
    "Retry-After": (
        "Seconds to wait before the next call; 0 while calls remain and nothing else stands in its way.",
        0,
    ),
    "X-RateLimit-Limit": ("Ceiling of the most constraining window.", 120),
    "X-RateLimit-Remaining": ("Calls left in that window; 0 on a 429.", 117),
    "X-RateLimit-Reset": ("Unix time of that window's reset.", 1905323460),
}
REQUEST_ID = "Identifies this call in the service's log. Name it when you ask the operator."
IDEMPOTENT_REPLAYED = "`true` where the call did nothing, since an earlier one with its `Idempotency-Key` did."
WWW_AUTHENTICATE = "How to authenticate: `ApiKey`."
