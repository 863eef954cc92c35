"""Telling senders that their requests are about to expire: three days before, and one."""

from datetime import timedelta

from django.db.models import Exists, OuterRef

from paraph.flow.messages.tell_sender import owe_mail
from paraph.kernel import clock
from paraph.signature_requests.models import RequestStatus, SenderMail, SignatureRequest
from paraph.tenants.members.models import MailKind

_DAYS = {3: 1, 1: 0}  # from so many days before the end until so many; a day later the mail would say less
_AT_ONCE = 500


def warn_senders() -> int:
    """Owes a mail to the sender of each request that comes to its end; returns to how many. Not of requests that were
    to be signed within that time from the beginning. Safe to repeat, and to be late."""
    return sum(_warn(before, until) for before, until in _DAYS.items())


def _warn(before: int, until: int) -> int:
    now = clock.now()
    told = SenderMail.objects.filter(request=OuterRef("pk"), kind=MailKind.EXPIRING, about=before)
    due = SignatureRequest.objects.filter(
        ~Exists(told),
        status=RequestStatus.PENDING,
        expires_at__gt=now + timedelta(days=until),
        expires_at__lte=now + timedelta(days=before),
        validity_days__gt=before,
        sent_by__isnull=False,
    )
    rows = list(due.order_by("expires_at", "pk")[:_AT_ONCE])
    for request in rows:
        owe_mail(request, MailKind.EXPIRING, before)
    return len(rows)
