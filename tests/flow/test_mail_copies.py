"""Copies: one mail for each recipient once the request is finalized, journaled, safe to repeat, and erased."""

import re
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest

from paraph.audit_trail.journal import broken_at
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.messages.copies import mail_copies, notify_completion
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import pending_steps
from paraph.signature_requests.models import CopyRecipient, SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from tests.factories import Scene, jobs, scene, sign
from tests.flow.test_erase import everything
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db(transaction=True)


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
    assert facts == {
        "channel": "email",
        "recipients": ["copy0@example.com", "copy1@example.com"],
        "copies": True,
        "kept": 2,
    }


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


def test_a_request_without_copies_has_no_such_job() -> None:
    sign(scene())
    assert "mail_copies" not in work_off()


def test_they_are_erased_and_shown_by_address_and_the_chain_stays_whole() -> None:
    made = copied()
    work_off()
    hashes = [bytes(entry.hash) for entry in made.entries()]
    [kept] = [each for each in show_person("COPY0@example.com") if each.place == "copies"]
    assert kept.facts["request"] == made.request.pk and kept.erased_by == "paraph erase address COPY0@example.com"
    erased = erase_address(OPERATOR, "copy0@example.com")
    assert erased.organization_ids == [made.request.organization_id] and erased.signer_ids == []
    assert "copy0@example.com" not in everything() and "copy1@example.com" in everything()
    assert [bytes(entry.hash) for entry in made.entries()] == hashes and broken_at(made.entries()) is None
    assert not [each for each in show_person("copy0@example.com") if each.place == "copies"]


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
