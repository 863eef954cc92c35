"""The webhooks of the OpenAPI document (rule 6.1), and the callback of a creation (6.4)."""

from typing import Any

from paraph.api.v1 import events
from paraph.api.v1.endpoint import DocumentPart
from paraph.api.v1.openapi.examples import EVENTS

_WHEN = {
    "signer.notified": ("A signer was invited", "The mail server has taken the invitation."),
    "signer.otp_sent": ("A one-time code was sent", "The code went out by e-mail or SMS."),
    "signer.signed": ("A signer has signed", "With a valid one-time code."),
    "request.completed": (
        "The results are ready",
        "Everybody has signed, and the sealed PDFs and the proof file can be downloaded. The addresses are made when "
        "the delivery is sent, at each retry anew.",
    ),
    "request.expired": (
        "A request has expired",
        "The validity ended, or the request was ended early, before everybody had signed.",
    ),
    "webhook.test": ("A test", "A member has sent it from the dashboard. Nobody gets one unasked; do nothing."),
}
_SCHEMAS = {
    "request.completed": "RequestCompletedEvent",
    "request.expired": "RequestExpiredEvent",
    "webhook.test": "TestEvent",
}
_SIGNATURE = {"type": "string", "pattern": "^sha256=[0-9a-f]{64}$", "minLength": 71, "maxLength": 71}
_HEADERS = {
    "X-Service-Event": (
        "The event type, the same as `event` of the payload.",
        {"type": "string", "enum": list(EVENTS)},
    ),
    "X-Service-Event-Id": (
        "Identifies the event, for deduplication: the `id` of `GET /events` and of the audit log. The same in every "
        "attempt, replay and callback; 0 for a test.",
        {"type": "integer", "minimum": 0, "format": "int64"},
    ),
    "X-Service-Delivery": (
        "Identifies the attempt. Another at every retry.",
        {"type": "string", "format": "uuid", "minLength": 36, "maxLength": 36},
    ),
    "X-Service-Signature": (
        "`sha256=` and the HMAC-SHA256 of the raw body under the application's `webhook_secret`, in hexadecimal. "
        "Compare in constant time before you parse. While the secret is rotated, `X-Service-Signature-Next` has the "
        "signature by the new one.",
        _SIGNATURE,
    ),
    "X-Service-Signature-Next": (
        "Only while the secret is rotated: the signature by the new secret. Accept a body that either header proves.",
        _SIGNATURE,
    ),
}
_SHOWN: dict[str, Any] = {
    "X-Service-Event-Id": 905,
    "X-Service-Delivery": "0c5e7a3e-5d0e-4b1b-9d5b-5f0a7f2f9c11",
    "X-Service-Signature": "sha256=8f3c1f6a2d4b5e7f9a0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f607",
    "X-Service-Signature-Next": "sha256=1b9d2e7c4f6a8053c1d4e7f0a3b6c9d2e5f8011427304d5a6b7c8d9e0f102132",
}


def webhooks() -> dict[str, DocumentPart]:
    """Return what each event posts to the application's webhook URL."""
    return {event: {"post": _delivery(event, event)} for event in EVENTS}


def callbacks() -> dict[str, DocumentPart]:
    """Return what a request's own address gets of it."""
    address = "{$request.body#/signature_request/callback_url}"
    return {
        event: {address: {"post": _delivery(event, f"callback.{event}")}}
        for event in ("request.completed", "request.expired")
    }


def webhook_schemas_by_name() -> dict[str, DocumentPart]:
    found: dict[str, DocumentPart] = {}
    for model in (
        events.SignerEvent,
        events.RequestCompletedEvent,
        events.RequestExpiredEvent,
        events.TestEvent,
    ):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        found |= {**schema.pop("$defs"), model.__name__: schema}
    return found


def _delivery(event: str, operation_id: str) -> DocumentPart:
    summary, description = _WHEN[event]
    schema = {"$ref": f"#/components/schemas/{_SCHEMAS.get(event, 'SignerEvent')}"}
    example = {"summary": summary, "value": EVENTS[event]}
    return {
        "operationId": operation_id,
        "tags": ["Webhooks"],
        "summary": summary,
        "description": description,
        "security": [],
        "parameters": [_header(name, event) for name in _HEADERS],
        "requestBody": {
            "required": True,
            "description": "The event. Verify the signature over these very bytes.",
            "content": {"application/json": {"schema": schema, "examples": {event: example}}},
        },
        "responses": {
            "2XX": {"description": "Taken. Answer within 5 seconds; the body is not looked at."},
            "default": {
                "description": "Not taken: redirects too, no connection, or more than 5 seconds. Tried again after 1, "
                "5 and 25 minutes, 2 and 10 hours, then given up."
            },
        },
    }


def _header(name: str, event: str) -> DocumentPart:
    description, schema = _HEADERS[name]
    return {
        "name": name,
        "in": "header",
        "required": name != "X-Service-Signature-Next",
        "description": description,
        "schema": schema,
        "example": _SHOWN.get(name, event),
    }
