"""A signer is erased, and chain and proof still hold. Names and addresses in what was never sent are erased with the
person, or when their time is over."""

import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote

import pytest
from django.db import connection
from django.test import Client

from paraph.audit_trail.journal import broken_at
from paraph.dashboard.drafts.signers_step import earlier_signers
from paraph.drafts.content import signer_of
from paraph.drafts.models import Draft, blank
from paraph.drafts.review import refusals
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.ending import end_early
from paraph.flow.housekeeping.sweep import sweep
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.flow.personal_data.place import Person, names_person
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sending.templates import send_rows
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import capture
from paraph.messaging.models import CapturedMessage
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.request_templates.models import BulkRow, BulkSend
from paraph.signature_requests.models import CopyRecipient, Signer
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR, note_export
from paraph.tenants.confirmed_addresses import vouch
from paraph.tenants.models import Activity
from paraph.webhooks.models import Delivery
from tests.dashboard.test_bulk_sends import GOOD
from tests.drafts import stored
from tests.drafts.author import Author, author
from tests.factories import VISITOR, Scene, sign
from tests.flow.test_jobs import work_off
from tests.flow.test_send_draft import start
from tests.request_templates.kept import bulk_of, csv_of, template_of
from tests.request_templates.test_saving import begun as template_draft
from tests.tenancy import set_retention
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db

ADA = ("Lovelace", "ada1@example.com", "ada1")
PHONE = "+3312345678"  # of both signers


def finished(made: Scene) -> Scene:
    for position in range(len(made.signers)):
        sign(made, position)
    work_off()
    made.request.refresh_from_db()
    assert made.request.finalized
    return made


def everything() -> str:
    """Every row of every table as text, without digests, whose hexadecimal digits may spell what a test looks for."""
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT string_agg(t::text, chr(10)) FROM "{table}" AS t')
            rows.append(str(cursor.fetchone()[0]))
    return re.sub(r"[0-9a-f]{32,}", "", "\n".join(rows))


def the_proof() -> bytes:
    return store.get(ProofFile.objects.get().object_key)


def files_of(made: Scene) -> dict[str, bytes]:
    """Return the proof of a finished request, and the signed and the uploaded file of each document."""
    files = {"proof.pdf": the_proof()}
    for number, row in enumerate(made.request_documents, start=1):
        files[f"signed-{number}.pdf"] = store.get(SealedDocument.objects.get(request_document=row).object_key)
        files[f"uploaded-{number}.pdf"] = store.get(row.document.object_key)
    return files


def tied(files: dict[str, bytes]) -> EvidenceCheck:
    return check_evidence(files, sealing_context().roots("sandbox"))


def proof_check(made: Scene) -> EvidenceCheck:
    return tied(files_of(made))


def test_no_table_knows_the_signer_and_chain_and_proof_hold() -> None:
    made, _ = told(signers=2, notify_signers_on_completion=True, send_email=True, signer={"phone": PHONE})
    finished(made)
    hashes = [bytes(entry.hash) for entry in made.entries()]
    assert all(each in everything() for each in (*ADA, PHONE, VISITOR.ip, VISITOR.user_agent))
    assert proof_check(made).problems == []

    erased = erase_signer(OPERATOR, made.signers[0].pk)
    assert erased.journal_entries == 3
    left = everything()
    assert not any(each in left for each in ADA)
    assert "zola" in left.lower()
    assert [bytes(entry.hash) for entry in made.entries()] == hashes
    assert broken_at(made.entries()) is None
    assert proof_check(made).problems == []
    for entry in made.entries():
        mine = entry.signer_id == made.signers[0].pk
        assert not mine or (entry.ip, entry.user_agent) in (("", "erased"), ("", ""))
    assert erase_signer(OPERATOR, made.signers[0].pk).journal_entries == 0


def test_a_signer_of_a_request_that_is_not_over_is_not_erased(made: Scene) -> None:
    with pytest.raises(DomainError, match="is not over") as refused:
        erase_signer(OPERATOR, made.signers[0].pk)
    assert refused.value.code == "conflict"
    sign(made)
    with pytest.raises(DomainError, match="not sealed yet"):
        erase_signer(OPERATOR, made.signers[0].pk)
    with pytest.raises(DomainError, match="no signer 999999"):
        erase_signer(OPERATOR, 999999)
    assert Signer.objects.get().last_name == "Lovelace"


def test_own_data_of_the_request_lose_what_names_the_signer_in_recorded_webhooks_too() -> None:
    metadata = {"tenant": "ADA1@example.com", "street": "Lime Street", "other": "Zola", "title": "Pier"}
    texts = {"title": "Lease of Lovelace", "subject": "Your lease", "message": "Dear Ms. Lovelace,\nplease sign."}
    callback_url = "https://example.com/hooks/4711"
    made, _ = told(**texts, external_id="lovelace-4711", callback_url=callback_url, metadata=metadata, signers=2)
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    assert Client().get(made.url()).status_code == 410
    erase_signer(OPERATOR, made.signers[0].pk)
    assert Client().get(made.url()).status_code == 404, "the link of an erased signer ends"
    made.request.refresh_from_db()
    left = metadata | {"tenant": ""}
    assert (made.request.title, made.request.external_id, made.request.metadata) == ("", "", left)
    assert (made.request.subject, made.request.message) == ("Your lease", "")
    for content in [json.loads(row.payload) for row in Delivery.objects.all()]:
        assert content["signature_request"]["metadata"] == left and "external_id" not in content["signature_request"]
    assert not any(each in everything() for each in ("ADA1@", "ada1@", "lovelace"))
    [callback] = Delivery.objects.filter(destination="callback")
    assert made.request.callback_url == callback.url == callback_url and callback.status == "waiting"


def test_whoever_gets_a_copy_is_erased_from_the_words_of_the_request_too() -> None:
    named = {
        "title": "Lease of copy0@example.com",
        "subject": "For copy0@example.com",
        "message": "Dear COPY0@example.com,\nplease sign.",
        "external_id": "lease-copy0@example.com",
        "redirect_url": "https://example.com/done?who=copy0%40example.com",
        "callback_url": "https://example.com/hooks/copy0%40example.com?x=1",
    }
    made, _ = told(copies=1, **named)
    recipient = CopyRecipient.objects.get()
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    [kept] = [each for each in show_person(recipient.email) if each.place == "copies"]
    assert {name: kept.facts[name] for name in named} == named
    erase_address(OPERATOR, recipient.email)
    assert "copy0@" not in unquote(everything()).lower()


ROWS = (
    "Ada Lovelace ada@example.com",  # could be sent
    "Ada Lovelace ada@example",  # wrong, but the name tells whose row it is
    "Ada Lovelace other@example.org",  # somebody else with the same name
    "Eve Adams eve@example.com",
    "Ida X <ADA@example.com>",  # wrong, with the address among other characters
)


def signed_by_ada(charles: Author) -> Signer:
    request_id = charles.send(charles.draft())
    end_early(OPERATOR, request_id, "over")
    return Signer.objects.get(request=request_id)


def rows_left(bulk: BulkSend) -> list[tuple[str, bool]]:
    return [(row.state, bool(row.cells or row.signers)) for row in BulkRow.objects.filter(bulk_send=bulk)]


def test_rows_that_were_never_sent_are_erased_with_the_signer() -> None:
    charles, stranger = author(), author()
    bulk, foreign = (bulk_of(each, template_of(each), csv_of(*ROWS)) for each in (charles, stranger))
    ada = signed_by_ada(charles)
    erase_signer(OPERATOR, ada.pk)
    assert rows_left(bulk) == [("wrong", False), ("wrong", False), ("ready", True), ("ready", True), ("wrong", False)]
    assert rows_left(foreign) == [("ready", True), ("wrong", True), ("ready", True), ("ready", True), ("wrong", True)]
    assert BulkRow.objects.filter(bulk_send=bulk).first().problems == ["Personal data in this row were erased."]  # type: ignore[union-attr]
    start(charles, bulk, skip=True)
    send_rows(bulk.pk)
    sent_to = Signer.objects.exclude(pk=ada.pk).values_list("email", flat=True)
    assert sorted(sent_to) == ["eve@example.com", "other@example.org"]
    erase_address(OPERATOR, "eve@example.com")
    assert [row.state for row in bulk.rows.all()][3] == "sent", "such a row stays with its request"


def test_drafts_forget_the_signer_and_stay_open_and_suggest_nobody_who_was_erased(charles: Author) -> None:
    open_draft = charles.draft(signers=2)
    stored.change(open_draft, external_id="ada@example.com")
    Draft.objects.filter(pk=open_draft.pk).update(subject="For Ada Lovelace")
    ada = signed_by_ada(charles)
    erase_signer(OPERATOR, ada.pk)
    [grace] = stored.signers(open_draft)
    draft = Draft.objects.get(pk=open_draft.pk)
    [document] = draft.content["documents"]
    assert grace.first_name == "Grace" and [each["signer_ref"] for each in document["signers"]] == [grace.ref]
    assert draft.subject == "" and "external_id" not in draft.content
    assert [signer.email for signer in earlier_signers(charles.scope)] == []


def test_an_address_that_never_became_a_signer_can_be_erased() -> None:
    charles, stranger, writer = author(), author(), author()
    bulk = bulk_of(charles, template_of(charles), csv_of("Eve Adams eve@example.com", "Bob Bo bob@example.com"))
    eve = signer_of({"first_name": "Eve", "last_name": "Adams", "email": "Eve@Example.com"})
    Draft.objects.create(organization_id=stranger.scope.organization_id, content=blank() | {"signers": [eve]})
    Draft.objects.create(organization_id=writer.scope.organization_id, subject="For eve@example.com")
    vouch(charles.scope.organization_id, "eve@example.com")
    capture("email", "EVE@example.com", "Hello Eve", "Eve Adams")
    ada = signed_by_ada(charles)
    assert "adams" in everything().lower()
    erased = erase_address(OPERATOR, " Eve@example.com ")
    assert erased.organization_ids == sorted(each.scope.organization_id for each in (charles, stranger, writer))
    assert erased.signer_ids == [] and erase_address(OPERATOR, "ada@example.com").signer_ids == [ada.pk]
    left = everything().lower()
    assert "adams" not in left and "eve@" not in left and "bob@" in left
    assert rows_left(bulk) == [("wrong", False), ("ready", True)]
    noted = Activity.objects.filter(action="address.erased", organization_id=stranger.scope.organization_id).get()
    assert (noted.subject, noted.before, noted.after) == ("", {}, {})
    assert erase_address(OPERATOR, "eve@example.com").organization_ids == []
    with pytest.raises(DomainError, match="must not be empty"):
        erase_address(OPERATOR, " ")


def test_a_number_is_found_however_it_was_written(charles: Author) -> None:
    draft = charles.draft()
    stored.change_signers(phone="+33 6 12-34", email="somebody@example.com")
    erase_address(OPERATOR, "+33612-34")
    assert not stored.signers(draft)


@pytest.mark.parametrize(("retention", "kept"), [(None, 90), (30, 30), (3000, 90)])
def test_what_was_never_sent_ends_with_retention(retention: int | None, kept: int, charles: Author) -> None:
    bulk, draft = bulk_of(charles, template_of(charles), GOOD), charles.draft()
    Draft.objects.exclude(pk=draft.pk).delete()
    set_retention(charles.scope.organization_id, "production", retention)
    set_retention(charles.scope.organization_id, "sandbox", 1)
    for age, there in ((timedelta(days=kept, hours=-1), True), (timedelta(days=kept, hours=1), False)):
        BulkSend.objects.update(created_at=clock.now() - age)
        Draft.objects.update(updated_at=clock.now() - age)
        sweep()
        assert BulkSend.objects.filter(pk=bulk.pk).exists() is there
        assert Draft.objects.filter(pk=draft.pk).exists() is there
    assert not Draft.objects.exists() and not BulkRow.objects.exists()


def test_captured_messages_go_after_ninety_days() -> None:
    for age in (timedelta(days=89), timedelta(days=91)):
        capture("email", f"ada{age.days}@example.com", "Sign", "Ada")
        CapturedMessage.objects.filter(to=f"ada{age.days}@example.com").update(created_at=clock.now() - age)
    sweep()
    assert CapturedMessage.objects.get().to == "ada89@example.com"


def test_words_that_were_searched_do_not_get_into_a_log_that_nobody_can_erase(charles: Author) -> None:
    note_export(charles.scope.organization_id, charles.actor, {"q": "lovelace", "status": "pending"})
    assert Activity.objects.latest("pk").after == {"q": "…", "status": "pending"}


PERSON = Person(frozenset({"ada@example.com", "+33612345678"}), "Ada", "Lovelace")
TEXTS = {
    "ada@example.com": True,
    "Dear ADA@example.com, please": True,
    "<ada@example.com>": True,
    f"https://example.com/?who={quote('ada@example.com')}&x=1": True,
    "https://example.com/ada@example.com/hook": True,
    "mailto:ada@example.com": True,
    "call +33 6 12 34 56 78 please": True,
    "Lovelace, Ada": True,
    "ada_lovelace? no: ada lovelace!": True,
    "bada@example.com": False,
    "ada@example.com.au": False,
    "ada@example.community": False,
    "+336123456789": False,
    "Ada Byron": False,
    "Canada, Lovelaceville": False,
    "": False,
}


def test_a_text_names_somebody_as_a_whole() -> None:
    assert {text: names_person(PERSON, text) for text in TEXTS} == TEXTS


def test_a_template_is_as_useful_as_before_without_what_names_the_person() -> None:
    charles, stranger = author(), author()
    template, foreign = template_of(charles, roles=2), template_of(stranger, roles=2)
    content: dict[str, Any] = {"name": "landlord", "type": "text", "label": "Ada Lovelace", "value": "Ada Lovelace"}
    value = {"page_number": 1, "x": 40, "y": 40, "width": 160, "height": 18}
    place = {"placement": {"type": "coordinates", "value": value}}
    ada, eve = (
        {"first_name": first, "last_name": "Lovelace", "email": f"{first}@example.com"} for first in ("Ada", "Eve")
    )
    for each in (template, foreign):
        each.name = "Lease of Ada Lovelace"
        each.content["documents"][0]["signers"][0]["fields"] = [content | place]
        each.content |= {"metadata": {"landlord": "Ada Lovelace", "street": "Ada Lane"}, "copies": [ada, eve]}
        each.content["signers"][1] |= ada | {"phone": "+33612345678"}
        each.save()
    request_id = charles.send(charles.draft())
    end_early(OPERATOR, request_id, "over")
    erase_signer(OPERATOR, Signer.objects.get(request=request_id).pk)
    before = template.changed_at
    template.refresh_from_db()
    foreign.refresh_from_db()
    assert template.name == "erased" and foreign.name == "Lease of Ada Lovelace", "a namesake, elsewhere"
    assert template.content["decline_allowed"] and template.content["metadata"] == {"street": "Ada Lane"}
    assert [(role.name, role.person) for role in template.roles] == [("Tenant", {}), ("Landlord", {})]
    assert template.content["copies"] == [eve] and template.changed_at > before
    [field], [elsewhere] = (each.fields_of(each.roles[0]) for each in (template, foreign))
    assert field == {"name": "landlord", "type": "text"} | place and elsewhere == content | place
    assert refusals(charles.scope, template_draft(charles, template)) == []


def test_each_of_many_texts_that_name_the_person_is_shown(charles: Author) -> None:
    for number in range(60):
        Draft.objects.create(organization_id=charles.scope.organization_id, title=f"{number}: ada@example.com")
    titles = [each.facts["title"] for each in show_person("ada@example.com")]
    assert titles == [f"{number}: ada@example.com" for number in range(60)]
