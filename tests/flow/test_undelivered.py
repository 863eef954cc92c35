"""A mail is sent once, whatever happens between the mail server's answer and our note of it. A mail refused for good is
sent once, and its failure is shown where the sender looks; a mail refused for now, or by a mail server that accepts
mails from nobody, is sent again, but not for ever."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from email import message_from_bytes
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import Entry
from paraph.flow import events
from paraph.flow.jobs import RETRY
from paraph.flow.messages import emails
from paraph.flow.messages.copies import mail_copies, notify_completion
from paraph.flow.messages.notices import due_mail, tell_signer_of_end
from paraph.flow.messages.sent_once import (
    MOST_ATTEMPTS_AT_RECIPIENT,
    DueEmail,
    SentMarker,
    _until_it_works,
    mail_once,
    note_undelivered,
)
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.personal_data.place import Person
from paraph.flow.personal_data.unsent import erase_unsent
from paraph.flow.sending.correct import correct_signer
from paraph.flow.sending.invite import invite, remind, remind_due, send_reminder
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock
from paraph.kernel.errors import DomainError, RecipientRefusedError
from paraph.operations.pending_work import pending_steps, retry
from paraph.operations.request_state import request_state
from paraph.signature_requests.models import (
    ERASED_DOMAIN,
    Channel,
    Reminder,
    SenderMail,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.tenants.admin_log import OPERATOR
from tests.drafts.author import author
from tests.factories import VISITOR, Scene, scene
from tests.flow.test_giving_up import work
from tests.flow.test_jobs import waits, work_off
from tests.flow.test_tell_sender import SENDER, sent
from tests.loopback import mail_server
from tests.refusing import FULL_FOR_NOW, NO_SUCH_USER, RefusingServer, refusing_server

pytestmark = pytest.mark.django_db(transaction=True)
ADA = "ada1@example.com"
WORDS = "550 5.1.1 …: Recipient address rejected: User unknown in virtual mailbox table"


@pytest.fixture
def server(settings: Any) -> Iterator[RefusingServer]:
    with refusing_server(settings) as found:
        yield found


@pytest.fixture
def made(db: None) -> Scene:
    return sent()


def signed(signers: int, **how: Any) -> Scene:
    """A request that everybody has signed by sandbox acts, which need no code: the mail server would take none."""
    made = scene(signers=signers, **how)
    for position in range(signers):
        sign_verb(made.signer(position), Signature(None, {"type": "typed"}, None, "en"), VISITOR)
    return made


def refused_invitation(server: RefusingServer, made: Scene) -> None:
    server.recipients[ADA] = NO_SUCH_USER
    invite(made.signers[0].pk)


def failures(made: Scene) -> list[dict[str, Any]]:
    return [entry.metadata for entry in made.entries() if entry.event_type == "signer.delivery_failed"]


def told() -> list[str]:
    """The mails due to the sender, each as its subject and text."""
    due = map(due_mail, SenderMail.objects.filter(sent_at=None).order_by("name"))
    return [f"{mail.content.subject}\n{mail.content.text}" for mail in due if mail]


def again(made: Scene) -> Reminder:
    return remind(made.scope(), made.request.pk, made.signers[0].pk, author().actor)


def a_day_passes() -> None:
    Reminder.objects.update(asked_at=clock.now() - timedelta(days=1, seconds=1))


def due_again(attempts: int) -> None:
    ProcrastinateJob.objects.filter(queue_name="mail", status="todo").update(attempts=attempts, scheduled_at=None)


class TestAnInvitation:
    def test_is_refused_once_everybody_is_told_and_it_can_be_erased(self, server: RefusingServer, made: Scene) -> None:
        server.recipients[ADA] = NO_SUCH_USER
        for _ in range(3):
            invite(made.signers[0].pk)
        assert server.asked == {ADA: 1}
        signer = made.signer()
        assert (signer.status, signer.notified_at, signer.invitation) == (SignerStatus.PENDING, None, None)
        assert (signer.undelivered["channel"], signer.undelivered["answer"]) == ("email", WORDS)
        facts = {"channel": "email", "recipient": ADA, "message": "invitation", "answer": WORDS}
        assert failures(made) == [facts]
        [mail] = told()
        assert mail.startswith("Not delivered to Ada Lovelace: Lease of the pier")
        assert "ada1 @ example. com" in mail and "User unknown" in mail and "Correct the address" in mail
        assert [step.words for step in pending_steps(made.request)] == ["the invitation of Émile Zola"]
        why = request_state(made.request.pk)["why"]
        assert f"A message to Ada Lovelace was refused for good: {WORDS}." in why and "worker" not in why
        [entry] = [entry for entry in made.entries() if entry.event_type == "signer.delivery_failed"]
        assert set(entry.salts) == {"metadata/recipient", "metadata/answer"}
        SignatureRequest.objects.update(status="expired")
        erase_signer(OPERATOR, made.signers[0].pk)
        [facts] = failures(made)
        assert facts["answer"] == "erased" and "ada1" not in facts["recipient"] and made.signer().undelivered is None
        assert broken_at(made.entries()) is None

    def test_nor_does_a_real_worker_ask_twice(self, server: RefusingServer, made: Scene) -> None:
        server.recipients[ADA] = NO_SUCH_USER
        retry(made.request.pk)
        for _ in range(2):
            work("mail")
        assert server.asked[ADA] == 1 and server.asked[SENDER] == 1, "and the sender was told"
        assert not ProcrastinateJob.objects.filter(task_name="paraph.flow.jobs.invite", status="failed").exists()
        assert [step.words for step in pending_steps(made.request)] == []

    def test_a_correction_starts_anew(self, server: RefusingServer, made: Scene) -> None:
        refused_invitation(server, made)
        given = {"email": "ada@harbour.example"}
        correct_signer(made.scope(), author().actor, made.request.pk, made.signers[0].pk, given, origin=VISITOR)
        assert made.signer().undelivered is None
        work("mail")
        assert server.asked[ADA] == 1 and "ada@harbour.example" in server.taken
        assert made.signer().status == SignerStatus.NOTIFIED and "mailbox" not in str(told())

    def test_so_does_sending_it_again_once_a_day(self, server: RefusingServer, made: Scene) -> None:
        refused_invitation(server, made)
        work("mail")
        again(made)
        assert made.signer().undelivered is None
        assert [step.task for step in pending_steps(made.request)][:1] == ["invite"]
        with pytest.raises(DomainError) as refused:
            again(made)
        assert refused.value.code == "too_many_reminders"
        work("mail")
        assert server.asked[ADA] == 2 and len(failures(made)) == 2
        assert server.taken.count(SENDER) == 2, "each refusal is told"
        server.recipients.clear()
        a_day_passes()
        again(made)
        work("mail")
        assert made.signer().status == SignerStatus.NOTIFIED and made.signer().undelivered is None
        notified = [entry for entry in made.entries() if entry.event_type == "signer.notified"]
        assert len(notified) == 1 and "reminder" not in notified[0].metadata

    def test_what_was_corrected_while_the_server_answered_is_not_noted(
        self, server: RefusingServer, monkeypatch: pytest.MonkeyPatch, made: Scene
    ) -> None:
        server.recipients[ADA] = NO_SUCH_USER
        real = server.handle_RCPT

        async def corrected(*arguments: Any) -> str:
            await Signer.objects.filter(pk=made.signers[0].pk).aupdate(email="ada@harbour.example", replaced_links=1)
            return await real(*arguments)

        monkeypatch.setattr(server, "handle_RCPT", corrected)
        invite(made.signers[0].pk)
        assert made.signer().undelivered is None and failures(made) == []

    def test_what_was_put_right_meanwhile_is_not_told(self, server: RefusingServer, made: Scene) -> None:
        refused_invitation(server, made)
        Signer.objects.update(undelivered=None)
        assert told() == []

    def test_a_request_that_mails_nobody_mails_no_invitation_where_a_code_was_refused(
        self, server: RefusingServer, made: Scene
    ) -> None:
        SignatureRequest.objects.update(send_email=False)
        note_undelivered(made.signer(), "code-email", WORDS)
        with pytest.raises(DomainError, match="sends its signers no mails"):
            again(made)
        work("mail")
        assert ADA not in server.asked


class TestNotForGood:
    def test_for_now_it_is_asked_thirty_times_in_three_days_and_then_given_up(
        self, server: RefusingServer, made: Scene
    ) -> None:
        server.recipients[ADA] = FULL_FOR_NOW
        retry(made.request.pk)
        work("mail")
        assert ProcrastinateJob.objects.get(task_name="paraph.flow.jobs.invite").attempts == 1
        assert failures(made) == [] and made.signer().undelivered is None
        due_again(MOST_ATTEMPTS_AT_RECIPIENT - 2)
        work("mail")
        assert made.signer().undelivered is None
        due_again(MOST_ATTEMPTS_AT_RECIPIENT - 1)
        work("mail")
        assert server.asked[ADA] == 3 and "over quota" in made.signer().undelivered["answer"]
        assert len(failures(made)) == 1 and not ProcrastinateJob.objects.filter(status="failed").exists()
        seconds = [waits(RecipientRefusedError("452"), made, "mail") or 0 for made in range(MOST_ATTEMPTS_AT_RECIPIENT)]
        assert 0 not in seconds and max(seconds) == pytest.approx(4 * 3600, abs=60)
        assert timedelta(days=2.5) < timedelta(seconds=sum(seconds)) < timedelta(days=3.7)

    @pytest.mark.parametrize("reply", ["554 5.7.1 <{}>: Relay access denied", "451 4.3.0 lookup failure"])
    def test_a_server_that_takes_nothing_is_no_word_about_the_signer(
        self, server: RefusingServer, reply: str, made: Scene
    ) -> None:
        server.recipients[ADA] = reply
        retry(made.request.pk)
        work("mail")
        due_again(MOST_ATTEMPTS_AT_RECIPIENT + 5)
        work("mail")
        assert server.asked[ADA] == 2 and made.signer().undelivered is None and failures(made) == []
        server.recipients.clear()
        due_again(RETRY.mail_attempts - 1)
        work("mail")
        assert made.signer().status == SignerStatus.NOTIFIED


class TestOtherMessages:
    def test_a_reminder_is_refused_once_and_none_follows_by_itself(self, server: RefusingServer) -> None:
        made = sent(remind_every_days=1, reminders_at_most=5)
        invite(made.signers[0].pk)
        server.recipients[ADA] = NO_SUCH_USER
        Signer.objects.filter(pk=made.signers[0].pk).update(remind_at=clock.now())
        assert remind_due() == 1
        for _ in range(2):
            send_reminder(made.signers[0].pk, 1)
        assert server.asked[ADA] == 2 and [facts["message"] for facts in failures(made)] == ["reminder"]
        assert "reminder" not in str(pending_steps(made.request))
        Signer.objects.filter(pk=made.signers[0].pk).update(remind_at=clock.now())
        assert remind_due() == 0
        server.recipients.clear()
        a_day_passes()
        again(made)
        work("mail")
        assert server.taken.count(ADA) == 2 and made.signer().undelivered is None
        a_day_passes()
        Reminder.objects.filter(number=2).update(mail={"taken_at": clock.iso(clock.now() - timedelta(days=2))})
        Signer.objects.filter(pk=made.signers[0].pk).update(remind_at=clock.now())
        assert remind_due() == 1, "reminders go on by themselves once one was taken"

    def test_the_summary_reaches_the_others_and_names_whom_it_reached(self, server: RefusingServer) -> None:
        made = signed(2, notify_signers_on_completion=True)
        server.recipients[ADA] = NO_SUCH_USER
        for _ in range(2):
            notify_completion(made.request.pk)
        assert server.asked[ADA] == 1 and server.taken == [made.signers[1].email]
        [summary] = [entry for entry in made.entries() if entry.event_type == "request.completion_notified"]
        assert summary.metadata["recipients"] == [made.signers[1].email]
        assert [facts["message"] for facts in failures(made)] == ["completion"]
        made.request.refresh_from_db()
        assert "notify_completion" not in [step.task for step in pending_steps(made.request)]

    def test_a_copy_that_is_refused_is_of_no_signer(self, server: RefusingServer) -> None:
        made = signed(1, copies=2)
        server.recipients["copy0@example.com"] = NO_SUCH_USER
        work_off()
        mail_copies(made.request.pk)
        assert server.asked["copy0@example.com"] == 1 and server.taken == ["copy1@example.com"]
        [entry] = [entry for entry in made.entries() if entry.event_type == "signer.delivery_failed"]
        assert entry.signer_id is None and entry.metadata["copies"] and entry.metadata["message"] == "copy"
        made.request.refresh_from_db()
        assert pending_steps(made.request) == []
        assert request_state(made.request.pk)["copies"][0]["undelivered"]["answer"] == WORDS
        erase_unsent(Person(frozenset({"copy0@example.com"})))
        [facts] = failures(made)
        assert facts["answer"] == "erased" and facts["recipient"].endswith(ERASED_DOMAIN)
        assert broken_at(made.entries()) is None

    def test_the_sender_is_not_told_to_correct_who_has_signed(self, server: RefusingServer, made: Scene) -> None:
        SignatureRequest.objects.update(status="completed")
        note_undelivered(made.signer(), f"completion-{made.signers[0].pk}", WORDS)
        [mail] = told()
        assert "User unknown" in mail and "Correct" not in mail

    def test_the_end_is_not_told_where_nothing_arrives(self, server: RefusingServer, made: Scene) -> None:
        invite(made.signers[0].pk)
        SignatureRequest.objects.update(status="expired", ended_early_at=clock.now(), ended_reason="")
        server.recipients[ADA] = NO_SUCH_USER
        for _ in range(2):
            tell_signer_of_end(made.signers[0].pk)
        assert server.asked[ADA] == 2 and [facts["message"] for facts in failures(made)] == ["end"]

    def test_the_end_is_mailed_to_whoever_has_a_number_that_refuses_codes(self, server: RefusingServer) -> None:
        made = sent(signer={"phone": "+33612345678"})
        invite(made.signers[0].pk)
        note_undelivered(made.signer(), "code-sms", "Twilio 21614: not a mobile number", Channel.SMS)
        SignatureRequest.objects.update(status="expired", ended_early_at=clock.now(), ended_reason="")
        tell_signer_of_end(made.signers[0].pk)
        assert server.taken.count(ADA) == 2

    def test_who_signs_all_the_same_is_reached(self, server: RefusingServer) -> None:
        made = scene(send_email=True)
        refused_invitation(server, made)
        sign_verb(made.signer(), Signature(None, {"type": "typed"}, None, "en"), VISITOR)
        assert made.signer().undelivered is None


class MailServer:
    """A mail server that calls ``before_reply`` while its client waits for the answer to a message."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.before_reply: Callable[[], None] = lambda: None

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.taken.append(str(message_from_bytes(envelope.content)["Message-ID"]).split("@")[0])
        self.before_reply()
        return "250 Ok: queued as 7"


@pytest.fixture
def gateway(settings: Settings) -> Iterator[MailServer]:
    found = MailServer()
    with mail_server(found) as url:
        settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": url})
        yield found


def end_sessions() -> None:
    """End every session of this database, as a crash of PostgreSQL does."""
    parameters = connection.get_connection_params()
    fields = {name: parameters[name] for name in ("host", "port", "user", "dbname", "password") if parameters.get(name)}
    with psycopg.connect(**fields, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize("work", ["invitation", "completion"])
def test_the_database_crashes_while_the_mail_server_answers(gateway: MailServer, work: str) -> None:
    made = scene(notify_signers_on_completion=True)
    gateway.before_reply = end_sessions
    verb, target = (invite, made.signers[0].pk) if work == "invitation" else (notify_completion, made.request.pk)
    verb(target)
    verb(target)
    assert gateway.taken == [f"<{work}-{made.signers[0].pk}"]
    event = {"invitation": "signer.notified", "completion": "request.completion_notified"}[work]
    assert made.events().count(event) == 1


def test_a_process_that_dies_before_the_journal_leaves_only_the_journal_to_its_successor(
    gateway: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = scene()

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(events, "signer_notified", die)
        invite(made.signers[0].pk)
    assert Signer.objects.get().notified_at is None and "signer.notified" not in made.events()
    invite(made.signers[0].pk)
    assert len(gateway.taken) == 1
    entry = Entry.objects.get(event_type="signer.notified")
    assert entry.metadata["acknowledgement"] == "250 Ok: queued as 7"
    signer = Signer.objects.get()
    assert signer.status == "notified" and signer.notified_at and signer.notified_at < entry.created_at


def test_the_note_is_made_while_the_mail_server_still_listens(gateway: MailServer) -> None:
    """Nothing slow comes between the mail server's answer and the note, not even QUIT."""
    order: list[str] = []

    async def quit_seen(_server: Any, _session: Any, _envelope: Any) -> str:
        order.append("quit")
        return "221 Bye"

    gateway.handle_QUIT = quit_seen  # type: ignore[attr-defined]
    signer = scene().signers[0]
    mail = DueEmail(signer, emails.invitation(signer, "https://sign.example/sign/x"))
    mail_once("invitation-x", lambda: mail, lambda _: order.append("noted"))
    assert order == ["noted", "quit"]


def test_a_note_that_fails_within_a_transaction_is_not_repeated_there(tmp_path: Path) -> None:
    """The transaction is lost, and only the code that opened it can begin again."""
    calls: list[int] = []

    def note() -> None:
        calls.append(1)
        raise OperationalError("gone")

    with pytest.raises(OperationalError), transaction.atomic():
        _until_it_works(note, SentMarker(tmp_path / "slip"), "250")
    assert len(calls) == 1


@pytest.mark.parametrize(("hours", "mails"), [(0, 1), (2, 2)])
def test_a_process_that_dies_while_the_database_is_away_leaves_a_slip(
    gateway: MailServer, settings: Settings, tmp_path: Path, hours: int, mails: int
) -> None:
    """The slip counts for an hour: later, it may belong to another database."""
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
    assert len(gateway.taken) == mails
    assert noted == ["250 Ok: queued as 7"]
    assert not slip.exists()
