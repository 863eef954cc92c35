"""A signer is erased, and chain and proof still hold."""

import json
import re

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.test import Client

from paraph.audit_trail.journal import PLAIN, EntryAbout, Origin, broken_at, commitment, erase_values, follow
from paraph.database.rows import insert
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.ending import end_early
from paraph.flow.personal_data.erase import erase_address, erase_signer, show_person
from paraph.flow.sealing.context import sealing_context
from paraph.flow.signing.decline_or_ask import ask
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.signature_requests.models import CopyRecipient, Signer
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.confirmed_addresses import vouch
from paraph.tenants.models import Organization
from paraph.webhooks.models import Attempt, Delivery
from tests.factories import VISITOR, Scene, scene, sign
from tests.flow.test_jobs import work_off
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
    """Every row of every table, as text without digests, which may spell anything of hexadecimal digits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        rows = []
        for table in tables:
            cursor.execute(f'SELECT string_agg(t::text, chr(10)) FROM "{table}" AS t')
            rows.append(str(cursor.fetchone()[0]))
    return re.sub(r"[0-9a-f]{32,}", "", "\n".join(rows))


def the_proof() -> bytes:
    return store.get(ProofFile.objects.get().object_key)


def proof_check(made: Scene) -> EvidenceCheck:
    files = {f"uploaded-{number}.pdf": content for number, content in enumerate(made.uploads)}
    for sealed in SealedDocument.objects.all():
        files[f"signed-{sealed.pk}.pdf"] = store.get(sealed.object_key)
    return check_evidence(files | {"proof.pdf": the_proof()}, sealing_context().roots("sandbox"))


def test_no_table_knows_the_signer_and_chain_and_proof_hold() -> None:
    made, _ = told(signers=2, notify_signers_on_completion=True, send_email=True, signer={"phone": PHONE})
    finished(made)
    Organization.objects.filter(pk=made.request.organization_id).update(contact_email="office@example.org")
    made.signers[0].request.organization.refresh_from_db()
    ask(made.signers[0], "question", "Who is Lovelace?")
    work_off()
    assert CapturedMessage.objects.filter(to="office@example.org", text__contains="Lovelace").exists()
    vouch(made.request.organization_id, "Ada1@example.com")
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

    erase_signer(OPERATOR, made.signers[1].pk)
    assert not any(each in everything() for each in ("Zola", "mile2@", PHONE, VISITOR.ip, VISITOR.user_agent))
    assert (broken_at(made.entries()), proof_check(made).problems) == (None, [])
    assert CapturedMessage.objects.count() == 0
    for payload in Delivery.objects.values_list("payload", flat=True):
        content = json.loads(payload)
        assert "signer" not in content or content["signer"]["email"].endswith("@erased.invalid")


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


def test_the_link_of_an_erased_signer_ends(made: Scene) -> None:
    end_early(OPERATOR, made.request.pk, "Wrong person")
    assert Client().get(made.url()).status_code == 410
    erase_signer(OPERATOR, made.signers[0].pk)
    assert Client().get(made.url()).status_code == 404


def test_an_entry_without_personal_values_has_no_salts_and_stays_as_it_is() -> None:
    made = finished(scene())
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE journal_entry SET salts = '{}' WHERE format = %s", [PLAIN])
    entries = made.entries()
    plain = {entry.event_type: entry.salts for entry in entries if entry.format == PLAIN}
    assert plain["request.completed"] is plain["signature_request.pades_signed"] is None
    assert set(plain.values()) == {None}
    completed = next(entry for entry in entries if entry.event_type == "request.completed")
    completed.salts, completed.ip = {}, "203.0.113.9"  # as somebody could who owns the database
    assert broken_at(entries) == completed.position


def test_own_data_of_the_request_lose_what_names_the_signer_in_recorded_webhooks_too() -> None:
    metadata = {"tenant": "ADA1@example.com", "street": "Lime Street", "other": "Zola", "title": "Pier"}
    texts = {"title": "Lease of Lovelace", "subject": "Your lease", "message": "Dear Ms. Lovelace,\nplease sign."}
    callback_url = "https://example.com/hooks/4711"
    made, _ = told(**texts, external_id="lovelace-4711", callback_url=callback_url, metadata=metadata, signers=2)
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    erase_signer(OPERATOR, made.signers[0].pk)
    made.request.refresh_from_db()
    left = metadata | {"tenant": ""}
    assert (made.request.title, made.request.external_id, made.request.metadata) == ("", "", left)
    assert (made.request.subject, made.request.message) == ("Your lease", "")
    for content in [json.loads(row.payload) for row in Delivery.objects.all()]:
        assert content["signature_request"]["metadata"] == left and "external_id" not in content["signature_request"]
    assert not any(each in everything() for each in ("ADA1@", "ada1@", "lovelace"))
    [callback] = Delivery.objects.filter(destination="callback")
    assert made.request.callback_url == callback.url == callback_url and callback.status == "waiting"


@pytest.mark.parametrize("path", ["metadata/recipient", "ip", "user_agent"])
def test_a_value_that_is_not_the_committed_one_breaks_the_chain(path: str, made: Scene) -> None:
    insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata={"recipient": "a@example.com"})])
    entries = made.entries()
    assert broken_at(entries) is None
    if path == "metadata/recipient":
        entries[1].metadata["recipient"] = "b@example.com"
    else:
        setattr(entries[1], path, "198.51.100.1")
    assert broken_at(entries) == 2


def test_salts_differ_so_that_nobody_finds_an_erased_value_by_trying(made: Scene) -> None:
    for _ in range(2):
        insert([follow(made.request, "signer.otp_sent", origin=Origin("203.0.113.9"), metadata={})])
    [_, first, second] = made.entries()
    assert first.salts["ip"] != second.salts["ip"]
    assert len(bytes.fromhex(first.salts["ip"])) == 16


@pytest.mark.parametrize(
    "change",
    [
        "ip = ''",
        "ip = '', salts = salts - 'ip'",
        "ip = '', salts = jsonb_set(salts, '{ip}', '\"00\"')",
        "event_type = 'signer.signed', salts = '{}'",
        "format = 1, salts = '{}'",
        "hash = ''",
        "metadata = metadata || '{\"resend\": true}'",
        "metadata = jsonb_set(metadata, '{fields,0,value}', '\"DE00\"')",
        "salts = NULL",
    ],
)
def test_the_database_lets_a_value_go_with_its_salt_alone(change: str, made: Scene) -> None:
    entered = {"document_id": 1, "name": "iban", "type": "text", "value": "DE89"}
    facts = {"recipient": "a@example.com", "resend": False, "fields": [entered]}
    insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata=facts)])
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE journal_entry SET {change} WHERE event_type = 'signer.otp_sent'")
    assert broken_at(made.entries()) is None


def test_what_an_erased_value_left_stays(made: Scene) -> None:
    """A commitment is no salt for another one."""
    insert([follow(made.request, "signer.otp_sent", origin=VISITOR, metadata={})])
    entry = made.entries()[-1]
    erase_values([EntryAbout(entry, {"ip": VISITOR.ip})], {})
    left = made.entries()[-1].salts["ip"]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE journal_entry SET salts = jsonb_set(salts, '{ip}', to_jsonb(%s::text)) WHERE id = %s",
            [commitment(left, ""), entry.pk],
        )
    assert broken_at(made.entries()) is None


NAMED = {
    "title": "Lease of {}",
    "subject": "For {}",
    "message": "Dear {},\nplease sign.",
    "external_id": "lease-{}",
    "redirect_url": "https://example.com/done?who={}",
    "callback_url": "https://example.com/hooks/{}?x=1",
}
"""What of a request may name somebody, wherever it says so."""


@pytest.mark.parametrize("who", ["Lovelace", "ada1@example.com", "ada1%40example.com", "LOVELACE"])
def test_whatever_names_the_signer_goes_in_request_events_and_deliveries(who: str) -> None:
    made, _ = told(**{name: text.format(who) for name, text in NAMED.items()})
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    for delivery in Delivery.objects.all():
        Attempt.objects.create(delivery=delivery, response=f"hello {who}", error=f"refused by {who}")
    assert who.lower() in everything().lower()
    erase_signer(OPERATOR, made.signers[0].pk)
    assert who.lower() not in everything().lower()
    [callback] = Delivery.objects.filter(destination="callback")
    assert (callback.url, callback.status) == ("", "failed")


def test_whoever_gets_a_copy_is_erased_from_the_words_of_the_request_too() -> None:
    made, _ = told(copies=1, **{name: text.format("copy0@example.com") for name, text in NAMED.items()})
    recipient = CopyRecipient.objects.get()
    end_early(OPERATOR, made.request.pk, "Signed on paper.")
    [kept] = [each for each in show_person(recipient.email) if each.place == "copies"]
    assert [name for name in NAMED if recipient.email not in kept.facts[name]] == []
    erase_address(OPERATOR, recipient.email)
    assert "copy0@example.com" not in everything()
