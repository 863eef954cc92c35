"""Mailing the summary to signers once everybody has signed (rule 4.5, ``notify_signers_on_completion``)."""

from django.db import transaction

from paraph.audit_trail.models import Entry, EventType
from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.flow.messages import emails
from paraph.flow.messages.emails import copy_link
from paraph.flow.messages.sent_once import DueEmail, mail_all, mail_once
from paraph.kernel import clock
from paraph.messaging import inbox
from paraph.signature_requests.models import Signer


def notify_completion(request_id: int) -> None:
    """Mail every signer once, then journal ``request.completion_notified``.

    Safe to repeat: signers who have the mail are left out. Raises ``OSError`` when the gateway does not take a mail,
    ``TooManyMessagesError`` where one is put off, in both cases after the mails to the other signers.
    """
    signers = Signer.objects.filter(request_id=request_id).order_by("order")
    mail_all(_mail, signers.filter(completion_notified_at=None).values_list("pk", flat=True))
    with transaction.atomic():
        request = lock_request(request_id)
        told = Entry.objects.filter(request=request, event_type=EventType.COMPLETION_NOTIFIED)
        if not told.exclude(metadata__has_key="copies").exists():
            kept = inbox.kept(_name(signer.pk) for signer in signers)
            events.completion_notified(request, [signer.email for signer in signers], kept)


def _mail(signer_id: int) -> None:
    mail_once(
        _name(signer_id),
        lambda: _due(signer_id),
        lambda _acknowledgement: Signer.objects.filter(pk=signer_id).update(completion_notified_at=clock.now()),
    )


def _name(signer_id: int) -> str:
    return f"completion-{signer_id}"


def _due(signer_id: int) -> DueEmail | None:
    signer = Signer.objects.select_related("request__organization", "request__branding_profile").get(pk=signer_id)
    if signer.completion_notified_at:
        return None
    wanted = signer.request.organization.mails_copy_links
    return DueEmail(signer, emails.completion(signer, copy_link(signer) if wanted else None))
