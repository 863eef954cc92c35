"""Rows are bounded where anybody may have a key, and the oldest make room where they can."""

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.db import DatabaseError, connection, transaction
from django.db.models import CASCADE, ForeignKey

from paraph.drafts import editing
from paraph.drafts.models import Draft
from paraph.evidence.models import ProofFile
from paraph.flow.housekeeping.make_room import _ROWS, KEPT_FOR, remove_request
from paraph.kernel import clock
from paraph.request_templates.models import BulkSend, Template
from paraph.signature_requests.models import FirstOpening, Inquiry, Reminder, SearchTerm, SignatureRequest
from paraph.webhooks.models import Delivery
from tests.api.v1.api_clients import ApiClient, api_client, error, payload
from tests.api.v1.test_templates import created, wanted
from tests.drafts.author import author
from tests.factories import scene, sign
from tests.flow.test_jobs import work_off
from tests.request_templates.kept import bulk_of, csv_of, template_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> ApiClient:
    return api_client()


def limit(settings: LazySettings, **limits: int) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update=limits)


def test_the_sandbox_has_so_many_requests(owner: ApiClient, settings: LazySettings) -> None:
    limit(settings, sandbox_requests=2)
    document, template = owner.document(), created(owner)
    for _ in range(2):
        assert owner.create(payload(document)).status_code == 201
    people = [
        {"role": role, "first_name": "A", "last_name": "B", "email": f"{role}@example.com"}
        for role in ("Tenant", "Landlord")
    ]
    for refused in (
        owner.create(payload(document)),
        owner.post(f"/templates/{template['id']}/signature_requests", {"signature_request": {"signers": people}}),
    ):
        assert error(refused, 507, "insufficient_storage") == (
            "The organization has as many signature requests in the sandbox as it may have: 2."
        )
    assert owner.post("/signature_requests/preview", {"signature_request": payload(document)}).status_code == 200
    assert SignatureRequest.objects.count() == 2
    production = api_client("pro", "production", owner.organization)
    assert production.create(payload(production.document())).status_code == 201
    other = api_client()
    assert other.create(payload(other.document())).status_code == 201
    limit(settings, sandbox_requests=0)
    assert owner.create(payload(document)).status_code == 201


def test_the_oldest_requests_that_are_over_make_room(owner: ApiClient, settings: LazySettings) -> None:
    limit(settings, sandbox_requests=3)
    document = owner.document()
    made = [owner.create(payload(document)).json()["id"] for _ in range(3)]
    SignatureRequest.objects.filter(pk__in=made).update(created_at=clock.now() - KEPT_FOR)
    for over in made[1:]:
        assert owner.post(f"/signature_requests/{over}/end", {"reason": "tried"}).status_code == 200
    newest = owner.create(payload(document)).json()["id"]
    assert owner.get(f"/signature_requests/{made[1]}").status_code == 404
    assert owner.get("/signature_requests").json()["pagination"]["count"] == 3
    assert set(SignatureRequest.objects.values_list("pk", flat=True)) == {made[0], made[2], newest}


def test_of_a_large_excess_each_request_removes_some(owner: ApiClient, settings: LazySettings) -> None:
    document = owner.document()
    made = [owner.create(payload(document)).json()["id"] for _ in range(25)]
    SignatureRequest.objects.update(created_at=clock.now() - KEPT_FOR, status="expired")
    limit(settings, sandbox_requests=2)
    left = []
    for _ in range(2):
        assert owner.create(payload(document)).status_code == 201
        left.append(SignatureRequest.objects.filter(pk__in=made).count())
    assert left == [5, 0]


def test_a_request_of_every_kind_goes_as_a_whole() -> None:
    """With fields, approvers, copies, codes, signatures, seals, a proof, reminders, an inquiry and deliveries."""
    made = scene(signers=3, approvers=[1], copies=2, documents=2, fields=[{"type": "text", "name": "a", "value": "b"}])
    Reminder.objects.create(signer=made.signers[0], number=1)
    Inquiry.objects.create(signer=made.signers[0], kind="question", text="?")
    FirstOpening.objects.create(signer=made.signers[0], opened_at=clock.now())
    for position in range(3):
        sign(made, position)
    work_off()
    assert Delivery.objects.exists() and ProofFile.objects.exists() and SearchTerm.objects.exists()
    assert remove_request(made.request.pk)
    tables = {table for table, _ in _ROWS} | {"signature_requests_signer", "signature_requests_signaturerequest"}
    with connection.cursor() as cursor:
        counts = {}
        for table in sorted(tables):
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
    assert {table for table, count in counts.items() if count} == set()


def test_nothing_else_goes_with_a_request(owner: ApiClient) -> None:
    """Production, what is not over, and what is there no more."""
    pending = owner.create(payload(owner.document())).json()["id"]
    production = api_client("pro", "production", owner.organization)
    proven = production.create(payload(production.document())).json()["id"]
    assert production.post(f"/signature_requests/{proven}/end", {"reason": "tried"}).status_code == 200
    assert not any(remove_request(each) for each in (pending, proven, 0))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM journal_entry WHERE request_id = %s", [proven])
    assert SignatureRequest.objects.count() == 2


def test_a_request_goes_with_all_that_refers_to_it() -> None:
    """Every table, whatever a request had: what a new table refers to is to be listed."""
    goes = {table for table, _ in _ROWS} | {"signature_requests_signer", "signature_requests_signaturerequest"}
    referring = {
        model._meta.db_table
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
        and field.remote_field.model._meta.db_table in goes
        and field.remote_field.on_delete is not CASCADE
    }
    assert referring <= goes


def test_the_oldest_templates_of_the_sandbox_make_room(owner: ApiClient, settings: LazySettings) -> None:
    limit(settings, kept_templates=2)
    others = created(api_client())["id"]
    made = [created(owner)["id"] for _ in range(4)]
    assert set(Template.objects.values_list("pk", flat=True)) == {others, *made[2:]}
    refused = owner.post("/templates", {"template": wanted(owner.document(), name="")})
    assert refused.status_code == 422 and Template.objects.count() == 3, "nothing goes for what is not kept"
    production = api_client("pro", "production", owner.organization)
    for _ in range(3):
        created(production)
    assert Template.objects.filter(environment="production").count() == 3


@pytest.mark.parametrize(("plan", "kept"), [("free", 2), ("pro", 4)])
def test_on_the_plan_free_drafts_that_nobody_touched_make_room(plan: str, kept: int, settings: LazySettings) -> None:
    limit(settings, kept_drafts=2)
    charles = author(plan)
    made = []
    for number in range(4):
        draft = editing.begin(charles.scope, charles.member.user)
        Draft.objects.filter(pk=draft.pk).update(updated_at=clock.now().replace(microsecond=number))
        made.append(draft.pk)
    assert set(Draft.objects.values_list("pk", flat=True)) == set(made[-kept:])


@pytest.mark.parametrize(("plan", "kept"), [("free", 2), ("pro", 4)])
def test_on_the_plan_free_bulk_sends_that_are_over_make_room(plan: str, kept: int, settings: LazySettings) -> None:
    limit(settings, kept_bulk_rows=4)
    charles = author(plan)
    template, people = template_of(charles), csv_of("A B a@example.com", "C D c@example.com")
    made = [bulk_of(charles, template, people).pk for _ in range(4)]
    assert set(BulkSend.objects.values_list("pk", flat=True)) == set(made[-kept:])
    BulkSend.objects.filter(pk=made[-2]).update(status="sending")
    made.append(bulk_of(charles, template, people).pk)
    assert BulkSend.objects.filter(pk=made[-3]).exists(), "one that is under way stays"
