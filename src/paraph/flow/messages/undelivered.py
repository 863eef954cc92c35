"""What is noted where a signer's mailbox or number, or that of somebody who gets a copy, refuses a message for good."""

from django.db import transaction

from paraph.flow import events
from paraph.flow.events import lock_request
from paraph.flow.messages.owed import queue_mail
from paraph.kernel import clock
from paraph.signature_requests.models import Channel, CopyRecipient, Signer
from paraph.tenants.models import MailKind


@transaction.atomic
def note_undelivered(to: Signer | CopyRecipient, mail: str, answer: str, channel: Channel = Channel.EMAIL) -> None:
    """Note on the person's row and in the journal that the message of this name was refused, with what the gateway
    ``answer`` was, and have the member who sent the request told. Do nothing where that was noted of this message
    already, or the person is reached in another way by now."""
    request, way = lock_request(to.request_id), "phone" if channel == Channel.SMS else "email"
    recipient = getattr(to, way)
    row = type(to).objects.filter(pk=to.pk, **{way: recipient}).first()
    if row is None or (row.undelivered or {}).get("mail") == mail:
        return
    now = clock.now()
    said = {"mail": mail, "channel": channel, "recipient": recipient, "answer": answer, "at": clock.iso(now)}
    row.request, row.undelivered = request, said
    row.save(update_fields=["undelivered"])
    events.delivery_failed(row, channel, recipient, mail, answer)
    about = -to.pk if isinstance(to, Signer) else 0
    queue_mail(request, MailKind.UNDELIVERED, about, turn=int(now.timestamp() * 1000))
