"""Room for uploads: the disk's floor, the quota, and which uploads make room."""

from datetime import timedelta
from typing import Any

import pytest

from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.housekeeping.make_room import UNUSED_FOR, room_for
from paraph.flow.sealing.finalize import prove, seal
from paraph.flow.sending.create import Sender, create
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest
from paraph.signature_requests.plan import make_plan
from paraph.storage import store
from paraph.tenants.limits import stored_bytes
from paraph.tenants.models import Application, Organization
from paraph.tenants.scope import TenantScope
from tests.factories import VISITOR, pdf, scene, sign

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024


def caller_of(organization: Organization, environment: str = "sandbox") -> TenantScope:
    application = Application.objects.create(
        organization=organization, environment=environment, name="x", webhook_secret_encrypted=b""
    )
    return TenantScope(organization.pk, environment, "pro", application.pk)


@pytest.fixture
def scope() -> TenantScope:
    return caller_of(Organization.objects.create(name="Acme", plan="pro"))


def sent(scope: TenantScope, age: timedelta = timedelta()) -> Document:
    content = pdf()
    with room_for(scope, len(content)), store.stage() as draft:
        file = IncomingFile(draft)
        file.write(content)
        document = upload(scope, file, "a.pdf", "application/pdf")
    Document.objects.filter(pk=document.pk).update(created_at=clock.now() - age)
    return document


def payload(document: Document) -> dict[str, Any]:
    stamps = [{"type": "coordinates", "value": {"page_number": 1, "x": 72, "y": 72}}]
    return {
        "mode": "parallel",
        "validity_days": 7,
        "signers": [{"ref": "a", "first_name": "A", "last_name": "B", "email": "a@example.com"}],
        "documents": [{"id": document.pk, "signers": [{"signer_ref": "a", "stamps": stamps}]}],
    }


def limited(settings: Any, **limits: int) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update=limits)


def filled(scope: TenantScope, settings: Any, **limits: int) -> None:
    """The quota is used up but for half an upload: a document of that size stands in for many."""
    limited(settings, sandbox_storage_mb=1, production_storage_mb=1)
    Document.objects.create(
        organization_id=scope.organization_id, environment=scope.environment, name="large", sha256=b"",
        file_size=MIB - stored_bytes(scope) - 300, pages=[], object_key=f"documents/{scope.environment}",
    )  # fmt: skip


def test_what_a_tenant_stores_is_counted_as_it_comes_and_goes(scope: TenantScope) -> None:
    first, second = sent(scope), sent(scope)
    assert stored_bytes(scope) == first.file_size + second.file_size
    elsewhere = caller_of(Organization.objects.get(pk=scope.organization_id), "production")
    assert stored_bytes(elsewhere) == 0
    second.delete()
    assert stored_bytes(scope) == first.file_size


def test_what_stands_in_for_an_upload_counts(scope: TenantScope) -> None:
    document = sent(scope)
    document.pk = None
    document.object_key, document.prepared_sha256, document.prepared_size = "documents/other.pdf", b"x" * 32, 7
    document.save(force_insert=True)
    assert stored_bytes(scope) == 2 * document.file_size + 7
    document.delete()
    assert stored_bytes(scope) == document.file_size


def test_sealed_documents_and_proofs_count() -> None:
    made = scene()
    sign(made)
    scope = TenantScope(made.request.organization_id, made.request.environment, "pro", 0)
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
    create(scope, payload(used), Sender(VISITOR))
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
    create(scope, payload(document), Sender(VISITOR))
    with pytest.raises(DomainError) as refused:
        create(scope, payload(document), Sender(VISITOR))
    assert refused.value.code == "insufficient_storage" and "1 MiB" in refused.value.message
    SignatureRequest.objects.update(status="expired")
    assert create(scope, payload(document), Sender(VISITOR))


def test_a_request_never_loses_its_own_upload_to_its_seals(scope: TenantScope, settings: Any) -> None:
    used = sent(scope, 2 * UNUSED_FOR)
    filled(scope, settings)
    with pytest.raises(DomainError, match="has reached its storage limit"):
        create(scope, payload(used), Sender(VISITOR))
    assert Document.objects.filter(pk=used.pk).exists()


def test_production_removes_nothing(settings: Any) -> None:
    scope = caller_of(Organization.objects.create(name="Acme", plan="pro"), "production")
    old = sent(scope, 2 * UNUSED_FOR)
    filled(scope, settings)
    with pytest.raises(DomainError, match="has reached its storage limit"):
        sent(scope)
    assert Document.objects.filter(pk=old.pk).exists()


def test_another_tenant_is_not_held_to_account(scope: TenantScope, settings: Any) -> None:
    theirs = sent(caller_of(Organization.objects.create(name="Other", plan="pro")), 2 * UNUSED_FOR)
    filled(scope, settings)
    with pytest.raises(DomainError, match="has reached its storage limit"):
        sent(scope)
    assert Document.objects.filter(pk=theirs.pk).exists()
    sent(TenantScope(theirs.organization_id, "sandbox", "pro", 0))


def test_without_a_quota_nothing_is_asked(scope: TenantScope, settings: Any) -> None:
    filled(scope, settings)
    limited(settings, sandbox_storage_mb=0)
    assert sent(scope)


def test_below_the_floor_of_the_disk_nothing_is_taken(
    scope: TenantScope, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, free_space_mb=10)
    monkeypatch.setattr(store, "free_bytes", lambda: 10 * MIB)
    with pytest.raises(DomainError) as refused:
        sent(scope)
    assert refused.value.code == "insufficient_storage"
    limited(settings, free_space_mb=0)
    assert sent(scope)


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
        create(scope, payload(document), Sender(VISITOR))
