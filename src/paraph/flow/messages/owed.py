"""What the member who sent a request is to be told by mail, each thing once, and mails to an organization's contact
address: :mod:`paraph.flow.messages.tell_sender` writes them."""

from collections.abc import Sequence

from django.db import transaction

from paraph.queue.jobs import defer
from paraph.signature_requests.models import SenderMail, SignatureRequest
from paraph.tenants.models import MailKind

CONTACT = "contact"  # kind of a mail that tells an organization's contact address of a decline


def queue_mail(request: SignatureRequest, kind: str, about: int = 0, turn: int = 0) -> None:
    """Queue a mail that tells the sender what happened; do nothing where it was queued before, or where no member sent
    the request, or there is no contact address. ``kind``: one of :class:`MailKind`, or :data:`CONTACT`. ``about``: as
    that of a :class:`SenderMail`; ``turn``: what tells one mail from another after
    :func:`forget_mails`, as receivers drop a mail that is named like an earlier one."""
    if not (request.organization.contact_email if kind == CONTACT else request.sent_by_id):
        return
    name = f"{kind}-{request.pk}-{about}" + (f"-{turn}" if turn else "")
    with transaction.atomic():
        mail, is_new = SenderMail.objects.get_or_create(
            name=name, defaults={"request_id": request.pk, "kind": kind, "about": about}
        )
        if is_new:
            defer("tell_sender", name=mail.name)


def forget_mails(request: SignatureRequest, kind: MailKind, about: Sequence[int]) -> None:
    """Forget what the sender was told or is to be told, so that it can be told anew: what it said was put right."""
    SenderMail.objects.filter(request=request, kind=kind, about__in=about).delete()
