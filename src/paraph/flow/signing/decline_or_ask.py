"""What a signer does in place of signing: decline, which ends the request for everybody, or ask the sender, to whose
contact address the question is mailed."""

import math
import re
from datetime import timedelta

from django.db import transaction

from paraph.audit_trail.journal import Origin
from paraph.flow import events
from paraph.flow.events import lock_holder
from paraph.flow.messages.emails import inquiry_email
from paraph.flow.messages.notices import queue_mails
from paraph.flow.messages.sent_once import READ_ALONG, DueEmail, mail_rows_once, queue_mail
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.queue.jobs import defer
from paraph.signature_requests.fields.entry import forget_entries
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Inquiry, InquiryKind, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing import require_open
from paraph.signature_requests.values import LONGEST_REASON
from paraph.tenants.admin_log import SIGNER, Action, note
from paraph.tenants.models import MailKind

LONGEST = 2000  # characters
_MOST = 3
_WINDOW = timedelta(days=1)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # all but tabs and ends of lines


class TooManyInquiriesError(DomainError):
    """The signer has asked three times within a day, and may again after ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("rate_limited", f"At most {_MOST} messages a day reach the sender.", retry_after)


def ask(signer: Signer, kind: str, text: str) -> Inquiry:
    """Keep the inquiry and have it forwarded to the sender's contact address; the member who sent the request is told.
    Any signer may ask, whatever has become of the request. Raise ``DomainError``: ``not_found`` where the sender has no
    contact address, ``validation_error`` for an unknown kind and for a text that is blank or longer than 2,000
    characters, :class:`TooManyInquiriesError`, and as :func:`lock_holder` does."""
    if not signer.request.organization.contact_email:
        raise DomainError("not_found", "The sender has given no address for questions.")
    if kind not in InquiryKind.values:
        raise DomainError("validation_error", f"kind must be one of {', '.join(InquiryKind.values)}.")
    text = plain_text(text)
    if not 0 < len(text) <= LONGEST:
        raise DomainError("validation_error", f"text must have 1 to {LONGEST} characters.")
    with transaction.atomic():
        lock_holder(signer)  # two calls at once cannot both be the last one allowed
        _require_room(signer)
        inquiry = Inquiry.objects.create(signer=signer, kind=kind, text=text)
        defer("forward_inquiry", inquiry_id=inquiry.pk)
        queue_mail(signer.request, MailKind.ASKED, inquiry.pk)
        subject = f"request {signer.request_id}, signer {signer.pk}"
        note(signer.request.organization_id, SIGNER, Action.SIGNER_ASKED, subject, after={"kind": kind})
    return inquiry


def plain_text(text: str) -> str:
    """Return the text as it is counted and kept: one character for each line end, and no control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", lines).strip()


def _require_room(signer: Signer) -> None:
    now = clock.now()
    asked = signer.inquiries.filter(asked_at__gt=now - _WINDOW).order_by("-asked_at").values_list("asked_at", flat=True)
    newest = list(asked[:_MOST])
    if len(newest) == _MOST:
        wait = (newest[-1] + _WINDOW - now).total_seconds()
        raise TooManyInquiriesError(max(1, math.ceil(wait)))


def forward_inquiry(inquiry_id: int) -> None:
    """Mail the inquiry, with replies to the signer; do nothing where the sender has no address any more. Safe to
    repeat. Raise ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put off."""
    inquiry = Inquiry.objects.select_related(*(f"signer__{path}" for path in READ_ALONG)).filter(pk=inquiry_id)
    mail_rows_once("inquiry", inquiry, "forwarded_at", _due)


def _due(inquiry: Inquiry) -> DueEmail | None:
    signer, contact = inquiry.signer, inquiry.signer.request.organization.contact_email
    return DueEmail(signer, inquiry_email(inquiry), to=contact, reply_to=signer.email) if contact else None


def require_declinable(signer: Signer) -> None:
    """Raise ``DomainError`` ``decline_not_allowed`` where the request does not let its signers decline, otherwise as
    :func:`require_open` does."""
    if not signer.request.decline_allowed:
        raise translated("decline_not_allowed", "decline_not_allowed")
    require_open(signer)


def decline(signer: Signer, reason: str, origin: Origin, *, sandbox_act: bool = False) -> SignatureRequest:
    """End the request early for the signer's reason and return it; the signer's status stays. Take the same row lock as
    signing, so that a last signature and a decline at the same time cannot both succeed. Raise what
    :func:`require_declinable` and :func:`lock_holder` raise, and ``validation_error`` for a reason that is blank or
    longer than 500 characters."""
    require_declinable(signer)
    reason = plain_text(reason)
    if not reason:
        raise translated("validation_error", "field_missing", field="reason")
    if len(reason) > LONGEST_REASON:
        raise translated("validation_error", "field_text", field="reason", most=LONGEST_REASON)
    with transaction.atomic():
        signer = lock_holder(signer)
        moment = clock.now()
        require_open(signer, moment)
        request = signer.request
        request.status, request.ended_early_at, request.ended_reason = RequestStatus.EXPIRED, moment, reason
        request.declined_by = signer
        request.save(update_fields=["status", "ended_early_at", "ended_reason", "declined_by"])
        forget_entries(request)
        events.request_declined(signer, reason, origin, sandbox_act=sandbox_act)
        queue_mails(request)
        note(request.organization_id, SIGNER, Action.SIGNER_DECLINED, f"request {request.pk}, signer {signer.pk}")
    return request
