"""Upload leaves a document with its file, or nothing."""

import io

import pytest

from paraph.documents.models import Document
from paraph.flow.upload import upload
from paraph.organizations.models import Application, Organization
from paraph.organizations.scope import Caller
from paraph.storage import store
from tests.scene import pdf

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    organization = Organization.objects.create(name="Acme", plan="free")
    application = Application.objects.create(
        organization=organization, environment="sandbox", name="x", webhook_secret_encrypted=b""
    )
    return Caller(organization.pk, "sandbox", "free", application.pk)


def test_the_row_is_pending_until_the_object_is_stored(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    put = store.put

    def watched(key: str, content: object) -> None:
        seen.append(Document.objects.get(object_key=key).status)
        put(key, content)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "put", watched)
    assert upload(caller, io.BytesIO(pdf()), "a.pdf", "application/pdf").status == "ready"
    assert seen == ["pending"]
    assert Document.objects.get().status == "ready"


def test_an_outage_of_the_store_leaves_nothing(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(store, "put", broken)
    with pytest.raises(OSError, match="no space"):
        upload(caller, io.BytesIO(pdf()), "a.pdf", "application/pdf")
    assert not Document.objects.exists()


def test_a_name_that_cannot_be_printed_gets_another(caller: Caller) -> None:
    assert upload(caller, io.BytesIO(pdf()), " \u202e\x07 ", "application/pdf").name == "document.pdf"
