"""What is kept of a person is shown whole, and what erasing leaves is shown as that."""

import json
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.db import connection

from paraph.drafts.models import Draft, DraftSigner
from paraph.flow.personal_data.erase import Kept, erase_address, erase_signer, show_person
from paraph.flow.personal_data.of_account import OF_ACCOUNT
from paraph.flow.personal_data.of_signer import OF_SIGNER
from paraph.flow.personal_data.unsent import UNSENT, Place
from paraph.flow.signing.ask import ask
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.inbox import capture
from paraph.request_templates.models import BulkSend
from paraph.signature_requests.field_values import write
from paraph.signature_requests.models import CopyRecipient, Field, FirstOpening, Inquiry, Reminder, SignatureRequest
from paraph.signature_requests.signing_token import new_salt
from paraph.tenants.admin_log.actor import OPERATOR
from paraph.tenants.admin_log.models import Activity
from paraph.tenants.confirmed_addresses import vouch
from paraph.tenants.models import Invitation, InvitationResend, Member, Organization, User
from paraph.webhooks.models import Attempt, Delivery
from tests.drafts.author import author
from tests.factories import VISITOR, Scene
from tests.flow.test_erase import finished
from tests.request_templates.kept import bulk_of, csv_of, template_of
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db

ADDRESS, PHONE = "ada1@example.com", "+33612345678"
NEEDLES = ("ada1@example", "lovelace", PHONE, VISITOR.ip)
PLACES: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]


def signed_everywhere() -> Scene:
    """Ada has signed, and stands in every place around requests, and in those that were never sent."""
    made, _ = told(
        notify_signers_on_completion=True,
        send_email=True,
        title="Lease of Ada Lovelace",
        message=f"Dear Ada, is {ADDRESS} yours?",
        external_id="lovelace-4711",
        metadata={"tenant": f"{ADDRESS}, {PHONE}", "street": "Lime Street"},
        signer={"phone": PHONE},
        fields=[{"name": "street", "value": "Lovelace Lane"}, {"name": "town", "value": "Pier"}, {"name": "rent"}],
    )
    signer = made.signers[0]
    FirstOpening.objects.create(signer=signer, opened_at=clock.now(), ip=VISITOR.ip)
    Organization.objects.filter(pk=made.request.organization_id).update(contact_email="office@example.org")
    signer.request.organization.refresh_from_db()
    finished(made)
    street, _, rent = Field.objects.order_by("position")
    write(signer, {street.pk: "Lovelace Lane 1", rent.pk: "1250"})
    signer.save(update_fields=["fields_encrypted"])
    why = f"I am not {ADDRESS}"  # as of a request that she declined
    SignatureRequest.objects.filter(pk=made.request.pk).update(declined_by=signer, ended_reason=why)
    ask(signer, "question", "Who is Lovelace?")
    capture("email", "office@example.org", "Question", "Ada Lovelace asks", message_id=f"inquiry-{_inquiry(made)}")
    Reminder.objects.create(signer=signer, number=1, mail={"acknowledgement": f"queued for {ADDRESS}"})
    for delivery in Delivery.objects.all():
        Attempt.objects.create(delivery=delivery, response=f"hello {ADDRESS}")
    charles = author()
    bulk_of(charles, template_of(charles), csv_of(f"Ada Lovelace {ADDRESS}", "Eve Adams eve@example.com"))
    Draft.objects.all().delete()  # that which became the template has a namesake
    gets_copy = {"first_name": "Ada", "last_name": "Lovelace", "email": ADDRESS}
    noted = {
        "copies": [gets_copy, {"first_name": "Eve", "last_name": "Adams", "email": "eve@example.com"}],
        "external_id": "lovelace-4712",
        "metadata": {"tenant": ADDRESS},
        "redirect_url": "https://example.com/?who=lovelace",
    }
    draft = Draft.objects.create(organization_id=charles.scope.organization_id, more_options=noted)
    DraftSigner.objects.create(draft=draft, position=0, first_name="Ada", last_name="Lovelace", email=ADDRESS)
    vouch(charles.scope.organization_id, ADDRESS)
    CopyRecipient.objects.create(request=made.request, position=0, token_salt=new_salt(), **gets_copy)
    capture("email", ADDRESS.upper(), "Hello", "Ada Lovelace")
    return made


def works_here(made: Scene) -> None:
    """Ada is a member of an organization, too, and was asked to join another."""
    user = User.objects.create(email=ADDRESS, name="Ada Lovelace")
    EmailAddress.objects.create(user_id=user.pk, email=ADDRESS, verified=True)
    organization = Organization.objects.create(name="Other Ltd", plan="pro", contact_email=ADDRESS)
    Member.objects.create(organization=organization, user=user, role="owner")
    UserSession.objects.create(user_id=user.pk, ip=VISITOR.ip, user_agent="Mozilla", session_key="k", data={})
    Invitation.objects.create(
        organization=made.request.organization, email=ADDRESS, role="member", secret_sha256=b"x", expires_at=clock.now()
    )
    InvitationResend.objects.create(
        organization=made.request.organization, email=ADDRESS, network="203.0.113.0/24", sent_at=clock.now()
    )
    BulkSend.objects.update(author=user, ip=VISITOR.ip)
    SignatureRequest.objects.filter(pk=made.request.pk).update(sent_by=user)
    for subject, actor in (("request 1", ADDRESS), (f"member {ADDRESS}", "")):
        Activity.objects.create(
            organization=organization,
            position=Activity.objects.filter(organization=organization).count() + 1,
            actor_kind="member",
            actor=actor,
            action="request.sent",
            subject=subject,
            previous_hash=b"",
            hash=b"",
        )


def _inquiry(made: Scene) -> int:
    return Inquiry.objects.get(signer=made.signers[0]).pk


def tables_that_name_her() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        found = set()
        for table in tables:
            cursor.execute(f'SELECT string_agg(lower(t::text), chr(10)) FROM "{table}" AS t')
            text = str(cursor.fetchone()[0])
            found |= {table} if any(needle in text for needle in NEEDLES) else set()
    return found


def erase_all() -> None:
    signer_ids = erase_address(OPERATOR, ADDRESS).signer_ids
    assert signer_ids
    for signer_id in signer_ids:
        erase_signer(OPERATOR, signer_id)


def names(kept: list[Kept]) -> list[str]:
    return list(dict.fromkeys(each.place for each in kept))


def test_every_place_is_shown_and_no_table_names_somebody_that_no_place_has() -> None:
    made = signed_everywhere()
    works_here(made)
    assert tables_that_name_her() == {table for place in PLACES for table in place.tables}
    assert names(show_person(f" {ADDRESS.upper()} ")) == [place.name for place in PLACES]

    erase_all()
    staying = {table for place in PLACES if not place.erase for table in place.tables}
    assert tables_that_name_her() == staying
    assert names(show_person(ADDRESS)) == [place.name for place in OF_ACCOUNT]
    assert all(each.stays and not each.erased_by for each in show_person(ADDRESS))


def test_nothing_is_left_of_a_signer_who_has_no_account() -> None:
    signed_everywhere()
    by_address, by_number = show_person(ADDRESS), show_person(PHONE)
    assert names(by_address) == [place.name for place in PLACES if place not in OF_ACCOUNT]
    unsent = ("rows of bulk sends", "drafts", "copies in drafts")
    assert names(by_number) == [name for name in names(by_address) if name not in unsent][:-1]
    erase_all()
    assert show_person(ADDRESS) == show_person(PHONE) == []
    assert tables_that_name_her() == set()


def test_what_is_shown_is_what_is_kept_and_says_how_it_ends() -> None:
    made = signed_everywhere()
    kept = show_person(ADDRESS)
    [signer] = [each for each in kept if each.place == "signers"]
    assert (signer.facts["last_name"], signer.facts["signature"]) == ("Lovelace", {"type": "typed"})
    assert signer.erased_by == f"paraph erase signer {made.signers[0].pk}"
    entries = [each.facts for each in kept if each.place == "journal"]
    [signing] = [entry for entry in entries if entry["event"] == "signer.signed"]
    assert (signing["ip"], signing["user_agent"]) == (VISITOR.ip, VISITOR.user_agent)
    assert "signature_request.created" not in {entry["event"] for entry in entries}
    for each in kept:
        assert bool(each.erased_by) != bool(each.stays), each
        json.dumps(each.facts)
    files = [each.facts["kind"] for each in kept if each.place == "files"]
    assert files == ["uploaded document", "signed document", "proof"]
    captured = [each for each in kept if each.place == "captured messages"]
    assert len(captured) == len({json.dumps(each.facts) for each in captured})
    assert [each for each in kept if "adams" in json.dumps(each.facts).lower()] == []


def test_nobody_is_not_a_person() -> None:
    assert show_person("nobody@example.com") == []
    with pytest.raises(DomainError, match="must not be empty"):
        show_person(" ")


def test_fields_are_shown_and_lose_what_was_given_and_entered() -> None:
    signed_everywhere()
    told_fields = [kept.facts for kept in show_person(ADDRESS) if kept.place == "fields"]
    assert [(each["name"], each["given_by_the_sender"], each["entered"]) for each in told_fields] == [
        ("street", "Lovelace Lane", "Lovelace Lane 1"),
        ("town", "Pier", None),
        ("rent", None, "1250"),
    ]
    erase_all()
    assert list(Field.objects.order_by("position").values_list("name", "value", "label")) == [
        ("street", None, "street"),
        ("town", None, "town"),
        ("rent", None, "rent"),
    ]
