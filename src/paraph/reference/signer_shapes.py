"""The bodies and answers of the signer's endpoints, as JSON schemas with an example of each."""

from typing import Any

from paraph.api.v1.openapi.parts import ENTERED_FIELDS, DocumentPart
from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.marks import MOST_POINTS


def _object(
    required: tuple[str, ...], example: DocumentPart, title: str, /, **properties: DocumentPart
) -> DocumentPart:
    return {
        "schema": {"type": "object", "properties": properties, "required": list(required)},
        "examples": {"example": {"summary": title, "value": example}},
    }


def _text(description: str, **facts: Any) -> DocumentPart:
    return {"type": "string", "description": description, **facts}


def _number(description: str, **facts: Any) -> DocumentPart:
    return {"type": "number", "description": description, **facts}


def _mark(description: str) -> DocumentPart:
    return {
        "type": "object",
        "description": description,
        "required": ["type"],
        "properties": {
            "type": _text(
                "`typed`: the signer's name, set in a hand. `drawn`: what they drew.", enum=["typed", "drawn"]
            ),
            "hand": _number("Of `typed`: in which of the four hands.", minimum=1, maximum=4, default=1),
            "strokes": {
                "type": "array",
                "description": "Of `drawn`: strokes of points `[x, y]`, from the top left, both divided by the same "
                f"length, the longer side. At most {MOST_POINTS:,} points. A drawing in which nothing would be seen, "
                "as of one tap, is refused.",
                "items": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            },
            "aspect": _number(
                "Of `drawn`: width / height of the drawing area, where each coordinate was divided by its own side.",
                minimum=0.05,
                maximum=20,
                default=1,
            ),
        },
    }


_DRAWN = {"type": "drawn", "strokes": [[[0.1, 0.3], [0.4, 0.1], [0.5, 0.35], [0.9, 0.2]]]}

_FIELDS = ENTERED_FIELDS | {
    "description": f"{ENTERED_FIELDS['description']} A number that can be read in two ways in the language of the "
    "body, such as `1.250` in German or `1,250` in English, is not taken: the answer asks which."
}
CODE_CHANNEL = _object(
    ("channel",),
    {"channel": "email"},
    "By e-mail",
    channel=_text(
        "The one named when the request was created; where none was named `email`, and `sms` too where a phone is "
        "known and the plan allows it.",
        enum=["email", "sms"],
    ),
    locale=_text(
        "The language of the code's message and of the answer: one of the twenty. By default that of the page."
    ),
)
CODE_SENT = _object(
    ("message", "channel"),
    {"message": "A code was sent to z•••@example.com.", "channel": "email", "sandbox_code": "244283"},
    "In sandbox",
    message=_text("Where it went."),
    channel=_text("How it went.", enum=["email", "sms"]),
    sandbox_code=_text("The code, in sandbox only."),
)
SIGNATURE = _object(
    ("code", "consent"),
    {"code": "244283", "consent": True, "signature": _DRAWN, "locale": "en"},
    "A drawn signature",
    code=_text("The newest code. Spaces and words around it do no harm."),
    consent={"type": "boolean", "description": "`true`: the signer has accepted the consent notice."},
    signature=_mark("How the signature looks; the typed name where it is left out. Approvers must leave it out."),
    initials={
        "type": "object",
        "description": "Of the same form; required of signers where the request wants initials, else left out.",
    },
    locale=_text(
        "The language in which the consent notice was accepted; the request's by default.", enum=list(LOCALES)
    ),
    fields=_FIELDS,
    in_person=_text("Of the page that a member opens on their own device, from the dashboard: its ticket."),
)
_PICTURE = "/sign/AAAAAAAAAEZ…/documents/12/pages/1-values.svg?v=5c0a2f1e"
_ENTRY = {"document_id": 12, "name": "IBAN", "value": "DE02 1203 0000 0000 2020 51"}
ENTRIES = _object(
    ("fields",),
    {"fields": [_ENTRY], "locale": "en"},
    "One field",
    fields=_FIELDS,
    locale=_text("The language of the answer: one of the twenty. By default that of the page."),
)
_WHERE = {
    "document_id": {"type": "integer", "description": "The document that the field stands on."},
    "name": _text("The field's name."),
}
_WRONG = {"type": ["string", "null"], "description": "What is wrong with what was entered, null where nothing is."}
ENTERED = _object(
    ("fields",),
    {"fields": [{"document_id": 12, "name": "IBAN", "message": None, "svg": "<svg …>…</svg>", "page": _PICTURE}]},
    "A value that is right",
    fields={
        "type": "array",
        "description": "Each that was sent, in its order.",
        "items": {
            "type": "object",
            "required": ["document_id", "name", "message", "svg", "page"],
            "properties": _WHERE
            | {
                "message": _WRONG,
                "svg": {
                    "type": ["string", "null"],
                    "description": "The value as it will stand on the page, of the first twenty; null where none will.",
                },
                "page": {
                    "type": ["string", "null"],
                    "description": "Address of a picture of all values on its page; null where there are none.",
                },
            },
        },
    },
)
FIELDS = _object(
    ("fields",),
    {
        "fields": [
            {
                "document_id": 12,
                "name": "IBAN",
                "type": "text",
                "label": "Your IBAN",
                "required": True,
                "read_only": False,
                "value": None,
                "message": None,
                "placement": {"page_number": 1, "x": 72, "y": 540, "width": 160, "height": 18},
                "max_length": 34,
            }
        ]
    },
    "A field",
    fields={
        "type": "array",
        "description": "By document and page, on each from its top.",
        "items": {
            "type": "object",
            "required": [
                "document_id", "name", "type", "label", "required", "read_only", "value", "message", "placement",
            ],
            "properties": _WHERE
            | {
                "type": _text("What may be entered.", enum=list(KINDS)),
                "label": _text("What the signer reads."),
                "required": {"type": "boolean", "description": "Whether it has to be filled in; of a box, ticked."},
                "read_only": {
                    "type": "boolean",
                    "description": "`true` where the sender or the service sets the value.",
                },
                "value": {
                    "type": ["string", "boolean", "null"],
                    "description": "As it was entered, right or wrong; the sender's where nothing was.",
                },
                "message": _WRONG,
                "placement": {
                    "type": "object",
                    "description": "Where it stands, in points from the bottom left of the page as it is shown.",
                    "required": ["page_number", "x", "y", "width", "height"],
                    "properties": {
                        "page_number": {"type": "integer", "description": "From 1."},
                        "x": _number("Of its left edge."),
                        "y": _number("Of its lower edge."),
                        "width": _number("Of the field."),
                        "height": _number("Of the field."),
                    },
                },
                "options": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Of a `choice`: what there is to choose from.",
                },
                "max_length": {"type": "integer", "description": "Of a text: the most characters."},
                "minimum": _text("Of a number or a date: the least, where there is one."),
                "maximum": _text("Of a number or a date: the most, where there is one."),
            },
        },
    },
)  # fmt: skip
SIGNED = _object(
    ("status", "signed_at", "signature_request"),
    {
        "status": "signed",
        "signed_at": "2030-05-17T08:30:12Z",
        "signature_request": {"id": 71, "status": "completed"},
    },
    "The last one has signed",
    status=_text("The signer's.", const="signed"),
    signed_at=_text("The moment that counts.", format="date-time"),
    signature_request={
        "type": "object",
        "description": "The request that was signed.",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "integer", "description": "Its id."},
            "status": _text("`completed` once everybody has signed.", enum=["pending", "completed"]),
        },
    },
)
MARKED = _object(
    ("signature",), {"signature": _DRAWN}, "A drawn signature", signature=_mark("As in the signature's own body.")
)
STAMP = _object(
    ("svg", "others", "places"),
    {"svg": "<svg …>…</svg>", "others": ["<svg …>…</svg>"], "places": [0, 1]},
    "The stamps",
    svg=_text("The stamp at the signer's first place, as SVG."),
    others={
        "type": "array",
        "items": {"type": "string"},
        "description": "Each that differs from it in size.",
    },
    places={
        "type": "array",
        "items": {"type": "integer"},
        "description": "For each place, in the order of their numbers: 0 for `svg`, 1 for the first of `others`, …",
    },
)
PROGRESS = _object(
    ("progress", "others"),
    {"progress": "waiting", "others": 1},
    "Somebody else still signs",
    progress=_text(
        "`waiting` for others to sign, `sealing`, or `ready`: the sealed files can be had. `expired`: others did not "
        "sign in time, or one has declined.",
        enum=["waiting", "sealing", "ready", "expired"],
    ),
    others={"type": "integer", "description": "How many others have yet to sign."},
    declined={"type": "boolean", "description": "`true`, with `expired`, where somebody has declined; else absent."},
)
PAGE_TEXT = _object(
    ("width", "height", "lines"),
    {
        "width": 595.3,
        "height": 841.9,
        "lines": [{"text": "Lease agreement", "x": 72, "y": 64.2, "width": 138.5, "height": 16.1}],
    },
    "A page",
    width=_number("Of the page."),
    height=_number("Of the page."),
    lines={
        "type": "array",
        "description": "From top to bottom.",
        "items": {
            "type": "object",
            "required": ["text", "x", "y", "width", "height"],
            "properties": {
                "text": _text("The words of the line."),
                "x": _number("From the left edge of the page."),
                "y": _number("From the top edge of the page."),
                "width": _number("Of the line."),
                "height": _number("Of the line."),
            },
        },
    },
)
FORM = _object(
    ("do",),
    {"do": "sign", "code": "244283", "consent": "on"},
    "Sign",
    do=_text(
        "`fill` keeps what was filled in and goes on, `code` sends a code, `sign` signs; once everything is sealed, "
        "`copy` mails the signer the link to their copy.",
        enum=["fill", "code", "sign", "copy"],
    ),
    code=_text("With `sign`: the newest code."),
    consent=_text("With `sign`: `on` for a ticked box."),
    fill=_text("`on` where the fields of the signer come with it, as `field-{document_id}-{name}`."),
)
DECLINE = _object(
    ("reason",),
    {"reason": "The rent is wrong."},
    "A reason",
    reason=_text("Why, as the sender will read it.", minLength=1, maxLength=500),
    locale=_text("The language of the answer: one of the twenty."),
)
DECLINED = _object(
    ("state",), {"state": "declined"}, "Declined", state=_text("What has become of it.", const="declined")
)
ASKED = _object(
    ("kind", "message"),
    {"kind": "question", "message": "Which flat is this about?"},
    "A question",
    kind=_text("A question, or a link that came to the wrong person.", enum=["question", "not_me"]),
    message=_text("What the sender will read.", maxLength=2000),
)
