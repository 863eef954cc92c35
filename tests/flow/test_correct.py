"""Correcting signers of a sent request: what a new address or number undoes, what stays, who wins a race (rule 20)."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from paraph.audit_trail.journal import broken_at, commitment
from paraph.flow.ending import expire
from paraph.flow.messages import emails
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.flow.sealing.proof_content import proof_content
from paraph.flow.sending.correct import MOST_LINKS, correct_signer, extend, reword
from paraph.flow.sending.invite import invite, remind, send_reminder
from paraph.flow.signing.decline_or_ask import ask, decline
from paraph.flow.signing.sign import Signature, enter_fields, send_otp
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.otp import codes, guesses
from paraph.otp.models import OneTimeCode
from paraph.queue.jobs import defer
from paraph.signature_requests.fields.entry import Entry as EnteredValue
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.links import ReplacedLinkError, signer_of, signing_url, token
from paraph.signature_requests.models import (
    Channel,
    Field,
    FirstOpening,
    Inquiry,
    Reminder,
    SenderMail,
    SignatureRequest,
    Signer,
)
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import Activity, Application, Organization
from paraph.webhooks.models import Delivery, Event
from tests.drafts.author import author
from tests.factories import TYPED, VISITOR, Scene, jobs, scene, sign
from tests.flow.test_erase import everything, finished, proof_check
from tests.flow.test_jobs import work_off
from tests.flow.test_remind import invited
from tests.flow.test_sign import signing
from tests.threads import at_once

pytestmark = pytest.mark.django_db

NEW = "ada.lovelace@example.org"
SENDER = OPERATOR


def correct(made: Scene, position: int = 0, /, **given: str) -> Signer:
    signer = made.signers[position]
    return correct_signer(made.scope(), SENDER, made.request.pk, signer.pk, given, origin=VISITOR)


def refusal(made: Scene, position: int = 0, /, **given: str) -> tuple[str, str]:
    before = Signer.objects.values().get(pk=made.signers[position].pk)
    with pytest.raises(DomainError) as refused:
        correct(made, position, **given)
    assert Signer.objects.values().get(pk=made.signers[position].pk) == before
    assert "signer.corrected" not in made.events() and not Activity.objects.exists()
    return refused.value.code, refused.value.message


def extended(made: Scene, days: int) -> SignatureRequest:
    return extend(made.scope(), SENDER, made.request.pk, days, origin=VISITOR)


class TestAnotherWay:
    def test_the_link_is_another_and_the_earlier_one_is_known_as_replaced(self) -> None:
        made = invited()
        links = [token(made.signers[0])]
        for address in (NEW, "ada@example.net", NEW):
            links.append(token(correct(made, email=address)))
        assert len(set(links)) == 4
        *replaced, newest = links
        for link in replaced:
            with pytest.raises(ReplacedLinkError) as refused:
                signer_of(link)
            assert refused.value.request == made.request and newest not in str(refused.value)
        assert signer_of(newest) == made.signers[0]
        forged = newest[:-1] + ("A" if newest[-1] != "A" else "B")
        assert signer_of(forged) is None

    def test_the_invitation_goes_out_again_to_the_new_address_alone(self) -> None:
        made = invited()
        corrected = correct(made, email=NEW)
        assert (corrected.status, corrected.notified_at, corrected.invitation) == ("pending", None, None)
        assert jobs()[-1] == ("invite", {"signer_id": corrected.pk})
        for _ in range(2):  # the job of the earlier address may wait for its next attempt
            invite(corrected.pk)
        message = CapturedMessage.objects.get()
        assert message.to == NEW and signing_url(corrected) in message.text
        assert message.message_id == f"invitation-{corrected.pk}-1"
        assert made.signer().status == "notified"
        told = [entry.metadata["recipient"] for entry in made.entries() if entry.event_type == "signer.notified"]
        assert told == ["ada1@example.com", NEW]

    def test_a_mail_that_was_on_its_way_is_no_invitation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = scene(send_email=True)

        def corrected_meanwhile(signer: Signer, url: str) -> Any:
            monkeypatch.undo()
            mail = emails.invitation(signer, url)
            correct(made, email=NEW)
            return mail

        monkeypatch.setattr(emails, "invitation", corrected_meanwhile)
        invite(made.signers[0].pk)
        assert CapturedMessage.objects.get().to == "ada1@example.com"
        assert made.signer().status == "pending" and "signer.notified" not in made.events()
        invite(made.signers[0].pk)
        assert CapturedMessage.objects.latest("pk").to == NEW and made.signer().status == "notified"

    def test_so_do_a_number_and_a_channel(self, box: object) -> None:
        for given in ({"phone": "+33612345679"}, {"otp_channel": "sms"}):
            made = scene(signer={"phone": "+33612345678"}, environment="production")
            assert token(correct(made, **given)) != token(made.signers[0]), given

    def test_the_code_and_the_lock_are_void_and_the_wrong_codes_stay_counted(self, made: Scene) -> None:
        code = made.code()
        signer = made.signer()
        for _ in range(3):
            with pytest.raises(guesses.GuessRefusedError):
                codes.guess(signer, f"{(int(code) + 1) % 10**6:06d}")
        OneTimeCode.objects.update(locked_until=clock.now() + timedelta(hours=1), recent_wrong_guesses=20)
        corrected = correct(made, email=NEW)
        assert guesses.locked_until(corrected) is None
        with pytest.raises(DomainError) as refused:
            sign_verb(made.signer(), Signature(code, TYPED, None, "en"), VISITOR)
        assert refused.value.code == "invalid_otp"
        row = OneTimeCode.objects.get()
        assert (row.destination, row.destination_scope, row.wrong_guesses) == ("", "", 3)
        assert sign_verb(made.signer(), Signature(made.code(), TYPED, None, "en"), VISITOR).status == "signed"
        assert OneTimeCode.objects.get().destination == NEW

    def test_no_code_goes_to_where_the_signer_is_no_more_and_one_on_its_way_is_not_usable(self, made: Scene) -> None:
        before = made.signer()
        issued = codes.issue(before, Channel.EMAIL, before.email)
        correct(made, email=NEW)
        assert jobs() == [], "nobody is invited where the request mails nobody"
        with pytest.raises(ReplacedLinkError):
            send_otp(before, "email", VISITOR)
        assert not CapturedMessage.objects.exists() and OneTimeCode.objects.get().sends == 1
        codes.mark_sent(before, issued)
        with pytest.raises(guesses.GuessRefusedError):
            codes.guess(made.signer(), issued.code)

    def test_what_was_entered_and_seen_by_the_earlier_link_goes(self) -> None:
        made = scene(fields=[{"name": "iban"}])
        enter_fields(made.signer(), [EnteredValue(Field.objects.get(), "DE89 3704", "fields[0]")])
        FirstOpening.objects.create(signer=made.signers[0], opened_at=clock.now(), ip=VISITOR.ip)
        correct(made, email=NEW)
        assert made.signer().fields_encrypted is None and not FirstOpening.objects.exists()

    def test_reminders_that_wait_are_not_sent_and_later_ones_go_to_the_new_address(self) -> None:
        made = invited(remind_every_days=3, reminders_at_most=2)
        actor, signer_id = author().actor, made.signers[0].pk
        remind(made.scope(), made.request.pk, signer_id, actor)
        correct(made, email=NEW)
        assert not Reminder.objects.exists() and made.signer().remind_at is None
        send_reminder(signer_id, 1)
        assert not CapturedMessage.objects.exists()
        invite(signer_id)
        assert made.signer().remind_at
        remind(made.scope(), made.request.pk, signer_id, actor)
        send_reminder(signer_id, 1)
        assert [message.to for message in CapturedMessage.objects.all()] == [NEW, NEW]

    def test_a_reminder_that_was_on_its_way_is_not_the_next_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = invited()
        actor, signer_id = author().actor, made.signers[0].pk

        def reminded_meanwhile(signer: Signer, url: str, message: str) -> Any:
            monkeypatch.undo()
            mail = emails.reminder(signer, url, message)
            correct(made, email=NEW)
            invite(signer_id)
            remind(made.scope(), made.request.pk, signer_id, actor)
            return mail

        remind(made.scope(), made.request.pk, signer_id, actor)
        monkeypatch.setattr(emails, "reminder", reminded_meanwhile)
        send_reminder(signer_id, 1)
        assert Reminder.objects.get().mail is None
        send_reminder(signer_id, 1)
        assert [message.to for message in CapturedMessage.objects.order_by("pk")] == [NEW, "ada1@example.com", NEW]

    def test_nobody_asks_by_a_link_that_is_replaced_meanwhile(self) -> None:
        made = invited()
        Organization.objects.update(contact_email="desk@example.com")
        opened = made.signer()
        correct(made, email=NEW)
        with pytest.raises(ReplacedLinkError):
            ask(opened, "question", "Who is this?")
        assert not Inquiry.objects.exists()

    def test_in_a_sequence_the_turn_stays_and_who_waits_is_not_mailed(self) -> None:
        made = invited(mode="sequential")
        later = correct(made, 1, email=NEW)
        assert [job for job in jobs() if job[0] == "invite"] == [] and later.order == 2
        invite(later.pk)
        assert not CapturedMessage.objects.exists()
        correct(made, 0, email="ada@example.net")
        sign(made, 0)
        work_off()
        assert made.signer(1).status == "notified"

    def test_the_sender_can_be_told_again_that_nothing_arrives(self) -> None:
        made = scene(send_email=True)
        about = {"request": made.request, "about": made.signers[0].pk}
        SenderMail.objects.create(name="undelivered-1", kind="undelivered", **about)
        SenderMail.objects.create(name="asked-1", kind="asked", **about)
        correct(made, email=NEW)
        assert SenderMail.objects.get().kind == "asked"
        defer("tell_sender", name="undelivered-1")
        work_off()


class TestTheSameWay:
    @pytest.mark.parametrize("given", [{"first_name": "Augusta"}, {"last_name": "Byron"}, {"language": "sv"}])
    def test_a_name_or_a_language_leaves_link_code_and_entries(self, given: dict[str, str]) -> None:
        made = invited(fields=[{"name": "iban", "required": False}])
        code = made.code()
        enter_fields(made.signer(), [EnteredValue(Field.objects.get(signer=made.signers[0]), "DE89", "fields[0]")])
        corrected = correct(made, **given)
        assert token(corrected) == token(made.signers[0]) and corrected.status == "notified"
        assert made.signer().fields_encrypted is not None and [job for job in jobs() if job[0] == "invite"] == []
        fields = filled_fields(made.signer(), None)
        assert sign_verb(made.signer(), Signature(code, TYPED, None, "en", fields), VISITOR).status == "signed"

    def test_the_name_is_that_of_later_mails_and_of_the_proof_and_the_language_too(self) -> None:
        made = scene(send_email=True)
        correct(made, first_name="Augusta", last_name="King", language="sv")
        invite(made.signers[0].pk)
        assert "Hej Augusta King" in CapturedMessage.objects.get().text
        finished(made)
        assert [signer.name for signer in proof_content(made.request, clock.now()).signers] == ["Augusta King"]


class TestRefusals:
    def test_what_is_over_is_neither_corrected_nor_extended_nor_reworded(self) -> None:
        over = scene(expires_at=clock.now())
        assert refusal(over, email=NEW) == ("conflict", "The request is over.")
        for late in (lambda: extended(over, 30), lambda: reword(over.scope(), SENDER, over.request.pk, "x", "y")):
            with pytest.raises(DomainError, match=r"^conflict: The request is over\.$"):
                late()

    def test_sms_wants_a_number_that_takes_it_and_in_production_a_gateway(self) -> None:
        made, live = scene(signers=2), scene(environment="production")
        sentence = "otp_channel: this service has no SMS gateway, so nobody would receive the codes."
        assert refusal(live, otp_channel="sms", phone="+33612345678") == ("validation_error", sentence)
        code, sentence = refusal(made, otp_channel="sms", phone="+881612345678")
        assert code == "validation_error" and "phone: “+881612345678” is not a number" in sentence
        assert correct(made, otp_channel="sms", phone="+33612345678").otp_channel == "sms"

    def test_without_its_number_sms_does_not_stay(self) -> None:
        made = scene(signer={"otp_channel": "sms", "phone": "+33612345678"})
        assert refusal(made, phone="")[1] == "phone: it is required, as otp_channel is sms."
        corrected = correct(made, phone="", otp_channel="email")
        assert (corrected.phone, corrected.otp_channel) == ("", "email")

    def test_the_way_is_not_corrected_for_ever(self, made: Scene) -> None:
        Signer.objects.update(replaced_links=MOST_LINKS)
        assert refusal(made, email=NEW)[0] == "conflict"
        assert correct(made, last_name="King").last_name == "King"


class TestTheJournal:
    def test_it_states_what_was_corrected_and_no_value(self) -> None:
        made = invited()
        Application.objects.update(webhook_url="https://shop.example/hooks")
        before = Event.objects.count()
        correct(made, email=NEW, first_name="Augusta")
        entry = made.entries()[-1]
        assert (entry.event_type, entry.signer_id, entry.ip) == ("signer.corrected", made.signers[0].pk, VISITOR.ip)
        assert sorted(entry.metadata["corrected"]) == ["email", "first_name"]
        told = json.dumps(entry.metadata)
        assert NEW not in told and "ada1@" not in told and "Ada" not in told and "Augusta" not in told
        salt = entry.metadata["salt"]
        assert entry.metadata["before"]["email"] == commitment(salt, "ada1@example.com")
        assert entry.metadata["after"] == {"email": commitment(salt, NEW), "first_name": commitment(salt, "Augusta")}
        assert broken_at(made.entries()) is None
        assert Event.objects.count() == before and not Delivery.objects.filter(event_type="signer.corrected").exists()
        act = Activity.objects.get()
        subject = f"request {made.request.pk}, signer {made.signers[0].pk}"
        assert (act.action, act.subject, act.before, act.after) == ("signer.corrected", subject, {}, {})

    def test_the_proof_states_it_and_erasing_takes_the_salt_and_the_chain_holds(self) -> None:
        made = invited()
        correct(made, email=NEW)
        correct(made, phone="+33612345678", language="fr")
        extended(made, 30)
        finished(made)
        assert proof_check(made).problems == []
        salt = next(entry for entry in made.entries() if entry.event_type == "signer.corrected").metadata["salt"]
        erase_signer(OPERATOR, made.signers[0].pk)
        assert broken_at(made.entries()) is None and proof_check(made).problems == []
        with_salts = json.dumps([[entry.metadata, entry.salts] for entry in made.entries()])
        assert salt not in with_salts and "ada1@" not in with_salts
        link = token(made.signer())
        assert signer_of(link) == made.signers[0] and signer_of(token(made.signers[0])) is None


class TestTheEarlierAddress:
    def test_its_owner_is_shown_what_went_there_and_it_can_be_erased_once_the_request_is_proven(self) -> None:
        made = invited()
        Application.objects.update(webhook_url="https://shop.example/hooks")
        made.code()
        CapturedMessage.objects.all().delete()
        correct(made, email=NEW)
        shown = show_person("Ada1@example.com")
        assert {kept.place for kept in shown} == {"earlier addresses of signers"}
        assert [kept.facts["event"] for kept in shown] == ["signer.notified", "signer.otp_sent"]
        assert NEW not in str(shown) and "Lovelace" not in str(shown)
        erase_address(OPERATOR, "ada1@example.com")
        assert "ada1@example.com" in everything()  # the proof still has to state it
        finished(made)
        CapturedMessage.objects.all().delete()
        changed = erase_address(OPERATOR, "ada1@example.com")
        assert changed.organization_ids == [made.request.organization_id] and changed.signer_ids == []
        assert "ada1@example.com" not in everything() and NEW in everything()
        assert show_person("ada1@example.com") == [] and broken_at(made.entries()) is None


Work = Callable[[], Any]


@pytest.mark.django_db(transaction=True)
class TestRaces:
    """Either the correction or the act that ends the signer's part wins, never both."""

    def correcting(self, made: Scene) -> Work:
        return lambda: token(correct(made, email=NEW))

    @pytest.mark.parametrize("attempt", range(5))
    def test_a_signature(self, attempt: int, made: Scene) -> None:
        signed, corrected = at_once(signing(made, 0, made.code()), self.correcting(made))
        if signed == "signed":
            assert corrected == "already_signed" and "signer.corrected" not in made.events()
            assert made.signer().email == "ada1@example.com"
        else:
            assert signed in ("replaced", "invalid_otp") and "signer.signed" not in made.events()
            assert (made.signer().email, made.signer().status) == (NEW, "pending")
            assert OneTimeCode.objects.get().used_at is None

    @pytest.mark.parametrize("attempt", range(4))
    def test_a_decline(self, attempt: int) -> None:
        made = scene(decline_allowed=True)
        signer = made.signer()

        def declining() -> str:
            return decline(signer, "No.", VISITOR).status

        declined, corrected = at_once(declining, self.correcting(made))
        assert (declined == "expired") != ("signer.corrected" in made.events())
        assert (declined, corrected) == ("expired", "conflict") or declined == "replaced"

    @pytest.mark.parametrize("attempt", range(4))
    def test_an_expiry_and_an_extension(self, attempt: int) -> None:
        made = scene(expires_at=clock.now() + timedelta(milliseconds=40))
        due = made.request.expires_at

        def late(work: Work) -> Work:
            def run() -> Any:
                while clock.now() < due - timedelta(milliseconds=attempt):
                    pass
                return work()

            return run

        expired, longer = at_once(late(lambda: expire(made.request.pk)), late(lambda: extended(made, 3).status))
        assert (longer == "pending") == ("request.extended" in made.events())
        assert not (expired is True and longer == "pending")

    def test_two_corrections(self, made: Scene) -> None:
        first, second = at_once(lambda: token(correct(made, email="a@example.net")), self.correcting(made))
        assert first != second and made.signer().replaced_links == 2
        assert signer_of(token(made.signer())) == made.signers[0]


class TestExtending:
    def test_the_end_counts_from_now_and_the_journal_tells_both(self, made: Scene) -> None:
        before = made.request.expires_at
        request = extended(made, 30)
        assert timedelta(days=30) - (request.expires_at - clock.now()) < timedelta(seconds=2)
        assert request.expires_at.microsecond == 0 and request.validity_days == 7
        entry = made.entries()[-1]
        assert (entry.event_type, entry.signer_id, entry.ip) == ("request.extended", None, VISITOR.ip)
        assert entry.metadata == {"extended_from": clock.iso(before), "extended_to": clock.iso(request.expires_at)}
        assert Activity.objects.get().action == "request.extended"


class TestRewording:
    def test_later_mails_say_it(self) -> None:
        made = scene(send_email=True, subject="Your laese", message="Dear Ada")
        reword(made.scope(), SENDER, made.request.pk, "Your lease", "Dear tenants")
        invite(made.signers[0].pk)
        message = CapturedMessage.objects.get()
        assert "Your lease" in message.subject and "Dear tenants" in message.text
        assert Activity.objects.get().action == "request.reworded"
        reword(made.scope(), SENDER, made.request.pk, "Your lease", "Dear tenants")
        assert Activity.objects.count() == 1
