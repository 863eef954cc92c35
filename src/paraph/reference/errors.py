"""Every error code with its cause and what to do about it. A test compares the lists with what the service answers."""

from dataclasses import dataclass

from django.utils.safestring import SafeString

from paraph.reference.fields import breakable, inline


@dataclass(frozen=True)
class ErrorRow:
    status: int
    code: str
    cause: SafeString
    remedy: SafeString

    @property
    def shown_code(self) -> SafeString:
        """The code as HTML that a narrow screen may break after an underscore."""
        return breakable(self.code)


def _row(status: int, code: str, cause: str, remedy: str) -> ErrorRow:
    return ErrorRow(status, code, inline(cause), inline(remedy))


API_ERRORS = [
    _row(
        401,
        "invalid_api_key",
        "The key is absent, malformed, unknown or revoked.",
        "Send the whole key in `X-Api-Key`, without spaces. If it was revoked, take that of another application.",
    ),
    _row(
        402,
        "payment_required",
        "A production key of an organization on the plan Free.",
        "Use a sandbox key, or have the operator change the plan.",
    ),
    _row(
        403,
        "forbidden",
        "The plan does not include what was asked for: codes by SMS, branding profiles. Or the organization is "
        "suspended.",
        "Leave the field out that the message names, or change the plan. If the organization is suspended, ask the "
        "operator.",
    ),
    _row(
        403,
        "sandbox_only",
        "A sandbox act with a production key.",
        "Use a sandbox key. In production signers sign, and time goes by itself.",
    ),
    _row(
        403,
        "decline_not_allowed",
        "The request cannot be declined.",
        "Create the request with `decline_allowed`, or let it expire.",
    ),
    _row(
        403,
        "initials_not_available_on_plan",
        "`initials_required` on the plan Free.",
        "Leave `initials_required` out, or change the plan.",
    ),
    _row(
        403,
        "production_only",
        "A call for a draft with a sandbox key: drafts are sent from the dashboard, in production.",
        "Use a production key, or create the request.",
    ),
    _row(
        404,
        "not_found",
        "There is no such resource in the key's organization and environment, or no such route.",
        "Compare the id and the environment of the key: a production key sees nothing of the sandbox.",
    ),
    _row(
        405,
        "method_not_allowed",
        "The route does not answer this method.",
        "Use one of those that the header `Allow` names.",
    ),
    _row(408, "request_timeout", "The body came too slowly.", "Send it again, over a better connection."),
    _row(
        409,
        "conflict",
        "The resource is in a state that does not allow this: a request is over, a signer has signed or is not in "
        "turn, a template is being sent to many signers.",
        "Read the resource to see where it stands.",
    ),
    _row(
        409,
        "idempotency_key_in_use",
        "Another call with the same `Idempotency-Key` is still at work.",
        "Send the same again after `Retry-After` seconds.",
    ),
    _row(
        410,
        "gone",
        "What the call with this `Idempotency-Key` created, or the file of a document, has been deleted since.",
        "Use a new key if it is to be created once more; upload the file again.",
    ),
    _row(409, "already_signed", "A sandbox act for a signer who has signed.", "Go on with the next signer."),
    _row(
        409,
        "not_your_turn",
        "A sandbox act for a signer before whom somebody else has to sign.",
        "Sign in the order of `order`, or create the request in `parallel` mode.",
    ),
    _row(
        410,
        "expired",
        "A sandbox act for a signer of a request that is over.",
        "Create another request.",
    ),
    _row(
        410,
        "cursor_expired",
        "Events behind the cursor are older than the 30 days for which they are kept, or the service was restored from "
        "a backup that is older than the cursor.",
        "Begin again without `after`, or with `after=latest`, and read the requests that you still wait for.",
    ),
    _row(
        413,
        "payload_too_large",
        "The file or body is larger than allowed.",
        "Make the file smaller: pictures in it are mostly why. The message names the limit.",
    ),
    _row(
        415,
        "unsupported_media_type",
        "The body is of another content type than the route reads.",
        "Send `multipart/form-data` to upload, `application/json` to create.",
    ),
    _row(
        422,
        "idempotency_key_reused",
        "The `Idempotency-Key` was used with other content in the last 24 hours.",
        "Make a new key for each thing to create; repeat a call with the body that it had.",
    ),
    _row(
        422,
        "identity_declaration_required",
        "`send_email` without `identity_declaration_accepted`.",
        "Have the sender declare that the signers are who they are said to be, then send `true`.",
    ),
    _row(
        422,
        "validation_error",
        "Something is wrong with a body, a file or a filter.",
        "Mend what the message names: it lists every problem with its path. The same call would fail again.",
    ),
    _row(
        429,
        "rate_limited",
        "Too many calls of the organization in this environment, too many bad keys from this address, or a reminder "
        "within 24 hours of another.",
        "Wait for as many seconds as `Retry-After` says, then send the same again.",
    ),
    _row(
        500,
        "internal_error",
        "A fault of the service.",
        "Send the same again, with the same `Idempotency-Key` if it creates something. Tell the operator the id in the "
        "message.",
    ),
    _row(
        503,
        "unavailable",
        "The service has no time or process to read the PDF now. Nothing was made.",
        "Send the same again after `Retry-After` seconds.",
    ),
    _row(
        507,
        "insufficient_storage",
        "The organization stores as much as it may or has as many requests in the sandbox as it may, or the disk of "
        "the service is full. Nothing was kept.",
        "Ask the operator for room.",
    ),
]

SIGNER_ERRORS = [  # in the order in which they are looked for
    _row(405, "method_not_allowed", "The route does not answer this method.", "Use one that `Allow` names."),
    _row(
        403,
        "decline_not_allowed",
        "The request cannot be declined.",
        "Offer to decline only where you created the request with `decline_allowed`.",
    ),
    _row(
        404, "not_found", "The token is nobody's, or there is no such document or page.", "Use the whole `signing_url`."
    ),
    _row(
        415,
        "unsupported_media_type",
        "The body is not sent as JSON.",
        "Send it with `Content-Type: application/json`.",
    ),
    _row(
        413,
        "payload_too_large",
        "The body is larger than 512 KiB.",
        "Send fewer points of the drawing: 2,000 are kept at most.",
    ),
    _row(408, "request_timeout", "The body came too slowly.", "Send it again."),
    _row(
        409, "already_signed", "The signer has signed.", "Show that it is done, and ask for the progress from then on."
    ),
    _row(410, "expired", "The time is over, from the second of `expires_at` on.", "Create another request."),
    _row(
        409,
        "not_your_turn",
        "In sequential mode, somebody before has not signed.",
        "Wait for the webhook `signer.notified`, or look again later.",
    ),
    _row(
        422,
        "validation_error",
        "The body is no readable JSON object; a field is missing or wrong; a drawing shows nothing, as of one tap; or "
        "a page of the documents cannot be shown, so that nobody can sign it. No attempt at the code is counted.",
        "Mend the field that the message names. A page that cannot be shown is named by `page_number`, `document_id` "
        "and `document` beside `code`.",
    ),
    _row(
        429,
        "rate_limited",
        "Too many codes were sent, or too many messages to this address or number, whoever sent them.",
        "Wait for as many seconds as `Retry-After` says. The code sent last is still valid.",
    ),
    _row(
        503,
        "delivery_failed",
        "The gateway did not take the message with the code, or too many others wait for it.",
        "Send a new code after as many seconds as `Retry-After` says, or by the other channel if there is one.",
    ),
    _row(
        429,
        "too_many_attempts",
        "Five codes were tried, so the newest one is void. With `Retry-After`: twenty wrong ones in a day, or too many "
        "for this address, number or organization, so that none is sent or taken before, not even the right one.",
        "Send a new code; with `Retry-After`, say until when, and send one after that. `locked` is true where it is "
        "this signer who is locked.",
    ),
    _row(
        503,
        "unavailable",
        "The service has no time to draw a page or to send a code now, or its database does not answer.",
        "Ask again after as many seconds as `Retry-After` says.",
    ),
    _row(
        422,
        "invalid_otp",
        "The code is wrong, outdated, replaced or used.",
        "Ask for the code again. `attempts_left` tells how many attempts remain after a wrong one; without it the code "
        "is void, and a new one must be sent.",
    ),
    _row(
        500,
        "internal_error",
        "A fault of the service.",
        "Try again. Tell the operator the id in the message: it stands in the log.",
    ),
]
