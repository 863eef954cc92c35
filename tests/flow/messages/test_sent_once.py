"""A mail leaves once, whatever happens between the mail server's answer and our note of it."""

import os
import time
from collections.abc import Callable, Iterator
from email import message_from_bytes
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from pytest_django import Settings

from paraph.audit_trail.models import Entry
from paraph.flow import events
from paraph.flow.messages import emails
from paraph.flow.messages.copies import notify_completion
from paraph.flow.messages.sent_once import DueEmail, SentMarker, _until_it_works, mail_once
from paraph.flow.sending.invite import invite
from paraph.signature_requests.models import Signer
from tests.factories import Scene, scene
from tests.loopback import mail_server

pytestmark = pytest.mark.django_db(transaction=True)


class MailServer:
    """``before_reply`` happens while the sender waits for the answer to its message."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.before_reply: Callable[[], None] = lambda: None

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.taken.append(str(message_from_bytes(envelope.content)["Message-ID"]).split("@")[0])
        self.before_reply()
        return "250 Ok: queued as 7"


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    server = MailServer()
    with mail_server(server) as url:
        settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": url})
        yield server


def end_sessions() -> None:
    """As a crash of PostgreSQL does: every session of this database ends."""
    parameters = connection.get_connection_params()
    fields = {name: parameters[name] for name in ("host", "port", "user", "dbname", "password") if parameters.get(name)}
    with psycopg.connect(**fields, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize("work", ["invitation", "completion"])
def test_the_database_crashes_while_the_mail_server_answers(server: MailServer, work: str) -> None:
    made = scene(notify_signers_on_completion=True)
    server.before_reply = end_sessions
    verb, target = (invite, made.signers[0].pk) if work == "invitation" else (notify_completion, made.request.pk)
    verb(target)
    verb(target)
    assert server.taken == [f"<{work}-{made.signers[0].pk}"]
    event = {"invitation": "signer.notified", "completion": "request.completion_notified"}[work]
    assert made.events().count(event) == 1


def test_a_process_that_dies_before_the_journal_leaves_only_the_journal_to_its_successor(
    server: MailServer, monkeypatch: pytest.MonkeyPatch, made: Scene
) -> None:

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(events, "signer_notified", die)
        invite(made.signers[0].pk)
    assert Signer.objects.get().notified_at is None and "signer.notified" not in made.events()
    invite(made.signers[0].pk)
    assert len(server.taken) == 1
    entry = Entry.objects.get(event_type="signer.notified")
    assert entry.metadata["acknowledgement"] == "250 Ok: queued as 7"
    signer = Signer.objects.get()
    assert signer.status == "notified" and signer.notified_at and signer.notified_at < entry.created_at


def test_the_note_is_made_while_the_mail_server_still_listens(server: MailServer, made: Scene) -> None:
    """Nothing that takes time lies between its answer and the note, not even the good-bye."""
    order: list[str] = []

    async def quit_seen(_server: Any, _session: Any, _envelope: Any) -> str:
        order.append("quit")
        return "221 Bye"

    server.handle_QUIT = quit_seen  # type: ignore[attr-defined]
    signer = made.signers[0]
    mail = DueEmail(signer, emails.invitation(signer, "https://sign.example/sign/x"))
    mail_once("invitation-x", lambda: mail, lambda _: order.append("noted"))
    assert order == ["noted", "quit"]


def test_a_note_that_fails_within_a_transaction_is_not_repeated_there(tmp_path: Path) -> None:
    """Its transaction is lost; only whoever opened it can begin again."""
    calls: list[int] = []

    def note() -> None:
        calls.append(1)
        raise OperationalError("gone")

    with pytest.raises(OperationalError), transaction.atomic():
        _until_it_works(note, SentMarker(tmp_path / "slip"), "250")
    assert len(calls) == 1


@pytest.mark.parametrize(("hours", "mails"), [(0, 1), (2, 2)])
def test_a_process_that_dies_while_the_database_is_away_leaves_a_slip(
    server: MailServer, settings: Settings, tmp_path: Path, hours: int, mails: int
) -> None:
    """Which counts for an hour: later it may be about another database."""
    settings.DATA_DIR = tmp_path
    signer = scene().signers[0]
    mail = DueEmail(signer, emails.invitation(signer, "https://sign.example/sign/x"))
    faults: list[BaseException] = [OperationalError("gone"), KeyboardInterrupt()]
    noted: list[str] = []

    def note(acknowledgement: str) -> None:
        if faults:
            raise faults.pop(0)
        noted.append(acknowledgement)

    with pytest.raises(KeyboardInterrupt):
        mail_once("invitation-x", lambda: mail, note)
    [slip] = (tmp_path / "mails").iterdir()
    os.utime(slip, (time.time() - hours * 3600,) * 2)
    mail_once("invitation-x", lambda: mail, note)
    assert len(server.taken) == mails
    assert noted == ["250 Ok: queued as 7"]
    assert not slip.exists()
