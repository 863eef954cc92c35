"""An upload leaves a document with its file or nothing, a creation a whole request or nothing. Room for both: the floor
of free disk space, the quota, and what makes room."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, DataError, OperationalError, connection, transaction
from django.db.models import CASCADE, ForeignKey

from paraph.audit_trail.models import Entry
from paraph.database import rows
from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.models import Draft
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.housekeeping.make_room import _ROWS, KEPT_FOR, UNUSED_FOR, remove_request, room_for
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sending import create as creating
from paraph.flow.sending.create import Sender, create
from paraph.flow.sending.upload import IncomingFile
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.request_templates.models import BulkSend, Template
from paraph.signature_requests.models import (
    FirstOpening,
    Inquiry,
    Placement,
    Reminder,
    RequestDocument,
    SearchTerm,
    SignatureRequest,
    Signer,
)
from paraph.signature_requests.plan import make_plan
from paraph.storage import store
from paraph.tenants.limits import stored_bytes
from paraph.tenants.scope import TenantScope
from paraph.webhooks.models import Delivery
from tests.api.v1.api_clients import CONTRACT, ApiClient, api_client, error, payload
from tests.api.v1.test_templates import created, wanted
from tests.columns import columns
from tests.drafts.author import author
from tests.factories import VISITOR, Scene, pdf, scene, sign, uploaded
from tests.flow.test_jobs import work_off
from tests.pdf.pdf_factory import paper
from tests.request_templates.kept import bulk_of, csv_of, template_of
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024
_GOES = {table for table, _ in _ROWS} | {"signature_requests_signer", "signature_requests_signaturerequest"}


def stored() -> set[str]:
    return set(store.keys_written_before("documents/", clock.now() + timedelta(minutes=1)))


def test_a_signature_is_noticed_in_whatever_pieces_a_file_comes() -> None:
    text = b"%PDF-1.7 << /ByteRange [0 1 2 3] >> "
    for length in range(1, len(text)):
        with store.stage() as draft:
            file = IncomingFile(draft)
            for start in range(0, len(text), length):
                file.write(memoryview(text)[start : start + length])
            assert file.may_be_signed
    with store.stage() as draft:
        file = IncomingFile(draft)
        for piece in (b"/Byte", b"_", b"Range"):
            file.write(piece)
        assert not file.may_be_signed


def test_the_object_is_stored_before_the_row_says_so(scope: TenantScope, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    insert = rows.insert_whole

    def watched(made: list[Any]) -> None:
        seen.append(made[0].object_key in stored())
        insert(made)

    monkeypatch.setattr(rows, "insert_whole", watched)
    assert uploaded(scope, pdf()).status == "ready"
    assert seen == [True]


def test_an_outage_of_the_store_leaves_nothing(scope: TenantScope, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_descriptor: int) -> None:
        raise OSError("no space left on device")

    before = stored()
    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="no space"):
        uploaded(scope, pdf())
    assert not Document.objects.exists() and stored() == before


def test_a_row_that_is_not_taken_leaves_no_object(scope: TenantScope) -> None:
    before = stored()
    with pytest.raises(DataError), transaction.atomic():
        uploaded(replace(scope, environment="longer than the column"), pdf())
    assert stored() == before


def test_an_object_stays_whose_row_may_be_there(scope: TenantScope, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection was lost after the row was written and before the database said so."""
    insert = rows.insert_whole

    def lost(made: list[Any]) -> None:
        insert(made)
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(rows, "insert_whole", lost)
    with pytest.raises(OperationalError):
        uploaded(scope, pdf())
    assert Document.objects.get().object_key in stored()


def test_a_name_that_cannot_be_printed_gets_another(scope: TenantScope) -> None:
    assert uploaded(scope, pdf(), " \u202e\x07 ").name == "document.pdf"


def test_contents_are_read_once_for_all_that_is_drawn_after_them(scope: TenantScope) -> None:
    assert uploaded(scope, pdf()).clean_contents
    assert not uploaded(scope, paper("0 0 5 5 re f q")).clean_contents
    damaged = paper("0 0 5 5 re f").replace(b"startxref", b"startxrex")
    assert uploaded(scope, damaged).clean_contents  # true of the prepared file, the one that is sealed


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["_signers", "_documents", "_journal", "_invitations"])
def test_a_fault_at_any_step_leaves_nothing(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = api_client()
    content = payload(owner.document(), send_email=True, identity_declaration_accepted=True)
    original = getattr(creating, step)

    def broken(*arguments: object) -> None:
        original(*arguments)
        raise RuntimeError("power cut")

    monkeypatch.setattr(creating, step, broken)
    error(owner.create(content), 500, "internal_error")
    for table in (SignatureRequest, Signer, RequestDocument, Placement, Entry):
        assert not table.objects.exists()


def test_the_files_are_searched_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = api_client()
    depth: list[int] = []

    def watched(*arguments: object, **named: object) -> object:
        depth.append(len(connection.savepoint_ids))
        return make_plan(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(creating, "make_plan", watched)
    content = payload(owner.document())
    outside = len(connection.savepoint_ids)
    assert owner.create(content).status_code == 201
    assert depth == [outside]


def caller_of(organization_id: int, environment: str = "sandbox") -> TenantScope:
    application = create_application(organization_id, environment, "x").application
    return TenantScope(organization_id, environment, "pro", application.pk)


@pytest.fixture
def scope() -> TenantScope:
    return caller_of(create_organization("Acme", "pro").pk)


def sent(scope: TenantScope, age: timedelta = timedelta()) -> Document:
    with room_for(scope, len(CONTRACT)):
        document = uploaded(scope, CONTRACT)
    Document.objects.filter(pk=document.pk).update(created_at=clock.now() - age)
    return document


def limited(settings: Any, **limits: int) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update=limits)


def filled(scope: TenantScope, settings: Any) -> None:
    """Use up the quota but for half an upload: one large document stands in for many."""
    limited(settings, sandbox_storage_mb=1, production_storage_mb=1)
    Document.objects.create(
        organization_id=scope.organization_id, environment=scope.environment, name="large", sha256=b"",
        file_size=MIB - stored_bytes(scope) - 300, pages=[], object_key=f"documents/{scope.environment}",
    )  # fmt: skip


def test_what_a_tenant_stores_is_counted_as_it_comes_and_goes(scope: TenantScope) -> None:
    first, second = sent(scope), sent(scope)
    assert stored_bytes(scope) == first.file_size + second.file_size
    assert stored_bytes(caller_of(scope.organization_id, "production")) == 0
    second.delete()
    assert stored_bytes(scope) == first.file_size
    second.pk, second.prepared_sha256, second.prepared_size = None, b"x" * 32, 7
    second.save(force_insert=True)
    assert stored_bytes(scope) == first.file_size + second.file_size + 7, "what stands in for an upload counts"
    second.delete()
    assert stored_bytes(scope) == first.file_size


def test_sealed_documents_and_proofs_count(made: Scene) -> None:
    sign(made)
    scope = made.scope()
    before = stored_bytes(scope)
    seal(made.request_documents[0].pk)
    prove(made.request.pk)
    sealed, proof = SealedDocument.objects.get(), ProofFile.objects.get()
    assert stored_bytes(scope) == before + sealed.file_size + proof.file_size
    ProofFile.objects.all().delete()
    SealedDocument.objects.all().delete()
    assert stored_bytes(scope) == before


def test_the_oldest_unused_uploads_of_the_sandbox_make_room(scope: TenantScope, settings: Any) -> None:
    old, older = sent(scope, 2 * UNUSED_FOR), sent(scope, 3 * UNUSED_FOR)
    filled(scope, settings)
    new = sent(scope)
    left = set(Document.objects.exclude(name="large").values_list("pk", flat=True))
    assert left == {old.pk, new.pk}
    assert stored_bytes(scope) <= MIB
    with pytest.raises(FileNotFoundError):
        store.get(older.object_key)
    assert store.get(old.object_key)


def test_what_a_request_uses_and_what_is_new_stays(scope: TenantScope, settings: Any) -> None:
    used = sent(scope, 2 * UNUSED_FOR)
    create(scope, payload(used.pk), Sender(VISITOR))
    new = sent(scope, UNUSED_FOR / 2)
    filled(scope, settings)
    with pytest.raises(DomainError) as refused:
        sent(scope)
    assert refused.value.code == "insufficient_storage" and "1 MiB" in refused.value.message
    assert {used.pk, new.pk} <= set(Document.objects.values_list("pk", flat=True))


def test_a_request_wants_room_for_its_seals_and_for_those_that_are_to_come(scope: TenantScope, settings: Any) -> None:
    document = sent(scope)
    limited(settings, sandbox_storage_mb=1)
    Document.objects.filter(pk=document.pk).update(file_size=2 * MIB // 3)
    create(scope, payload(document.pk), Sender(VISITOR))
    with pytest.raises(DomainError) as refused:
        create(scope, payload(document.pk), Sender(VISITOR))
    assert refused.value.code == "insufficient_storage" and "1 MiB" in refused.value.message
    SignatureRequest.objects.update(status="expired")
    assert create(scope, payload(document.pk), Sender(VISITOR))


def test_a_request_never_loses_its_own_upload_to_its_seals(scope: TenantScope, settings: Any) -> None:
    used = sent(scope, 2 * UNUSED_FOR)
    filled(scope, settings)
    with pytest.raises(DomainError, match="has reached its storage limit"):
        create(scope, payload(used.pk), Sender(VISITOR))
    assert Document.objects.filter(pk=used.pk).exists()


@pytest.mark.parametrize("whose", ["production", "another tenant"])
def test_nothing_goes_from_production_nor_from_another_tenant(whose: str, scope: TenantScope, settings: Any) -> None:
    other = caller_of(create_organization("Other", "pro").pk)
    mine, holder = (scope, other) if whose == "another tenant" else [caller_of(scope.organization_id, whose)] * 2
    old = sent(holder, 2 * UNUSED_FOR)
    filled(mine, settings)
    with pytest.raises(DomainError, match="has reached its storage limit"):
        sent(mine)
    assert Document.objects.filter(pk=old.pk).exists()
    assert sent(other)


def test_below_the_floor_of_the_disk_nothing_is_taken(
    scope: TenantScope, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, free_space_mb=10)
    monkeypatch.setattr(store, "free_bytes", lambda: 10 * MIB)
    with pytest.raises(DomainError) as refused:
        sent(scope)
    assert refused.value.code == "insufficient_storage"
    filled(scope, settings)
    limited(settings, free_space_mb=0, sandbox_storage_mb=0)
    assert sent(scope), "nothing is asked without a floor and a quota"


@pytest.mark.django_db(transaction=True)
def test_a_request_whose_document_made_room_meanwhile_is_told_so(
    scope: TenantScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = sent(scope)

    def slow(*arguments: Any, **named: Any) -> Any:
        made = make_plan(*arguments, **named)
        Document.objects.filter(pk=document.pk).delete()
        return made

    monkeypatch.setattr("paraph.flow.sending.create.make_plan", slow)
    with pytest.raises(DomainError, match=f"there is no document {document.pk}"):
        create(scope, payload(document.pk), Sender(VISITOR))


@pytest.fixture
def owner() -> ApiClient:
    return api_client()


def test_the_sandbox_has_so_many_requests(owner: ApiClient, settings: Any) -> None:
    limited(settings, sandbox_requests=2)
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
    limited(settings, sandbox_requests=0)
    assert owner.create(payload(document)).status_code == 201


def test_the_oldest_requests_that_are_over_make_room(owner: ApiClient, settings: Any) -> None:
    limited(settings, sandbox_requests=3)
    document = owner.document()
    made = [owner.create(payload(document)).json()["id"] for _ in range(3)]
    SignatureRequest.objects.filter(pk__in=made).update(created_at=clock.now() - KEPT_FOR)
    for over in made[1:]:
        assert owner.post(f"/signature_requests/{over}/end", {"reason": "tried"}).status_code == 200
    newest = owner.create(payload(document)).json()["id"]
    assert owner.get(f"/signature_requests/{made[1]}").status_code == 404
    assert owner.get("/signature_requests").json()["pagination"]["count"] == 3
    assert set(SignatureRequest.objects.values_list("pk", flat=True)) == {made[0], made[2], newest}


def test_of_a_large_excess_each_request_removes_some(owner: ApiClient, settings: Any) -> None:
    document = owner.document()
    made = [owner.create(payload(document)).json()["id"] for _ in range(25)]
    SignatureRequest.objects.update(created_at=clock.now() - KEPT_FOR, status="expired")
    limited(settings, sandbox_requests=2)
    left = []
    for _ in range(2):
        assert owner.create(payload(document)).status_code == 201
        left.append(SignatureRequest.objects.filter(pk__in=made).count())
    assert left == [5, 0]


def test_a_request_of_every_kind_goes_as_a_whole() -> None:
    """The request has fields, an approver, copies, codes, signatures, seals, proof, reminder, inquiry, deliveries."""
    made = scene(signers=3, approvers=[1], copies=2, documents=2, fields=[{"type": "text", "name": "a", "value": "b"}])
    Reminder.objects.create(signer=made.signers[0], number=1)
    Inquiry.objects.create(signer=made.signers[0], kind="question", text="?")
    FirstOpening.objects.create(signer=made.signers[0], opened_at=clock.now())
    for position in range(3):
        sign(made, position)
    work_off()
    assert Delivery.objects.exists() and ProofFile.objects.exists() and SearchTerm.objects.exists()
    assert remove_request(made.request.pk)
    assert {table for table, _, _ in columns()} & _GOES == set()


def test_nothing_else_goes_with_a_request(owner: ApiClient) -> None:
    """Pending requests, production requests and requests that no longer exist are left alone."""
    pending = owner.create(payload(owner.document())).json()["id"]
    production = api_client("pro", "production", owner.organization)
    proven = production.create(payload(production.document())).json()["id"]
    assert production.post(f"/signature_requests/{proven}/end", {"reason": "tried"}).status_code == 200
    assert not any(remove_request(each) for each in (pending, proven, 0))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM journal_entry WHERE request_id = %s", [proven])
    assert SignatureRequest.objects.count() == 2


def test_a_request_goes_with_all_that_refers_to_it() -> None:
    """A new table that refers to one in ``_GOES`` must be listed there, too."""
    referring = {
        model._meta.db_table
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
        and field.remote_field.model._meta.db_table in _GOES
        and field.remote_field.on_delete is not CASCADE
    }
    assert referring <= _GOES


def test_the_oldest_templates_of_the_sandbox_make_room(owner: ApiClient, settings: Any) -> None:
    limited(settings, kept_templates=2)
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
def test_on_the_plan_free_drafts_that_nobody_touched_and_bulk_sends_that_are_over_make_room(
    plan: str, kept: int, settings: Any
) -> None:
    limited(settings, kept_drafts=2, kept_bulk_rows=4)
    charles, made = author(plan), list[int]()
    for number in range(4):
        draft = editing.begin(charles.scope, charles.member.user)
        Draft.objects.filter(pk=draft.pk).update(updated_at=clock.now().replace(microsecond=number))
        made.append(draft.pk)
    assert set(Draft.objects.values_list("pk", flat=True)) == set(made[-kept:])
    template, people = template_of(charles), csv_of("A B a@example.com", "C D c@example.com")
    made = [bulk_of(charles, template, people).pk for _ in range(4)]
    assert set(BulkSend.objects.values_list("pk", flat=True)) == set(made[-kept:])
    BulkSend.objects.filter(pk=made[-2]).update(status="sending")
    made.append(bulk_of(charles, template, people).pk)
    assert BulkSend.objects.filter(pk=made[-3]).exists(), "one that is under way stays"
