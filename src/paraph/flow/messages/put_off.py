"""Mails that wait for room below a ceiling, noted for those who ask why a request waits."""

from collections.abc import Iterable
from datetime import timedelta

from paraph.flow.messages.limits import TooManyMessagesError
from paraph.kernel import clock
from paraph.messaging.models import PutOffMail

_KEPT = timedelta(days=1)


def note(name: str, refusal: TooManyMessagesError) -> None:
    """``name``: that of the mail, as :func:`paraph.flow.messages.sent_once.mail_once` knows it. It stays noted once
    the mail is out."""
    PutOffMail.objects.update_or_create(name=name, defaults={"until": refusal.next_at, "reason": refusal.reason})


def noted(names: Iterable[str]) -> dict[str, PutOffMail]:
    """Those of the mails whose time has yet to come, by name."""
    return PutOffMail.objects.filter(until__gt=clock.now()).in_bulk(list(names))


def forget() -> int:
    """Deletes the notes of mails whose time came more than a day ago."""
    gone, _ = PutOffMail.objects.filter(until__lt=clock.now() - _KEPT).delete()
    return gone
