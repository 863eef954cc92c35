"""Sending a mail once, though its job may run twice (docs/decisions/mails.md); what is noted where its recipient
refuses it; and queueing mails to the member who sent a request, which
:mod:`paraph.flow.messages.notices` writes."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection, transaction
from django.db.models import Model, QuerySet

from paraph.flow import events
from paraph.flow.events import lock_request
from paraph.flow.messages.limits import TooManyMessagesError, counted, message_about, note_put_off
from paraph.kernel import clock
from paraph.kernel.errors import DomainError, RecipientRefusedError
from paraph.messaging.email import handed_over
from paraph.messaging.gateways import EMAIL, FinallyRefusedError, is_refused
from paraph.messaging.letters import EmailContent
from paraph.metrics import metrics
from paraph.queue.jobs import ATTEMPT, defer
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import ERASED_DOMAIN, Channel, CopyRecipient, SenderMail, SignatureRequest, Signer
from paraph.tenants.models import MailKind

log = logging.getLogger("paraph.flow")

Row = TypeVar("Row", bound=Model)
READ_ALONG = ("request__organization", "request__branding_profile", "request__sent_by")
"""What a mail needs of the request of a signer, or of somebody who gets a copy."""

_PATIENCE_SECONDS = 120  # a crashed PostgreSQL is back by then
_PAUSE_SECONDS = 0.1
_MARKER_SECONDS = 3600  # longer than a failed job waits for its next attempt
MOST_ATTEMPTS_AT_RECIPIENT = 30


@dataclass(frozen=True)
class DueEmail:
    """A mail to be sent: to the signer, or on the signer's behalf ``to`` somebody else, whose replies go to
    ``reply_to``, or to somebody who gets a ``copy``. ``signer`` has its request and organization loaded.
    ``is_counted``: whether the ceilings of messages hold for it."""

    signer: Signer
    content: EmailContent
    to: str = ""
    copy: CopyRecipient | None = None
    reply_to: str = ""
    is_counted: bool = True


def mail_once(name: str, due: Callable[[], DueEmail | None], note: Callable[[str], object]) -> None:
    """Send the mail that is ``due()``, if any, under the Message-ID that derives from ``name``; nothing to somebody who
    was erased meanwhile.

    ``note(acknowledgement)`` records, in one statement, that the mail server has the mail, which is then no longer due.
    It is called as soon as the server acknowledges, and again while the database is away; meanwhile a marker in the
    data folder tells other processes that the mail is out. So a mail goes out twice, under the same Message-ID, only if
    the process is killed between its last byte and that statement. A mail that its recipient refuses for good, or for
    now in the last of a job's attempts, is given up; a refusal by the signer or whoever gets a copy is noted
    (:func:`note_undelivered`). Raise ``OSError`` when the gateway does not take the mail for other reasons,
    ``DomainError("delivery_failed", …)`` where nothing sends it (:func:`paraph.messaging.gateways.is_refused`),
    :class:`TooManyMessagesError` where it is put off, which is noted. Must not run within a transaction.
    """
    with _alone(name):
        mail = due()
        if mail is None or _recipient(mail).endswith(ERASED_DOMAIN):
            return
        marker = SentMarker(settings.DATA_DIR / "mails" / name)
        acknowledged = marker.read()
        if acknowledged is not None:
            note(acknowledged)
            marker.remove()
            return

        def record(acknowledgement: str) -> None:
            _until_it_works(lambda: note(acknowledgement), marker, acknowledgement)

        try:
            _send(name, mail, record)
        except TooManyMessagesError as refusal:
            note_put_off(name, refusal)
            raise
        except RecipientRefusedError as refusal:
            if not isinstance(refusal, FinallyRefusedError) and ATTEMPT.get() < MOST_ATTEMPTS_AT_RECIPIENT:
                raise
            log.warning("a recipient refuses the mail %s, which is given up", name)
            if not mail.to:
                note_undelivered(mail.copy or mail.signer, name, str(refusal))


def mail_name(kind: str, *ids: int | str, turn: int = 0) -> str:
    """Return the name under which a mail of this kind about these rows is sent once. ``turn``: what tells it from
    earlier ones, where it may be sent anew: how often the signer's link was replaced, or when it was noted."""
    return "-".join(map(str, [kind, *ids, *([turn] if turn else [])]))


def mail_rows_once(kind: str, rows: QuerySet[Row], column: str, due: Callable[[Row], DueEmail | None]) -> None:
    """Send the mail that is due for each of these rows, if any, as :func:`mail_once` does. The ``column`` says since
    when the mail is out, and is empty before. Raise the first ``OSError`` or :class:`TooManyMessagesError` after the
    mails of all others."""
    refusals: list[OSError | TooManyMessagesError] = []
    for pk in rows.filter(**{column: None}).values_list("pk", flat=True):
        try:
            _mail_row_once(mail_name(kind, pk), rows.filter(pk=pk), column, due)
        except (OSError, TooManyMessagesError) as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def _mail_row_once(name: str, row: QuerySet[Row], column: str, due: Callable[[Row], DueEmail | None]) -> None:
    def waiting() -> DueEmail | None:
        found = row.filter(**{column: None}).first()
        return due(found) if found else None

    mail_once(name, waiting, lambda _acknowledgement: row.update(**{column: clock.now()}))


@contextmanager
def delivering(
    channel: str, kind: str, refusal: str, on_refused: Callable[[str], object] = lambda _answer: None
) -> Iterator[None]:
    """Count the message of this ``kind`` that the block hands to a gateway while somebody waits for it. Raise
    ``DomainError("delivery_failed", refusal)`` where the gateway does not take it or cannot be used. Where the
    recipient refuses it for good, call ``on_refused`` with what the gateway said, and raise the same with a sentence
    that says so."""
    try:
        with metrics.message(channel, kind):
            yield
    except FinallyRefusedError as error:
        on_refused(str(error))
        raise translated("delivery_failed", "refused") from error
    except OSError as error:
        raise DomainError("delivery_failed", refusal) from error
    except DomainError as error:
        if error.code != "configuration":
            raise
        log.error("the gateway for %s cannot be used: %s", channel, error.message)
        raise DomainError("delivery_failed", refusal) from error


def _recipient(mail: DueEmail) -> str:
    return mail.to or (mail.copy or mail.signer).email


def _send(name: str, mail: DueEmail, on_sent: Callable[[str], None]) -> None:
    to, request = _recipient(mail), mail.signer.request
    if is_refused(request.environment, EMAIL):
        sentence = "No mail server is configured, so the mail waits: set one, or PARAPH_MAIL=captured."
        raise DomainError("delivery_failed", sentence)
    message = message_about(request, Channel.EMAIL, to)
    counting = counted(message, waits=True) if mail.is_counted else nullcontext()
    letter = handed_over(to, mail.content, name, reply_to=mail.reply_to, withheld=message.withheld)
    with counting, metrics.message("email", "message"), letter as acknowledgement:
        on_sent(acknowledgement)


class SentMarker:
    """A file in the data folder that says that a mail is out, while the database is away."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str | None:
        """Return the acknowledgement that a process left here within the hour, else None: an older marker may belong to
        a database that was replaced since."""
        try:
            fresh = time.time() - self._path.stat().st_mtime < _MARKER_SECONDS
            return self._path.read_text("utf-8") if fresh else None
        except FileNotFoundError:
            return None

    def write(self, acknowledgement: str) -> None:
        """Write the marker whole or, on a full disk, not at all."""
        with suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            draft = self._path.with_name(f"{self._path.name}.draft")
            draft.write_text(acknowledgement, "utf-8")
            draft.replace(self._path)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Wait until no other process sends this mail. The lock belongs to the session, not to a transaction, because the
    note commits while the connection to the mail server is still open."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('mail'), hashtext(%s))", [name])
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:  # a lost session has lost its locks as well
            cursor.execute("SELECT pg_advisory_unlock(hashtext('mail'), hashtext(%s))", [name])


def _until_it_works(note: Callable[[], object], marker: SentMarker, acknowledgement: str) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            note()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or time.monotonic() > end:
                raise
            marker.write(acknowledgement)
            log.warning("a mail is out and the database away, trying again: %s", error)
            connection.close()
            time.sleep(_PAUSE_SECONDS)
        else:
            marker.remove()
            return


CONTACT = "contact"  # kind of a mail that tells an organization's contact address of a decline


def queue_mail(request: SignatureRequest, kind: str, about: int = 0, turn: int = 0) -> None:
    """Queue a mail that tells the sender what happened; do nothing where it was queued before, or where no member sent
    the request, or there is no contact address. ``kind``: one of :class:`MailKind`, or :data:`CONTACT`. ``about``: as
    in :class:`SenderMail`; ``turn``: what tells one mail from another after :func:`forget_mails`, as receivers drop a
    mail that is named like an earlier one."""
    if not (request.organization.contact_email if kind == CONTACT else request.sent_by_id):
        return
    name = mail_name(kind, request.pk, about, turn=turn)
    with transaction.atomic():
        mail, is_new = SenderMail.objects.get_or_create(
            name=name, defaults={"request_id": request.pk, "kind": kind, "about": about}
        )
        if is_new:
            defer("tell_sender", name=mail.name)


def forget_mails(request: SignatureRequest, kind: MailKind, about: Sequence[int]) -> None:
    """Forget mails to the sender, sent or queued, so that they can be sent anew: what they said was put right."""
    SenderMail.objects.filter(request=request, kind=kind, about__in=about).delete()


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
