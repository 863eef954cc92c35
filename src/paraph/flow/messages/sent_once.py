"""A mail that leaves once, though its job may run twice (docs/decisions/mails-once.md)."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connection

from paraph.flow.messages import put_off
from paraph.flow.messages.emails import Letter
from paraph.flow.messages.limits import TooManyMessagesError, addressed, counted
from paraph.messaging.email import send_email
from paraph.organizations.confirmed_addresses import is_withheld
from paraph.signature_requests.models import Channel, Signer

log = logging.getLogger("paraph.flow")

_PATIENCE_SECONDS = 120  # a crashed PostgreSQL is back by then, or the machine has other troubles
_PAUSE_SECONDS = 0.1
_SLIP_SECONDS = 3600  # longer than a job waits for its next attempt


@dataclass(frozen=True)
class Mail:
    """``signer``: with request and organization."""

    signer: Signer
    letter: Letter


def mail_once(name: str, due: Callable[[], Mail | None], note: Callable[[str], object]) -> None:
    """Sends what is ``due()``, if anything, under the Message-ID that derives from ``name``.

    ``note(acknowledgement)`` writes down, in one statement, that the mail server has it, so that the mail is due no
    more. It is called as soon as the server has said so, and again for as long as the database is away, while a slip
    in the data folder tells a successor: only a process killed between the last byte of the mail and that statement
    leaves a mail that goes out again, under the same Message-ID. Raises ``OSError`` when the gateway does not take the
    mail, :class:`TooManyMessagesError` where it is put off, which is noted. Must not be called within a transaction.
    """
    with _alone(name):
        mail = due()
        if mail is None:
            return
        slip = Slip(settings.DATA_DIR / "mails" / name)
        acknowledged = slip.read()
        if acknowledged is not None:
            note(acknowledged)
            slip.remove()
            return

        def taken(acknowledgement: str) -> None:
            _until_it_works(lambda: note(acknowledgement), slip, acknowledgement)

        try:
            _send(name, mail, taken)
        except TooManyMessagesError as refusal:
            put_off.note(name, refusal)
            raise


def _send(name: str, mail: Mail, taken: Callable[[str], None]) -> None:
    to, request, letter = mail.signer.email, mail.signer.request, mail.letter
    withheld = is_withheld(request.organization_id, request.environment, to)
    with counted(addressed(mail.signer, Channel.EMAIL, to, withheld=withheld), waits=True):
        send_email(to, letter.subject, letter.text, letter.html, message_id=name, withheld=withheld, taken=taken)


class Slip:
    """That a mail is out, on the disk of this machine, while the database cannot be told."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str | None:
        """What the mail server said, if a process has left that here within the hour: an older slip may be about a
        database that is no more."""
        try:
            fresh = time.time() - self._path.stat().st_mtime < _SLIP_SECONDS
            return self._path.read_text("utf-8") if fresh else None
        except FileNotFoundError:
            return None

    def write(self, acknowledgement: str) -> None:
        """Whole or not at all. On a full disk there is none."""
        with suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            draft = self._path.with_name(f"{self._path.name}.draft")
            draft.write_text(acknowledgement, "utf-8")
            draft.replace(self._path)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Waits until no other process is about this mail. A lock of the session, since there is no transaction: the
    note is to be committed while the mail server still waits for the next command."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('mail'), hashtext(%s))", [name])
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:  # a lost session has lost its locks as well
            cursor.execute("SELECT pg_advisory_unlock(hashtext('mail'), hashtext(%s))", [name])


def _until_it_works(note: Callable[[], object], slip: Slip, acknowledgement: str) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            note()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or time.monotonic() > end:
                raise
            slip.write(acknowledgement)
            log.warning("a mail is out and the database away, trying again: %s", error)
            connection.close()
            time.sleep(_PAUSE_SECONDS)
        else:
            slip.remove()
            return
