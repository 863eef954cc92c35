"""An upload leaves a document with its file, a creation a request with all that it has, or nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, OperationalError, connection, transaction

from paraph.audit_trail.models import Entry
from paraph.database import rows
from paraph.documents.models import Document
from paraph.flow.sending import create as creating
from paraph.flow.sending.upload import IncomingFile, upload
from paraph.kernel import clock
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.plan import make_plan
from paraph.storage import store
from paraph.tenants.models import Application, Organization
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import api_client, error, payload
from tests.factories import pdf
from tests.pdf.pdf_factory import paper

pytestmark = pytest.mark.django_db


@pytest.fixture
def scope() -> TenantScope:
    organization = Organization.objects.create(name="Acme", plan="free")
    application = Application.objects.create(
        organization=organization, environment="sandbox", name="x", webhook_secret_encrypted=b""
    )
    return TenantScope(organization.pk, "sandbox", "free", application.pk)


def sent(scope: TenantScope, name: str = "a.pdf", content: bytes | None = None) -> Document:
    with store.stage() as draft:
        file = IncomingFile(draft)
        file.write(content or pdf())
        return upload(scope, file, name, "application/pdf")


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
    assert sent(scope).status == "ready"
    assert seen == [True]


def test_an_outage_of_the_store_leaves_nothing(scope: TenantScope, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_descriptor: int) -> None:
        raise OSError("no space left on device")

    before = stored()
    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="no space"):
        sent(scope)
    assert not Document.objects.exists() and stored() == before


def test_a_row_that_is_not_taken_leaves_no_object(scope: TenantScope) -> None:
    before = stored()
    with pytest.raises(DataError), transaction.atomic():
        sent(replace(scope, environment="longer than the column"))
    assert stored() == before


def test_an_object_stays_whose_row_may_be_there(scope: TenantScope, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection was lost after the row was written, and before anybody said so."""
    insert = rows.insert_whole

    def lost(made: list[Any]) -> None:
        insert(made)
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(rows, "insert_whole", lost)
    with pytest.raises(OperationalError):
        sent(scope)
    assert Document.objects.get().object_key in stored()


def test_a_name_that_cannot_be_printed_gets_another(scope: TenantScope) -> None:
    assert sent(scope, " \u202e\x07 ").name == "document.pdf"


def test_contents_are_read_once_for_all_that_is_drawn_after_them(scope: TenantScope) -> None:
    assert sent(scope).clean_contents
    assert not sent(scope, content=paper("0 0 5 5 re f q")).clean_contents
    damaged = paper("0 0 5 5 re f").replace(b"startxref", b"startxrex")
    assert sent(scope, content=damaged).clean_contents  # of the prepared file, which is the one that is sealed


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


@pytest.mark.django_db
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
