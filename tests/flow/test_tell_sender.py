"""The member who sent a request is told what became of it: each thing once, in their language, if they want it.
Recipients of copies are mailed once the request is finalized."""

import re
from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.flow.ending import end_early
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.messages.copies import mail_copies, notify_completion
from paraph.flow.messages.notices import tell_sender, warn_senders
from paraph.flow.messages.sent_once import queue_mail
from paraph.flow.personal_data.erase import erase_address, erase_signer
from paraph.flow.sealing.finalize import finalize
from paraph.flow.sending.correct import extend
from paraph.flow.sending.invite import invite
from paraph.flow.signing.decline_or_ask import ask
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import pending_steps
from paraph.signature_requests.models import CopyRecipient, Inquiry, SenderMail, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import MailKind, Member, MutedMail, Organization, User
from tests.factories import VISITOR, Scene, jobs, scene, sign
from tests.flow.test_erase import everything
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db(transaction=True)
SENDER = "ada@harbour.example"


@pytest.fixture
def made() -> Scene:
    return sent()


def sent(signers: int = 2, **facts: Any) -> Scene:
    """A request that a member sent from the dashboard."""
    made = scene(signers=signers, environment="production", send_email=True, **facts)
    user, _ = User.objects.get_or_create(email=SENDER)
    Member.objects.create(organization=made.request.organization, user=user, role="member")
    SignatureRequest.objects.filter(pk=made.request.pk).update(
        application=None, sent_by=user, title="Lease of the pier"
    )
    made.request.refresh_from_db()
    return made


def told() -> list[str]:
    """Run the deferred jobs, each twice, as a queue may; return the subjects of all mails to the sender."""
    for job in ProcrastinateJob.objects.filter(task_name="paraph.flow.jobs.tell_sender").order_by("id"):
        for _ in range(2):
            tell_sender(job.args["name"])
    return list(CapturedMessage.objects.filter(to=SENDER).order_by("id").values_list("subject", flat=True))


def test_in_the_language_of_the_sender_or_in_which_they_were_last_here(made: Scene) -> None:
    SignatureRequest.objects.update(locale="fr")
    for own, last, subject in (
        ("de", "es", "Alle haben unterschrieben: Lease of the pier"),
        ("", "es", "Todos han firmado"),
        ("", "", "Tout le monde a signé"),
    ):
        SenderMail.objects.all().delete()
        CapturedMessage.objects.all().delete()
        User.objects.update(language=own)
        Member.objects.update(last_language=last)
        queue_mail(made.request, MailKind.COMPLETED)
        assert told()[-1].startswith(subject)


def test_a_sender_who_signs_too_is_mailed_once() -> None:
    made = sent(notify_signers_on_completion=True)
    Signer.objects.filter(pk=made.signers[0].pk).update(email=SENDER.upper())
    for position in range(2):
        sign(made, position)
    notify_completion(made.request.pk)
    queue_mail(made.request, MailKind.COMPLETED)
    told()
    mails = CapturedMessage.objects.filter(to__iexact=SENDER).exclude(subject__contains="signing code")
    assert [mail.subject for mail in mails] == ["Everyone has signed: Acme Ltd"]


@pytest.mark.parametrize("kind", [MailKind.COMPLETED, MailKind.EXPIRING])
def test_nobody_is_told_who_wants_no_such_mails_or_is_no_member(kind: MailKind, made: Scene) -> None:
    MutedMail.objects.create(user=User.objects.get(), kind=kind)
    queue_mail(made.request, kind, 3)
    assert told() == [] and not SenderMail.objects.get().sent_at
    MutedMail.objects.all().delete()
    Member.objects.all().delete()
    assert told() == [], "who left the organization is told nothing any more"
    SenderMail.objects.all().delete()
    queue_mail(scene().request, kind, 3)
    assert not SenderMail.objects.exists(), "a request by API has nobody to tell"


@pytest.mark.parametrize(
    ("kind", "subject"),
    [("question", "Ada Lovelace wrote to you: Lease of the pier"), ("not_me", "Ada Lovelace wrote to you")],
)
def test_a_signer_asks_or_is_not_meant(kind: str, subject: str, made: Scene) -> None:
    Organization.objects.update(contact_email="office@harbour.example")
    ask(made.signer(), kind, "Why so <b>much</b>?")
    [shown] = told()
    assert shown.startswith(subject)
    assert "Why so" not in CapturedMessage.objects.get(to=SENDER).text, "it stands where it can be erased"


def test_whoever_gets_the_inquiry_itself_gets_no_second_mail(made: Scene) -> None:
    Organization.objects.update(contact_email=SENDER.upper())
    ask(made.signer(), "question", "Why?")
    assert told() == []
    Inquiry.objects.all().delete()
    assert told() == []


def test_three_days_before_the_end_and_one(made: Scene) -> None:
    sign(made)
    assert warn_senders() == 0
    for days, wanted in ((2.9, 1), (2, 1), (0.9, 2), (0.5, 2)):
        SignatureRequest.objects.update(expires_at=clock.now() + timedelta(days=days))
        warn_senders()
        subjects = told()
        assert len(subjects) == wanted and "Lease of the pier" in subjects[-1]
    assert "1 of 2 signed. Waiting for Émile Zola." in CapturedMessage.objects.filter(to=SENDER).latest("id").text
    SenderMail.objects.all().delete()
    SignatureRequest.objects.update(expires_at=clock.now() + timedelta(hours=20), validity_days=1)
    assert warn_senders() == 0, "it was to be signed at once"


def test_mails_about_approvers_say_that_they_approve() -> None:
    made = sent(approvers=[0])
    sign(made)
    SignatureRequest.objects.update(expires_at=clock.now() + timedelta(days=2))
    warn_senders()
    queue_mail(made.request, MailKind.COMPLETED)
    assert told()[-1] == "Signed and approved: Lease of the pier"
    expiring, completed = CapturedMessage.objects.filter(to=SENDER).order_by("id")
    assert "1 of 2 signed or approved. Waiting for Émile Zola." in expiring.text
    assert "Everyone has signed or approved “Lease of the pier”." in completed.text


def test_a_mail_server_that_is_away_for_minutes_worries_nobody(made: Scene, configured: Callable[..., None]) -> None:
    configured(smtp_url="smtp://127.0.0.1:1")
    for begun, wanted in ((0, 0), (61, 1)):
        SignatureRequest.objects.update(created_at=clock.now() - timedelta(minutes=begun))
        with pytest.raises(ConnectionRefusedError):
            invite(made.signers[0].pk)
        assert SenderMail.objects.count() == wanted
    configured(smtp_url="")
    invite(made.signers[0].pk)
    assert told() == [], "it was delivered meanwhile"


def test_after_an_extension_the_sender_is_warned_by_a_mail_of_its_own(made: Scene) -> None:
    SignatureRequest.objects.update(validity_days=1)
    for hours in (60, 61):
        extend(made.scope(), OPERATOR, made.request.pk, 30, origin=VISITOR)
        SignatureRequest.objects.update(
            expires_at=clock.now() + timedelta(hours=hours), created_at=clock.now() - timedelta(hours=20)
        )
        assert warn_senders() == 1
        told()
    assert CapturedMessage.objects.filter(to=SENDER).values("message_id").distinct().count() == 2
    SenderMail.objects.all().delete()
    end_early(OPERATOR, made.request.pk, "Over")
    erase_signer(OPERATOR, made.signers[0].pk)
    assert not CapturedMessage.objects.filter(to=SENDER).exists()


def test_sealing_owes_the_sender_a_mail_and_no_application() -> None:
    for made, owed in ((sent(), 1), (scene(), 1)):
        for position in range(len(made.signers)):
            sign(made, position)
        for row in made.request_documents:
            finalize(row.pk)
        queue_mail(made.request, MailKind.COMPLETED)
        assert SenderMail.objects.count() == owed
    assert told() == ["Everyone has signed: Lease of the pier"]
    mail, request = CapturedMessage.objects.get(to=SENDER), SenderMail.objects.get().request
    assert f"/app/{request.organization_id}/requests/{request.pk}" in mail.text and "/account/" in mail.text
    assert SenderMail.objects.get().sent_at


def copied(**how: Any) -> Scene:
    made = scene(copies=2, **how)
    sign(made)
    return made


def to(address: str) -> list[CapturedMessage]:
    return list(CapturedMessage.objects.filter(to=address))


def completions(made: Scene) -> list[dict[str, Any]]:
    return [entry.metadata for entry in made.entries() if entry.event_type == "request.completion_notified"]


def test_each_gets_one_mail_once_it_is_finalized_whatever_the_request_mails() -> None:
    made = copied(documents=2, send_email=False)
    assert "mail_copies" not in [name for name, _ in jobs()] and not to("copy0@example.com")
    work_off()
    for address in ("copy0@example.com", "copy1@example.com"):
        [mail] = to(address)
        assert mail.subject == "Signed documents: a copy for you from Acme Ltd"
        links = re.findall(r"http\S+/copies/\S+", mail.text)
        assert [link.rpartition("/")[2] for link in links].count("proof.pdf") == 1
        assert sum("/documents/" in link for link in links) == 2
    assert CopyRecipient.objects.exclude(notified_at=None).count() == 2
    [facts] = completions(made)
    recipients = ["copy0@example.com", "copy1@example.com"]
    assert facts == {"channel": "email", "recipients": recipients, "copies": True, "kept": 2}


def test_it_is_safe_to_repeat_and_others_get_theirs_where_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = copied()
    work_off()
    CopyRecipient.objects.filter(position=0).update(notified_at=None)
    CapturedMessage.objects.all().delete()
    mail_copies(made.request.pk)
    assert len(to("copy0@example.com")) == 1 and not to("copy1@example.com")
    assert len(completions(made)) == 1

    def refuse(address: str, *_: Any, **__: Any) -> None:
        raise SMTPRecipientsRefused({address: (550, b"no")})

    CopyRecipient.objects.filter(position=1).update(notified_at=None)
    monkeypatch.setattr("paraph.flow.messages.sent_once.handed_over", refuse)
    with pytest.raises(OSError):
        mail_copies(made.request.pk)
    request = SignatureRequest.objects.get(pk=made.request.pk)
    assert [step.task for step in pending_steps(request)] == ["mail_copies"]


def test_both_summaries_are_journaled_whichever_comes_first() -> None:
    made = copied(notify_signers_on_completion=True)
    work_off()
    assert [bool(facts.get("copies")) for facts in completions(made)] == [False, True]
    other = scene(copies=1, notify_signers_on_completion=True)
    sign(other)
    SignatureRequest.objects.filter(pk=other.request.pk).update(finalized=True)
    mail_copies(other.request.pk)
    notify_completion(other.request.pk)
    assert [bool(facts.get("copies")) for facts in completions(other)] == [True, False]


def test_who_is_erased_before_the_end_gets_nothing() -> None:
    made = scene(copies=1)
    erase_address(OPERATOR, "copy0@example.com")
    sign(made)
    work_off()
    assert not CapturedMessage.objects.filter(subject__contains="a copy for you").exists()
    assert completions(made) == []


def test_nobody_is_journaled_as_told_of_files_that_were_deleted_before() -> None:
    made = copied()
    SignatureRequest.objects.update(finalized=True)
    assert delete_files(made.request.pk)
    mail_copies(made.request.pk)
    assert not to("copy0@example.com") and completions(made) == []


def test_a_signer_who_gets_a_copy_too_keeps_the_entries_of_the_signature() -> None:
    made = copied()
    CopyRecipient.objects.filter(position=0).update(email=made.signers[0].email)
    work_off()
    erase_address(OPERATOR, made.signers[0].email)
    sent = next(entry for entry in made.entries() if entry.event_type == "signer.otp_sent")
    assert sent.metadata["recipient"] == made.signers[0].email
    erase_signer(OPERATOR, made.signers[0].pk)
    assert made.signers[0].email not in everything()
