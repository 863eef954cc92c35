"""Examples for the OpenAPI document: one lease, signed by two people."""

from typing import Any

Json = dict[str, Any]
ADDRESS = "https://sign.example.com"

_LINK = "expires=1905323712&filename={}&signature=9d3c71ab5e0f4482b6a1c0d7e8f95a3b6c2d1e4f70819a2b3c4d5e6f708192a3"
_STORED = f"{ADDRESS}/files"
SIGNED_URL = f"{_STORED}/sealed/3b8f0d6c1a5e4f27.pdf?{_LINK.format('signed-lease.pdf')}"
CERTIFICATE_URL = f"{_STORED}/proofs/c27e5a1d9b3f4e60.pdf?{_LINK.format('proof-71.pdf')}"
_UPLOADED_URL = f"{_STORED}/documents/7f1d4c2b9a8e6035.pdf?{_LINK.format('lease.pdf')}"

DOCUMENT: Json = {
    "id": 35,
    "content_type": "pdf",
    "sha256_hash": "5c1f0bd0a1b0f5e0f3a54a0c2f4df3a0f4a3f1a2f6bb6f1f0c4b8de3c9a7d212",
    "file_size": 48213,
    "status": "ready",
    "created_at": "2030-05-16T14:02:31Z",
}
PREFLIGHT: Json = {
    "page_count": 3,
    "sizes": [{"width": 595, "height": 842, "pages": 2}, {"width": 842, "height": 595, "pages": 1}],
    "rotated_pages": 1,
    "version": "1.7",
    "encryption": None,
    "signatures": {"count": 0, "certification": None, "usage_rights": False},
    "forms": {"fields": 4, "xfa": False},
    "scripts": 1,
    "launch_actions": 0,
    "submit_actions": 0,
    "attachments": 0,
    "prints_differently": [3],
    "print_unknown": 0,
    "can_change": ["scripts", "screen_only_annotations"],
    "repairs": [],
    "method": "incremental",
}
UPLOADED: Json = DOCUMENT | {"preflight": PREFLIGHT}
BRANDING_PROFILE: Json = {
    "id": 4,
    "name": "Harbour Lane",
    "background_color": "#f6f4ee",
    "text_color": "#1c1b19",
    "accent_color": "#1d4ed8",
}
_LANDLORD: Json = {
    "id": 141,
    "first_name": "Zoë",
    "last_name": "Lindqvist",
    "full_name": "Zoë Lindqvist",
    "email": "zoe@example.com",
    "order": 1,
    "status": "pending",
    "signed_at": None,
    "signing_url": f"{ADDRESS}/sign/jQ.4mXr0c8yQ1mZsVtJ2hN7w",
}
_TENANT: Json = {
    "id": 142,
    "first_name": "Ana",
    "last_name": "Costa",
    "full_name": "Ana Costa",
    "email": "ana@example.com",
    "order": 2,
    "status": "pending",
    "signed_at": None,
    "signing_url": f"{ADDRESS}/sign/jg.Zk3vT9aLw5eYbR1uPqXo6d",
}
CREATED: Json = {
    "id": 71,
    "mode": "sequential",
    "status": "pending",
    "validity_days": 30,
    "initials_required": False,
    "notify_signers_on_completion": True,
    "expires_at": "2030-06-15T14:02:40Z",
    "created_at": "2030-05-16T14:02:40Z",
    "document_ids": [35],
    "signers": [_LANDLORD, _TENANT],
    "branding_profile": None,
}
_COMPLETED: Json = CREATED | {
    "status": "completed",
    "finalized": True,
    "signers": [
        _LANDLORD | {"status": "signed", "signed_at": "2030-05-16T16:45:03Z", "signing_url": None},
        _TENANT | {"status": "signed", "signed_at": "2030-05-17T08:30:12Z", "signing_url": None},
    ],
}
_FINALIZED: Json = _COMPLETED | {
    "download_urls": [
        {"document_id": 35, "signed_url": SIGNED_URL, "certificate_url": CERTIFICATE_URL, "expires_in": 900}
    ],
}
_PENDING: Json = CREATED | {"finalized": False, "signers": [_LANDLORD | {"status": "notified"}, _TENANT]}
_PAPER: Json = {"ip": "203.0.113.7", "user_agent": "acme-backend/4.2"}
_SERVICE: Json = {"ip": "", "user_agent": ""}
_LOG: list[Json] = [
    {
        "id": 907,
        "event_type": "signature_request.created",
        "signer_id": None,
        **_PAPER,
        "metadata": {
            "mode": "sequential",
            "signers_count": 2,
            "documents_count": 1,
            "documents": [
                {"document_id": 35, "prints_differently": [3], "can_change": ["scripts", "screen_only_annotations"]}
            ],
        },
        "created_at": "2030-05-16T14:02:40Z",
    },
    {
        "id": 909,
        "event_type": "signer.notified",
        "signer_id": 141,
        **_SERVICE,
        "metadata": {"channel": "email", "recipient": "zoe@example.com", "acknowledgement": "250 2.0.0 queued"},
        "created_at": "2030-05-16T14:02:41Z",
    },
]


def page_of(*entries: Json) -> Json:
    """A first page that holds all there is."""
    return {"data": list(entries), "pagination": {"page": 1, "limit": 20, "count": len(entries), "pages": 1}}


ANSWERS: dict[str, dict[str, tuple[str, Json]]] = {
    "uploadDocument": {"ready": ("The file is stored", UPLOADED)},
    "listDocuments": {"one": ("One document", page_of(DOCUMENT)), "none": ("Nothing found", page_of())},
    "readDocument": {"ready": ("A document that can be used", UPLOADED | {"download_url": _UPLOADED_URL})},
    "createSignatureRequest": {"created": ("Two signers in sequence", CREATED)},
    "listSignatureRequests": {"two": ("One waits, one is finalized", page_of(_COMPLETED, _PENDING | {"id": 72}))},
    "readSignatureRequest": {
        "pending": ("The first signer was invited", _PENDING),
        "completed": ("Everybody has signed; sealing is under way", _COMPLETED | {"finalized": False}),
        "finalized": ("The results can be downloaded", _FINALIZED),
    },
    "listAuditLogs": {"begun": ("Created, and the first signer invited", page_of(*_LOG))},
    "listBrandingProfiles": {"one": ("One profile", page_of(BRANDING_PROFILE))},
    "readHealth": {
        "sandbox": (
            "A sandbox key",
            {"status": "ok", "environment": "sandbox", "version": "0.1.0", "time": "2030-05-16T14:02:30Z"},
        )
    },
}
ANSWERS["listDocuments"]["none"][1]["pagination"]["pages"] = 0

_BY_TAG: Json = {"type": "magic_field", "value": {"tag": "{{signature:landlord}}"}}
_BY_PLACE: Json = {"type": "coordinates", "value": {"page_number": 3, "x": 316, "y": 120}}
_ZOE: Json = {"ref": "landlord", "first_name": "Zoë", "last_name": "Lindqvist", "email": "zoe@example.com"}
_ANA: Json = {"ref": "tenant", "first_name": "Ana", "last_name": "Costa", "email": "ana@example.com"}
_PLACED: list[Json] = [
    {"signer_ref": "landlord", "stamps": [_BY_TAG]},
    {"signer_ref": "tenant", "stamps": [_BY_PLACE]},
]
CREATIONS: dict[str, tuple[str, Json]] = {
    "links": (
        "You send the links yourself",
        {
            "signature_request": {
                "mode": "parallel",
                "validity_days": 14,
                "signers": [_ZOE, _ANA],
                "documents": [{"id": 35, "signers": _PLACED}],
            }
        },
    ),
    "everything": (
        "Every option: invitations in sequence, codes by SMS, initials, colours, a callback (plans Pro and Enterprise)",
        {
            "signature_request": {
                "mode": "sequential",
                "validity_days": 30,
                "send_email": True,
                "identity_declaration_accepted": True,
                "initials_required": True,
                "notify_signers_on_completion": True,
                "callback_url": "https://example.com/hooks/paraph/lease-4711",
                "branding_profile_id": 4,
                "signers": [
                    _ZOE | {"order": 1, "otp_channel": "email"},
                    _ANA | {"order": 2, "phone": "+351210000000", "otp_channel": "sms"},
                ],
                "documents": [
                    {
                        "id": 35,
                        "signers": [
                            {
                                "signer_ref": "landlord",
                                "stamps": [
                                    _BY_TAG | {"optional": False},
                                    {"type": "magic_field", "value": {"tag": "{{annex:landlord}}"}, "optional": True},
                                ],
                            },
                            {
                                "signer_ref": "tenant",
                                "stamps": [
                                    {
                                        "type": "coordinates",
                                        "value": {"page_number": 3, "x": 316, "y": 120, "width": 180, "height": 64},
                                    }
                                ],
                            },
                        ],
                    }
                ],
            }
        },
    ),
}

_REQUEST: Json = {"id": 71, "status": "pending", "mode": "sequential"}
_SIGNER: Json = {key: _LANDLORD[key] for key in ("id", "first_name", "last_name", "full_name", "email", "status")}


def _event(name: str, at: str, status: str, **more: Any) -> Json:
    return {"event": name, "occurred_at": at, "signature_request": _REQUEST | {"status": status}, **more}


EVENTS: dict[str, Json] = {
    "signer.notified": _event(
        "signer.notified", "2030-05-16T14:02:41Z", "pending", signer=_SIGNER | {"status": "notified"}
    ),
    "signer.otp_sent": _event(
        "signer.otp_sent", "2030-05-16T16:44:20Z", "pending", signer=_SIGNER | {"status": "notified"}
    ),
    "signer.signed": _event("signer.signed", "2030-05-16T16:45:03Z", "pending", signer=_SIGNER | {"status": "signed"}),
    "request.completed": _event(
        "request.completed",
        "2030-05-17T08:30:12Z",
        "completed",
        documents=[{"document_id": 35, "signed_url": SIGNED_URL, "expires_in": 900}],
        certificate_url=CERTIFICATE_URL,
        certificate_expires_in=900,
    ),
    "request.expired": _event("request.expired", "2030-06-15T14:02:40Z", "expired"),
}


def _smallest_pdf() -> str:
    """A PDF of one empty page, in ASCII: an upload that the service takes."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
    ]
    text, entries = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        entries += f"{len(text):010d} 00000 n \n"
        text += f"{number} 0 obj{content}endobj\n"
    return f"{text}xref\n0 4\n{entries}trailer<</Size 4/Root 1 0 R>>\nstartxref\n{len(text)}\n%%EOF\n"


SMALLEST_PDF = _smallest_pdf()
