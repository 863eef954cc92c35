"""Every code of the API: its status, when it comes, what to do about it, and what the service then says (rule 7)."""

from typing import NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from paraph.kernel.errors import DomainError


class Code(NamedTuple):
    """``message``: the sentence of a code that has only one."""

    status: int
    when: str
    remedy: str
    message: str = ""


CODES = {
    "invalid_api_key": Code(
        401,
        "The key is absent, malformed, unknown or revoked.",
        "Send the whole key in `X-Api-Key`, without spaces. If it was revoked, take that of another application.",
        _("The X-Api-Key header must contain a valid API key."),
    ),
    "payment_required": Code(
        402,
        "A production key of an organization on the plan Free.",
        "Use a sandbox key, or have the operator change the plan.",
        _("The production environment requires a paid plan."),
    ),
    "forbidden": Code(
        403,
        "The plan does not include what was asked for: codes by SMS, branding profiles. Or the organization is "
        "suspended.",
        "Leave the field out that the message names, or change the plan. If the organization is suspended, ask the "
        "operator.",
    ),
    "sandbox_only": Code(
        403,
        "The key is of production.",
        "Use a sandbox key for sandbox acts. In production signers sign, and time goes by itself.",
        _("Only a sandbox key can do this."),
    ),
    "decline_not_allowed": Code(
        403,
        "The request cannot be declined.",
        "Create the request with `decline_allowed`, or let it expire.",
        _("This request cannot be declined."),
    ),
    "initials_not_available_on_plan": Code(
        403,
        "`initials_required` on the plan Free.",
        "Leave `initials_required` out, or change the plan.",
        "initials_required: your plan does not include initials.",
    ),
    "production_only": Code(
        403,
        "The key is of the sandbox, and drafts are sent in production.",
        "Use a production key, or create the request.",
        _("Drafts are sent from the dashboard, in production. Use a production key."),
    ),
    "not_found": Code(
        404,
        "There is no such resource in the key's organization and environment.",
        "Compare the route, the id and the environment of the key: a production key sees nothing of the sandbox.",
        _("There is no such resource."),
    ),
    "method_not_allowed": Code(
        405, "The route does not answer this method.", "Use one of those that the header `Allow` names."
    ),
    "request_timeout": Code(
        408,
        "The body came too slowly. Send it again.",
        "A better connection helps.",
        "The body of the request arrived too slowly.",
    ),
    "conflict": Code(
        409,
        "The resource is in a state that does not allow this: a request is over, a signer has signed or is not in "
        "turn, a template is being sent to many signers.",
        "Read the resource to see where it stands.",
    ),
    "idempotency_key_in_use": Code(
        409,
        "Another call with the same `Idempotency-Key` is at work. Send the same again after `Retry-After` seconds.",
        "Wait for the first call: both are answered with what it makes.",
        "Another call with this Idempotency-Key is still being answered. Try again in a moment.",
    ),
    "already_signed": Code(
        409,
        "The signer has signed.",
        "In a sandbox act, go on with the next signer. What is signed cannot be corrected: end the request and create "
        "another.",
        _("The signer has already signed."),
    ),
    "not_your_turn": Code(
        409,
        "In `sequential` mode, somebody before has not signed.",
        "In a sandbox act, sign in the order of `order`, or create the request in `parallel` mode.",
        _("Somebody who signs before this signer has not signed yet."),
    ),
    "gone": Code(
        410,
        "What the call with this `Idempotency-Key` created, or the file of a document, has been deleted since.",
        "Use a new key if it is to be created once more; upload the file again.",
    ),
    "cursor_expired": Code(
        410,
        "Events behind the cursor are not kept any more: they are older than 30 days, or the service was restored from "
        "an older backup.",
        "Begin again without `after`, or with `after=latest`, and read the requests that you still wait for.",
        "What followed this cursor is not kept any more. Begin again without one, or with latest.",
    ),
    "expired": Code(
        410,
        "The request is over: expired, ended, or signed by everybody.",
        "After a sandbox act, create another request.",
        _("The request is over: nobody can sign it any more."),
    ),
    "payload_too_large": Code(
        413,
        "The file or body is larger than allowed.",
        "Make the file smaller: pictures in it are mostly why. The message names the limit.",
    ),
    "unsupported_media_type": Code(
        415,
        "The body is of another content type than the route reads.",
        "Send `multipart/form-data` to upload, `application/json` to create.",
    ),
    "idempotency_key_reused": Code(
        422,
        "The `Idempotency-Key` was used with other content in the last 24 hours. Nothing was made.",
        "Make a new key for each thing to create; repeat a call with the body that it had.",
        _("The Idempotency-Key was used with other content. Use a new key for a new call."),
    ),
    "identity_declaration_required": Code(
        422,
        "`send_email` without `identity_declaration_accepted`.",
        "Have the sender declare that the signers are who they are said to be, then send `true`.",
        "identity_declaration_accepted: it must be true when send_email is true.",
    ),
    "validation_error": Code(
        422,
        "Something is wrong with a body, a file or a filter.",
        "Mend what the message names: it lists every problem with its path. The same call would fail again.",
    ),
    "rate_limited": Code(
        429,
        "Too many calls of the organization in this environment, too many bad keys from this address, or a reminder "
        "within 24 hours of another.",
        "Wait for as many seconds as `Retry-After` says, then send the same again.",
    ),
    "unavailable": Code(
        503,
        "The service has no time or process to read the PDF now, or cannot answer for a moment. Nothing was made.",
        "Send the same again after `Retry-After` seconds.",
    ),
    "insufficient_storage": Code(
        507,
        "The organization stores as much as it may or has as many requests in the sandbox as it may, or the disk of "
        "the service is full. Nothing was kept.",
        "Ask the operator for room.",
    ),
    "internal_error": Code(
        500,
        "A fault of the service. The id in the message stands in its log too.",
        "Send the same again, with the same `Idempotency-Key` if it creates something. Tell the operator the id.",
        "Something went wrong on our side. The incident 5f0c2a9e8d7b6a41 is in the service's log.",
    ),
}


class TooEarlyError(DomainError):
    """A refusal of a call that can be sent again after ``retry_after`` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__("rate_limited", message)
        self.retry_after = retry_after


def refused(code: str) -> DomainError:
    """Return the refusal of a code that has only one sentence, in the language of the call."""
    return DomainError(code, gettext(CODES[code].message))


ANY = ("invalid_api_key", "payment_required", "suspended", "rate_limited", "internal_error", "unavailable_for_now")
CHANGE = ("idempotency_key_in_use", "idempotency_key_reused", "validation_idempotency_key")
IDEMPOTENCY = (*CHANGE, "gone")  # requests and signers are never deleted
MADE = (*IDEMPOTENCY, "insufficient_storage_requests")
JSON = ("request_timeout", "payload_too_large", "unsupported_media_type")
INPUT = (*JSON, "unavailable", "forbidden_branding", "initials_not_available_on_plan")
PLACES = ("validation_fields", "validation_tag", "validation_page", "validation_document", "validation_json")
LOOKED_AT = ("forbidden_sms", *INPUT, "identity_declaration_required", *PLACES)
CREATION = (*MADE, *LOOKED_AT)
