"""Noting mails that wait for room below a ceiling, so that operators see why a request waits."""

from collections.abc import Iterable
from datetime import timedelta

from paraph.flow.messages.limits import TooManyMessagesError
from paraph.kernel import clock
from paraph.messaging.models import PutOffMail

_KEPT_FOR = timedelta(days=1)


def note(name: str, refusal: TooManyMessagesError) -> None:
    """Notes that the mail with this ``name`` (:func:`paraph.flow.messages.sent_once.mail_once`) waits. The note stays
    when the mail is out."""
    PutOffMail.objects.update_or_create(name=name, defaults={"until": refusal.next_at, "reason": refusal.reason})


def noted(names: Iterable[str]) -> dict[str, PutOffMail]:
    """Returns the notes of those of the mails that still wait, by name."""
    return PutOffMail.objects.filter(until__gt=clock.now()).in_bulk(list(names))


def forget() -> int:
    """Deletes the notes of mails whose time came more than a day ago; returns how many."""
    gone, _ = PutOffMail.objects.filter(until__lt=clock.now() - _KEPT_FOR).delete()
    return gone
