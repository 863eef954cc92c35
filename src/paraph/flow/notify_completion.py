"""The summary mailed to signers once everybody has signed (specification 4.5, ``notify_signers_on_completion``)."""

from django.db import transaction

from paraph.flow import events, letters
from paraph.flow.lock import alone, lock_request
from paraph.journal.models import Entry
from paraph.kernel import clock
from paraph.messaging.email import send_email
from paraph.signature_requests.models import Signer


def notify_completion(request_id: int) -> None:
    """Mails every signer once, then journals ``request.completion_notified``. Safe to repeat: who was mailed
    before is left out. Raises ``OSError`` when the gateway does not take a message; the others have theirs."""
    signers = Signer.objects.filter(request_id=request_id).order_by("order")
    for signer_id in signers.filter(completion_notified_at=None).values_list("pk", flat=True):
        _mail(signer_id)
    with transaction.atomic():
        request = lock_request(request_id)
        if not Entry.objects.filter(request=request, event_type="request.completion_notified").exists():
            events.completion_notified(request, list(signers.values_list("email", flat=True)))


@transaction.atomic
def _mail(signer_id: int) -> None:
    alone("notify_completion", signer_id)
    signer = Signer.objects.select_related("request", "request__organization").get(pk=signer_id)
    if signer.completion_notified_at:
        return
    letter = letters.completion(signer)
    send_email(signer.email, letter.subject, letter.text, letter.html, message_id=f"completion-{signer.pk}")
    Signer.objects.filter(pk=signer_id).update(completion_notified_at=clock.now())
