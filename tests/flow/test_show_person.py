"""Everything kept about a person is shown, and what erasing would leave is shown as such."""

import json
from typing import Any
from urllib.parse import quote, unquote

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db import models

from paraph.audit_trail.journal import SERVICE
from paraph.drafts.content import signer_of
from paraph.drafts.models import Draft, DraftDocument, Placed, blank
from paraph.flow.ending import end_early
from paraph.flow.personal_data.erase import OF_ACCOUNT, Kept, erase_address, erase_signer, show_person
from paraph.flow.personal_data.of_signer import OF_SIGNER
from paraph.flow.personal_data.place import Place
from paraph.flow.personal_data.unsent import UNSENT
from paraph.flow.sending.correct import correct_signer
from paraph.flow.signing.decline_or_ask import ask
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import capture
from paraph.messaging.models import CapturedMessage
from paraph.request_templates.models import BulkRow, BulkSend, Template
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.links import new_salt
from paraph.signature_requests.models import CopyRecipient, Field, FirstOpening, Inquiry, Reminder, SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.confirmed_addresses import vouch
from paraph.tenants.models import Activity, Invitation, Member, Organization, User
from paraph.webhooks.models import Attempt, Delivery
from tests.columns import columns
from tests.drafts.author import Author, author
from tests.factories import VISITOR, Scene, scene
from tests.flow.test_erase import finished
from tests.request_templates.kept import bulk_of, csv_of, template_of
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db

ADDRESS, PHONE = "ada1@example.com", "+33612345678"
NEEDLES = ("ada1@example", "lovelace", PHONE, VISITOR.ip, "mozilla")
PLACES: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]


def signed_everywhere() -> Scene:
    """A request that Ada has signed; every place of requests, and of what was never sent, names her."""
    made, _ = told(
        notify_signers_on_completion=True,
        send_email=True,
        title="Lease of Ada Lovelace",
        message=f"Dear Ada, is {ADDRESS} yours?",
        external_id="lovelace-4711",
        redirect_url="https://example.com/done?who=lovelace",
        callback_url="https://lovelace.example/hook",
        subject="Your lease, Ms. Lovelace",
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
    signer.invitation = {"acknowledgement": f"queued for {ADDRESS}"}
    signer.undelivered = {"mail": f"reminder-{signer.pk}-1", "recipient": ADDRESS, "answer": "550 no"}
    signer.save(update_fields=["fields_encrypted", "invitation", "undelivered"])
    why = f"I am not {ADDRESS}"  # as if she had declined it
    SignatureRequest.objects.filter(pk=made.request.pk).update(declined_by=signer, ended_reason=why)
    ask(signer, "question", "Who is Lovelace?")
    capture("email", "office@example.org", "Question", "Ada Lovelace asks", message_id=f"inquiry-{_inquiry(made)}")
    Reminder.objects.create(
        signer=signer, number=1, message=f"Ask {ADDRESS}", mail={"acknowledgement": f"queued for {ADDRESS}"}
    )
    for delivery in Delivery.objects.all():
        error = "the host name lovelace.example has no address"
        Attempt.objects.create(delivery=delivery, response=f"hello {ADDRESS}", error=error)
    charles = author()
    bulk_of(charles, template_of(charles), csv_of(f"Ada Lovelace {ADDRESS}", "Eve Adams eve@example.com"))
    row = BulkRow.objects.order_by("number")[0]
    BulkRow.objects.filter(pk=row.pk).update(problems=[f"“{ADDRESS}” is no address."])
    Draft.objects.all().delete()  # the draft that became the template names a namesake
    gets_copy = {"first_name": "Ada", "last_name": "Lovelace", "email": ADDRESS}
    noted = {
        "copies": [gets_copy, {"first_name": "Eve", "last_name": "Adams", "email": "eve@example.com"}],
        "external_id": "lovelace-4712",
        "metadata": {"tenant": ADDRESS},
        "redirect_url": "https://example.com/?who=lovelace",
    }
    content = blank() | noted | {"signers": [signer_of(gets_copy | {"phone": PHONE})]}
    draft = Draft.objects.create(organization_id=charles.scope.organization_id, content=content)
    written_for_others(charles, draft)
    vouch(charles.scope.organization_id, ADDRESS)
    refused = {"mail": "copy-1", "recipient": ADDRESS, "answer": "550 no"}
    facts = {"token_salt": new_salt(), "undelivered": refused, **gets_copy}
    CopyRecipient.objects.create(request=made.request, position=0, **facts)
    taken_for_another()
    capture("email", ADDRESS.upper(), "Hello, Ms. Lovelace", "Ada Lovelace", html="<p>Ada Lovelace")
    return made


def taken_for_another() -> None:
    """Make a request to Eve that first had Ada's address by mistake, to which a code went."""
    made = scene(signer={"first_name": "Eve", "last_name": "Adams", "email": ADDRESS})
    made.code()
    CapturedMessage.objects.latest("pk").delete()
    signer = made.signers[0]
    correct_signer(made.scope(), OPERATOR, made.request.pk, signer.pk, {"email": "eve@other.test"}, origin=SERVICE)
    end_early(OPERATOR, made.request.pk, "No more.")


def written_for_others(charles: Author, draft: Draft) -> None:
    """Fill in a draft and a template for Eve, in which an application and a member write about Ada."""
    people = {"first_name": "Eve", "last_name": "Adams", "email": "eve@other.test"}
    said = f"Ada Lovelace <{ADDRESS}>"
    Draft.objects.filter(pk=draft.pk).update(title=said, subject=said, message=said)
    document = charles.document(name="x.pdf")
    DraftDocument.objects.create(draft=draft, document=document, position=0)
    asked = {"name": "landlord", "type": "text", "value": said}
    draft.content["signers"].append(signer_of(people))
    draft.content["documents"] = [{"id": document.pk, "signers": []}]
    draft.place([Placed(document, draft.signers[1], page_number=1, x=1, y=1, width=99, height=20, field=asked)])
    template = Template.objects.get()
    template.name = template.subject = template.message = said
    template.content |= {"metadata": {"landlord": said}, "callback_url": f"https://example.com/{quote(ADDRESS)}/hook"}
    template.content["signers"][0] |= {"name": said, "first_name": "Ada", "last_name": "Lovelace", "email": ADDRESS}
    template.content["documents"][0]["signers"][0]["fields"] = [asked]
    template.save()


def works_here(made: Scene) -> None:
    """Make Ada a member of one organization and invite her to join another."""
    user = User.objects.create(email=ADDRESS, name="Ada Lovelace")
    EmailAddress.objects.create(user_id=user.pk, email=ADDRESS, verified=True)
    organization = Organization.objects.create(
        name="Other Ltd", plan="pro", contact_email=ADDRESS, request_defaults={"message": f"Write to {ADDRESS}."}
    )
    Member.objects.create(organization=organization, user=user, role="owner")
    UserSession.objects.create(user_id=user.pk, ip=VISITOR.ip, user_agent="Mozilla", session_key="k", data={})
    Invitation.objects.create(
        organization=made.request.organization, email=ADDRESS, role="member", secret_sha256=b"x", expires_at=clock.now()
    )
    BulkSend.objects.update(author=user, ip=VISITOR.ip, user_agent="Mozilla")
    SignatureRequest.objects.filter(pk=made.request.pk).update(sent_by=user)
    for subject, actor in (("request 1", ADDRESS), (f"member {ADDRESS}", "")):
        Activity.objects.create(
            organization=organization,
            actor_kind="member",
            actor=actor,
            action="request.sent",
            subject=subject,
            ip=VISITOR.ip,
            before={"email": ADDRESS},
            after={"email": ADDRESS},
        )


def _inquiry(made: Scene) -> int:
    return Inquiry.objects.get(signer=made.signers[0]).pk


def columns_that_name_her() -> set[str]:
    return {
        f"{table}.{column}"
        for table, column, value in columns()
        if value == "Ada" or any(needle in unquote(value).lower() for needle in NEEDLES)
    }


def erase_all() -> None:
    signer_ids = erase_address(OPERATOR, ADDRESS).signer_ids
    assert signer_ids
    for signer_id in signer_ids:
        erase_signer(OPERATOR, signer_id)


def names(kept: list[Kept]) -> list[str]:
    return list(dict.fromkeys(each.place for each in kept))


def test_every_place_is_shown_and_no_column_names_somebody_that_no_place_has() -> None:
    made = signed_everywhere()
    works_here(made)
    assert columns_that_name_her() ^ {column for place in PLACES for column in place.columns} == set()
    assert names(show_person(f" {ADDRESS.upper()} ")) == [place.name for place in PLACES]
    unsent = ["captured messages", "copies", "drafts"]  # found by the signer's address
    assert names(show_person(PHONE)) == [*(place.name for place in OF_SIGNER), *unsent]

    erase_all()
    staying = {column for place in PLACES if not place.erase for column in place.columns}
    assert columns_that_name_her() == staying and show_person(PHONE) == []
    callbacks = Delivery.objects.filter(request=made.request, destination="callback")
    assert set(callbacks.values_list("url", "status")) == {("", "failed")}
    assert names(show_person(ADDRESS)) == [place.name for place in OF_ACCOUNT]
    assert all(each.stays and not each.erased_by for each in show_person(ADDRESS))


OF_NOBODY = {
    "keys, digests and random values": """
        django_session.session_key usersessions_usersession.session_key account_emailconfirmation.key
        members_user.password journal_entry.salts webhooks_delivery.trace counts_count.scope
        otp_onetimecode.destination_scope messaging_refusedaddress.destination
    """,
    "words of mail servers, without the address; deleted after 90 days": "messaging_refusedaddress.answer",
    "encrypted; ends by itself": "django_session.session_data",
    "of the installation, written by operators and the service": """
        auth_permission.name auth_permission.codename auth_group.name django_content_type.app_label
        django_content_type.model organizations_installation.earlier_link_keys procrastinate_jobs.queue_name
        procrastinate_jobs.task_name procrastinate_jobs.lock procrastinate_jobs.queueing_lock
        procrastinate_periodic_defers.task_name procrastinate_periodic_defers.periodic_id
        transparency_logkey.origin transparency_checkpoint.note transparency_cosigned.origin
        evidence_certificatestatus.kind evidence_certificatestatus.last_error evidence_sharedcontent.content
        journal_sharedfacts.content
        evidence_sealeddocument.seal evidence_prooffile.seal
        evidence_sealingfailure.stage evidence_sealingfailure.kind evidence_sealingfailure.cause
    """,
    "ids of rows, and mails about accounts, which are encrypted; jobs go when they are done": "procrastinate_jobs.args",
    "second factors, encrypted": "mfa_authenticator.data",
    "not used by the service": "usersessions_usersession.data",
    "words of the service's own": """
        organizations_tally.resource organizations_tally.status activity_activity.action journal_entry.event_type
        webhooks_event.event_type webhooks_delivery.event_type signature_requests_sendermail.kind
        signature_requests_sendermail.name messaging_putoffmail.name messaging_putoffmail.reason
        messaging_capturedmessage.channel messaging_capturedmessage.message_id idempotency_idempotencykey.path
    """,
    "languages and colours": """
        members_user.language members_member.last_language signature_requests_signaturerequest.locale
        signature_requests_signer.language signature_requests_signer.locale drafts_draft.locale
        request_templates_template.locale request_templates_bulksend.language
        organizations_brandingprofile.background_color organizations_brandingprofile.text_color
        organizations_brandingprofile.accent_color
    """,
    "of an organization and its programs": """
        organizations_organization.name
        organizations_application.name organizations_application.webhook_url
        organizations_application.frame_origins organizations_brandingprofile.name organizations_logo.object_key
    """,
    "files, which are evidence or deleted with them": """
        documents_document.name documents_document.pages documents_document.preflight documents_document.object_key
        documents_document.method documents_objecttodelete.object_key drafts_documenttags.found
        drafts_documenttags.lines evidence_sealeddocument.object_key evidence_prooffile.object_key
        evidence_kepttimestamp.object_key evidence_bundletimestamp.authority
    """,
    "what is asked of whoever signs": """
        signature_requests_field.name signature_requests_field.type signature_requests_field.label
        signature_requests_field.options signature_requests_field.minimum signature_requests_field.maximum
    """,
    "the head of a file, and its name, which members chose": """
        request_templates_bulksend.file_name request_templates_bulksend.columns
    """,
}


def test_each_column_with_a_text_is_of_a_place_or_of_nobody() -> None:
    texts = (models.CharField, models.TextField, models.JSONField, models.GenericIPAddressField)
    kept = {
        f"{model._meta.db_table}.{field.column}"
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.concrete_fields
        if isinstance(field, texts) and not field.choices
    }
    of_places = {column for place in PLACES for column in place.columns}
    of_nobody = {column for listed in OF_NOBODY.values() for column in listed.split()}
    assert kept - of_places - of_nobody == set(), "may name somebody, and no place has it"
    assert of_nobody - kept == set() and of_places - kept == set(), "is no such column"
    assert of_nobody & of_places == set()


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
    fields = [each.facts for each in kept if each.place == "fields"]
    assert [(each["name"], each["given_by_the_sender"], each["entered"]) for each in fields] == [
        ("street", "Lovelace Lane", "Lovelace Lane 1"),
        ("town", "Pier", None),
        ("rent", None, "1250"),
    ]
    erase_all()
    left = Field.objects.order_by("position").values_list("name", "value")
    assert list(left) == [("street", None), ("town", None), ("rent", None)]


def test_nobody_is_not_a_person() -> None:
    assert show_person("nobody@example.com") == []
    with pytest.raises(DomainError, match="must not be empty"):
        show_person(" ")
