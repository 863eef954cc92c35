"""Which refusals each operation may meet, with a true example of each (rule 7)."""

from dataclasses import dataclass

from django.conf import settings

from paraph.api.v1.codes import CODES
from paraph.api.v1.pagination import LARGEST_MIB


@dataclass(frozen=True)
class Refusal:
    """``name`` is that of the example; ``when`` says when it happens; ``message`` is what the service then says."""

    name: str
    code: str
    when: str
    message: str

    @property
    def status(self) -> str:
        return str(CODES[self.code].status)


def refusals(operation: str) -> list[Refusal]:
    """Return all that the operation may answer, in the order of their statuses."""
    return sorted([*_ANY, *_own(operation)], key=lambda refusal: refusal.status)


_ANY = [
    Refusal(
        "invalid_api_key",
        "invalid_api_key",
        "The key is absent, malformed, unknown or revoked.",
        "The X-Api-Key header must contain a valid API key.",
    ),
    Refusal(
        "payment_required",
        "payment_required",
        "A production key of an organization on the plan Free.",
        "The production environment requires a paid plan.",
    ),
    Refusal(
        "suspended",
        "forbidden",
        "The organization is suspended by whoever runs the service.",
        "The organization is suspended. Ask the operator of this service.",
    ),
    Refusal(
        "rate_limited",
        "rate_limited",
        "Too many calls of the organization in this environment, or too many bad keys from this address. Wait for "
        "`Retry-After` seconds.",
        "Too many calls: the limit is 120. Try again in 17 seconds.",
    ),
    Refusal(
        "internal_error",
        "internal_error",
        "A fault of the service. The id in the message stands in its log too.",
        "Something went wrong on our side. The incident 5f0c2a9e8d7b6a41 is in the service's log.",
    ),
    Refusal(
        "unavailable_for_now",
        "unavailable",
        "The service cannot answer for a moment, as while its database restarts. Send the same again after "
        "`Retry-After` seconds; where something is created, with the same `Idempotency-Key`.",
        "The service is not available at the moment. Try again in a few seconds.",
    ),
]
_IDEMPOTENCY = [
    Refusal(
        "idempotency_key_in_use",
        "idempotency_key_in_use",
        "Another call with the same `Idempotency-Key` is at work. Send the same again after `Retry-After` seconds.",
        "Another call with this Idempotency-Key is still being answered. Try again in a moment.",
    ),
    Refusal(
        "gone",
        "gone",
        "What the call with this `Idempotency-Key` created has been deleted since.",
        "What was created with this Idempotency-Key has been deleted since.",
    ),
    Refusal(
        "idempotency_key_reused",
        "idempotency_key_reused",
        "The `Idempotency-Key` was used with other content in the last 24 hours. Nothing was made.",
        "The Idempotency-Key was used with other content. Use a new key for a new call.",
    ),
    Refusal(
        "validation_idempotency_key",
        "validation_error",
        "The `Idempotency-Key` is empty, too long or has other characters.",
        "The Idempotency-Key header must have 1 to 255 characters from ! to ~.",
    ),
]
_CHANGE = [each for each in _IDEMPOTENCY if each.code != "gone"]  # requests and signers are never deleted
_END = [
    Refusal(
        "conflict_over",
        "conflict",
        "The request is over: completed, expired or ended.",
        "Request 71 is completed and cannot be ended any more.",
    ),
    Refusal(
        "validation_reason",
        "validation_error",
        "The reason is missing, empty, too long or no line of text.",
        "reason: it must have at most 500 characters.",
    ),
    Refusal("validation_json", "validation_error", "The body is not readable.",
            "The body is not valid JSON. (Expecting value: line 1 column 11 (char 10))"),
    Refusal("payload_too_large", "payload_too_large", "The body is larger than 4 MiB.",
            "The body is larger than the limit of 4 MiB."),
    Refusal("unsupported_media_type", "unsupported_media_type", "The body is not sent as JSON.",
            "The Content-Type must be application/json."),
]  # fmt: skip
_REMINDER = [
    Refusal("conflict_signed", "conflict", "The signer has signed.", "The signer has already signed."),
    Refusal("conflict_over", "conflict", "The request is over.", "The request is over."),
    Refusal(
        "conflict_turn", "conflict", "Others sign before, and have not signed.", "It is not the signer's turn yet."
    ),
    Refusal(
        "conflict_not_invited",
        "conflict",
        "The service has not mailed the invitation yet.",
        "The invitation has not been sent yet.",
    ),
    Refusal(
        "conflict_no_mails",
        "conflict",
        "The request was created without `send_email`.",
        "This request sends its signers no mails.",
    ),
    Refusal(
        "conflict_most",
        "conflict",
        "The signer has been reminded five times.",
        "This signer has already been reminded 5 times, the maximum.",
    ),
    Refusal(
        "rate_limited_reminder",
        "rate_limited",
        "The signer was reminded in the last 24 hours. Wait for `Retry-After` seconds.",
        "A signer can be reminded at most once a day.",
    ),
]
_NOT_FOUND = Refusal(
    "not_found",
    "not_found",
    "There is no such resource in the key's organization and environment.",
    "There is no such resource.",
)
_TOO_SLOW = Refusal(
    "request_timeout",
    "request_timeout",
    "The body came too slowly. Send it again.",
    "The body of the request arrived too slowly.",
)
_UNAVAILABLE = Refusal(
    "unavailable",
    "unavailable",
    "The service has no time or process to read the PDF now, which need not be at fault. Nothing was made: send the "
    "same again after `Retry-After` seconds.",
    "The service is too busy for this at the moment. Try again in a few seconds.",
)
_NO_ROOM = [
    Refusal(
        "insufficient_storage_quota",
        "insufficient_storage",
        "The organization stores as much as it may in the environment, and, in the sandbox, no upload without a "
        "request is left that could make room. Nothing was kept.",
        "The organization has reached its storage limit in this environment: 1024 MiB.",
    ),
    Refusal(
        "insufficient_storage_disk",
        "insufficient_storage",
        "The disk of the service is full, or nearly so. Nothing was kept: send the same again later.",
        "The service has no space left for files at the moment.",
    ),
]
_TOO_MANY_REQUESTS = Refusal(
    "insufficient_storage_requests",
    "insufficient_storage",
    "The sandbox of the organization has as many signature requests as it may, and none of them is over and older than "
    "an hour, so that it could make room. Nothing was made.",
    "The organization has as many signature requests in the sandbox as it may have: 100000.",
)
_CREATION = [
    *_IDEMPOTENCY,
    _TOO_MANY_REQUESTS,
    _TOO_SLOW,
    _UNAVAILABLE,
    Refusal(
        "forbidden_sms",
        "forbidden",
        "`otp_channel` is `sms` on the plan Free.",
        "signers[0].otp_channel: your plan does not include codes by SMS.",
    ),
    Refusal(
        "forbidden_branding",
        "forbidden",
        "`branding_profile_id` on the plan Free.",
        "branding_profile_id: your plan does not include branding profiles.",
    ),
    Refusal(
        "initials_not_available_on_plan",
        "initials_not_available_on_plan",
        "`initials_required` on the plan Free.",
        "initials_required: your plan does not include initials.",
    ),
    Refusal("payload_too_large", "payload_too_large", "The body is larger than 4 MiB.",
            "The body is larger than the limit of 4 MiB."),
    Refusal("unsupported_media_type", "unsupported_media_type", "The body is not sent as JSON.",
            "The Content-Type must be application/json."),
    Refusal(
        "identity_declaration_required",
        "identity_declaration_required",
        "`send_email` without `identity_declaration_accepted`.",
        "identity_declaration_accepted: it must be true when send_email is true.",
    ),
    Refusal(
        "validation_fields",
        "validation_error",
        "Fields are missing or not what they must be. All are named.",
        "validity_days: it must be from 1 to 90, not 365. signers[1].phone: “0612345678” is not a phone number in "
        "E.164 format, such as +33612345678.",
    ),
    Refusal(
        "validation_tag",
        "validation_error",
        "A stamp has no place: its tag is not in the PDF.",
        "documents[0].signers[0].stamps[0]: the tag “{{signature:seller}}” of signer “landlord” is not in document 35.",
    ),
    Refusal(
        "validation_page",
        "validation_error",
        "A stamp has no place: it does not fit on the page.",
        "documents[0].signers[1].stamps[0]: the stamp of signer “tenant” at x=500, y=120, 200 by 80 points, does not "
        "fit on page 3 of document 35, 595.276 by 841.89 points.",
    ),
    Refusal(
        "validation_document",
        "validation_error",
        "A document is not there: unknown, or of the other environment.",
        "documents[0].id: there is no document 36 in this environment.",
    ),
    Refusal("validation_json", "validation_error", "The body is not readable.",
            "The body is not valid JSON. (Expecting value: line 1 column 23 (char 22))"),
]  # fmt: skip

_EVENTS = [
    _NOT_FOUND,
    Refusal(
        "cursor_expired",
        "cursor_expired",
        "Events behind the cursor are not kept any more: they are older than 30 days, or the service was restored from "
        "an older backup.",
        "What followed this cursor is not kept any more. Begin again without one, or with latest.",
    ),
    Refusal(
        "validation_query",
        "validation_error",
        "A value is unreadable. All are named.",
        "after must be a cursor returned as “next”, or latest, not “1”. limit must be a number from 1 to 100, "
        "not “500”.",
    ),
]

_ACT = [
    *(each for each in _IDEMPOTENCY if each.name in ("idempotency_key_in_use", "validation_idempotency_key")),
    _NOT_FOUND,
    Refusal("sandbox_only", "sandbox_only", "The key is of production.", "Only a sandbox key can do this."),
]
_OVER = Refusal("conflict", "conflict", "The request is over.", "The request is over.")
_NO_DECLINING = Refusal(
    "decline_not_allowed",
    "decline_not_allowed",
    "The request cannot be declined.",
    "This request cannot be declined.",
)
_SIGN_ACT = [
    *_ACT,
    *(each for each in _IDEMPOTENCY if each.name == "idempotency_key_reused"),
    _TOO_SLOW,
    Refusal("already_signed", "already_signed", "The signer has signed.", "The signer has already signed."),
    Refusal(
        "not_your_turn",
        "not_your_turn",
        "In `sequential` mode, somebody before has not signed.",
        "Somebody who signs before this signer has not signed yet.",
    ),
    Refusal(
        "expired",
        "expired",
        "The request is over: expired, ended, or signed by everybody.",
        "The request is over: nobody can sign it any more.",
    ),
    Refusal(
        "payload_too_large",
        "payload_too_large",
        "The body is larger than 4 MiB.",
        "The body is larger than the limit of 4 MiB.",
    ),
    Refusal(
        "unsupported_media_type",
        "unsupported_media_type",
        "There is a body, and it is not sent as JSON.",
        "The Content-Type must be application/json.",
    ),
    Refusal(
        "validation_signature",
        "validation_error",
        "The signature is not what it must be, or there is another field.",
        "fields: there is no such field.",
    ),
]
_EXPIRE_ACT = [
    *_ACT,
    *(each for each in _SIGN_ACT if each.code in ("payload_too_large", "unsupported_media_type")),
    _TOO_SLOW,
    _OVER,
    Refusal(
        "validation_body",
        "validation_error",
        "There is a body with a field, or it is not readable.",
        "fields: there is no such field.",
    ),
]
_DECLINE_ACT = [
    *(each for each in _SIGN_ACT if each.name != "validation_signature"),
    _NO_DECLINING,
    Refusal(
        "validation_reason",
        "validation_error",
        "The reason is not what it must be, or there is another field.",
        "fields: there is no such field.",
    ),
]


_BULK_SEND = Refusal(
    "conflict_bulk_send",
    "conflict",
    "Members are sending the template to many signers in the dashboard.",
    "A bulk send of this template is in progress. Cancel it first.",
)
_PRODUCTION_ONLY = Refusal(
    "production_only",
    "production_only",
    "The key is of the sandbox, and drafts are sent in production.",
    "Drafts are sent from the dashboard, in production. Use a production key.",
)
_UNKNOWN_FIELD = Refusal(
    "validation_unknown_field",
    "validation_error",
    "A field is not one of those below. All are named.",
    "validity: there is no such field here.",
)
_WITH_PATHS = ("forbidden_sms", "validation_fields", "validation_tag", "validation_page", "validation_document")
_DRAFT = [
    *(each for each in _CREATION if each.name not in ("forbidden_sms", "identity_declaration_required")),
    _PRODUCTION_ONLY,
    _UNKNOWN_FIELD,
]
_TEMPLATE = [
    *(each for each in _DRAFT if each.name not in (*_WITH_PATHS, "production_only")),
    Refusal(
        "forbidden_sms",
        "forbidden",
        "`otp_channel` is `sms` on the plan Free.",
        "roles[0].otp_channel: your plan does not include codes by SMS.",
    ),
]
_TEMPLATE_CREATION = [
    *_TEMPLATE,
    Refusal(
        "validation_fields",
        "validation_error",
        "Fields are missing or not what they must be. All are named.",
        "validity_days: it must be from 1 to 90, not 365. roles[1]: role “Tenant” signs no document.",
    ),
    Refusal(
        "validation_tag",
        "validation_error",
        "A stamp has no place: its tag is not in the PDF.",
        "documents[0].roles[0].stamps[0]: the tag “{{signature:seller}}” of signer “Landlord” is not in document 35.",
    ),
]
_TEMPLATE_SENDING = [
    _NOT_FOUND,
    _TOO_MANY_REQUESTS,
    *_TEMPLATE,
    *(each for each in _CREATION if each.name == "identity_declaration_required"),
    Refusal(
        "validation_roles",
        "validation_error",
        "A role has no signer, or a signer no role.",
        "signers: nobody signs as “Tenant”: each role of the template needs one signer.",
    ),
    Refusal(
        "validation_document",
        "validation_error",
        "A document of the template is no longer there.",
        "template.documents[0].id: there is no document 35 in this environment.",
    ),
]
_TAGS = [
    Refusal(
        "validation_text",
        "validation_error",
        "`text` is empty, too long or given twice, or the file cannot be searched.",
        "text: it must not be empty.",
    ),
    Refusal(
        "gone_file",
        "gone",
        "The file is deleted, by the organization's retention.",
        "The file of document 35 has been deleted.",
    ),
    Refusal("conflict_pending", "conflict", "The document is not ready.", "document 35 is not ready yet."),
]


_TOO_MUCH = Refusal(
    "validation_too_much",
    "validation_error",
    f"The entries of the page have more than {LARGEST_MIB} MiB of placements and fields together.",
    f"These 100 entries have more than {LARGEST_MIB} MiB of placements and fields. Ask for fewer at a time with "
    "“limit”.",
)


def _own(operation: str) -> list[Refusal]:
    return {
        "uploadDocument": _upload(),
        "createSignatureRequest": _CREATION,
        "previewSignatureRequest": [each for each in _CREATION if each not in [*_IDEMPOTENCY, _TOO_MANY_REQUESTS]],
        "listDocuments": [_filters("pending, ready")],
        "listSignatureRequests": [_filters("pending, completed, expired"), _TOO_MUCH],
        "readDocument": [_NOT_FOUND],
        "listDocumentTags": [_NOT_FOUND, _UNAVAILABLE, *_TAGS],
        "readSignatureRequest": [_NOT_FOUND],
        "endSignatureRequest": [*_CHANGE, _TOO_SLOW, *_END, _NOT_FOUND],
        "remindSigner": [*_CHANGE, *_REMINDER, _NOT_FOUND],
        "listAuditLogs": [_NOT_FOUND],
        "createTemplate": _TEMPLATE_CREATION,
        "listTemplates": [_TOO_MUCH],
        "readTemplate": [_NOT_FOUND],
        "deleteTemplate": [_NOT_FOUND, _BULK_SEND],
        "sendTemplate": _TEMPLATE_SENDING,
        "createDraft": _DRAFT,
        "readDraft": [_NOT_FOUND, _PRODUCTION_ONLY],
        "listEvents": _EVENTS,
        "sandboxSign": _SIGN_ACT,
        "sandboxExpire": _EXPIRE_ACT,
        "sandboxDecline": _DECLINE_ACT,
    }.get(operation, [])


def _upload() -> list[Refusal]:
    limit = settings.PARAPH.upload_limit_mb
    return [
        *_IDEMPOTENCY,
        _TOO_SLOW,
        _UNAVAILABLE,
        *_NO_ROOM,
        Refusal("payload_too_large", "payload_too_large", f"The file is larger than {limit} MiB.",
                f"The file is larger than the limit of {limit} MiB."),
        Refusal("unsupported_media_type", "unsupported_media_type", "The body is not multipart/form-data.",
                "The Content-Type must be multipart/form-data."),
        Refusal("validation_mime_type", "validation_error", "The part is of another MIME type.",
                "The file must be of the MIME type application/pdf, not “image/png”."),
        Refusal("validation_not_a_pdf", "validation_error", "The file is not a PDF, or one that cannot be signed.",
                "The file is not a PDF."),
        Refusal("validation_drawn_differently", "validation_error", "A second renderer draws text of it otherwise.",
                "Readers draw text on page 3 differently. Compare it in another reader; if it is as it should be, "
                "upload the file with accept_drawn_differently=true."),
        Refusal("validation_accept", "validation_error", "`accept_drawn_differently` is neither true nor false.",
                "accept_drawn_differently must be one of true, false, not “yes”."),
        Refusal("validation_no_file", "validation_error", "The body holds no file, or is broken.",
                "The body must contain a file in the field “file”, with a file name in UTF-8."),
    ]  # fmt: skip


def _filters(statuses: str) -> Refusal:
    return Refusal(
        "validation_filters",
        "validation_error",
        "A filter is unreadable. All are named.",
        f"status must be one of {statuses}, not “done”. created_after must be an ISO 8601 date or timestamp, not "
        "“yesterday”.",
    )
