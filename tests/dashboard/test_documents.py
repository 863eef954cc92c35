"""Documents in the dashboard: uploaded by the verb of the API, listed."""

import io
import re
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from paraph.documents.models import Document, ObjectToDelete
from paraph.tenants.models import Activity, Organization, Role
from tests.api.v1.api_clients import CONTRACT, ApiClient
from tests.dashboard.conftest import LogIn, no_place_left, pdf, read, rows_of
from tests.tenancy import create_application

pytestmark = pytest.mark.django_db


def test_an_upload_is_a_production_document(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    address = f"/app/{organization.pk}/documents"
    answer = client.post(address, {"file": [pdf(), pdf(name="b.pdf")]})
    assert (answer.status_code, answer.headers["Location"]) == (303, address)
    assert [row.environment for row in Document.objects.all()] == ["production", "production"]
    key = create_application(organization.pk, "production", "shop").api_key
    assert ApiClient(key).get("/documents").json()["pagination"]["count"] == 2
    sandbox = create_application(organization.pk, "sandbox", "trial").api_key
    assert ApiClient(sandbox).get("/documents").json()["pagination"]["count"] == 0
    page = read(client.get(address))
    assert page.count("data-id=") == 2 and "Unused" in page and "2 documents were uploaded" in page


def test_the_good_files_are_kept_and_the_others_named(organization: Organization, client: Client) -> None:
    documents = f"/app/{organization.pk}/documents"
    files = [pdf(b"hello", "note.pdf"), pdf(name="photo.png", content_type="image/png")]
    files += [pdf(content_type="application/octet-stream")]  # of a browser whose system knows no PDFs
    said = read(client.post(documents, {"file": files}), 422)
    assert 'role="alert"' in said and "note.pdf: The file is not a PDF." in said
    assert "photo.png is not a PDF. Save it as PDF and try again." in said
    assert Document.objects.get().name == "contract.pdf"
    assert "Choose a PDF file." in read(client.post(documents, {}), 422)


def test_a_file_beyond_the_limit_is_refused(log_in: LogIn, organization: Organization, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"upload_limit_mb": 1})
    _, client = log_in()
    for size in (1_100_000, 4_000_000):
        answer = client.post(f"/app/{organization.pk}/documents", {"file": pdf(b"%PDF" + bytes(size))})
        assert "larger than the limit of 1 MiB" in read(answer, 422)
    assert not Document.objects.exists()


def test_files_are_read_on_no_other_page_and_for_nobody_else(log_in: LogIn, organization: Organization) -> None:
    """Observers read the list, but upload nothing."""
    _, observer = log_in(Role.OBSERVER)
    _, client = log_in()
    documents = f"/app/{organization.pk}/documents"
    assert observer.post(documents, {"file": pdf()}).status_code == 403
    assert Client().post(documents, {"file": pdf()}).status_code == 303
    client.post(f"/app/{organization.pk}/drafts", {"file": pdf()})
    assert not Document.objects.exists()
    ApiClient(create_application(organization.pk, "production", "shop").api_key).document()
    page = read(observer.get(documents))
    assert "Not searched yet" in page and "Upload</button>" not in page and "New request" not in page


def test_a_long_list_goes_on_with_older_documents(log_in: LogIn, organization: Organization, monkeypatch: Any) -> None:
    monkeypatch.setattr("paraph.dashboard.documents._AT_ONCE", 2)
    _, client = log_in()
    ApiClient(create_application(organization.pk, "production", "shop").api_key).document()
    for number in range(4):
        client.post(f"/app/{organization.pk}/documents", {"file": pdf(name=f"{number}.pdf")})
    seen, older = list[int](), [""]
    while older:
        page = read(client.get(f"/app/{organization.pk}/documents{older[0]}"))
        seen += rows_of(page)
        older = re.findall(r'href="(\?before=\w+)"', page)
    assert seen == sorted(Document.objects.values_list("pk", flat=True), reverse=True)


def test_a_document_shows_its_tags_and_pages(organization: Organization, client: Client) -> None:
    client.post(f"/app/{organization.pk}/documents", {"file": pdf()})
    address = f"/app/{organization.pk}/documents/{Document.objects.get().pk}"
    page = read(client.get(address))
    assert [tag in page for tag in ("{{ada}}", "{{grace}}", "{{last}}")] == [True] * 3
    assert client.get(f"{address}/pages/3.webp").content[8:12] == b"WEBP"
    assert client.get(f"{address}/pages/4.webp").status_code == 404
    with no_place_left(organization.pk):
        assert client.get(f"{address}/pages/1.webp").status_code == 503, "while the service is busy"
    assert client.get(f"{address}/pages/1.webp").status_code == 200


def test_what_members_upload_and_delete_stands_in_the_activity_log(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    client.post(f"/app/{organization.pk}/documents", {"file": [pdf(), pdf(b"hello", "note.pdf")]})
    document = Document.objects.get()
    facts = {"environment": "production", "file_size": len(CONTRACT), "sha256_hash": sha256(CONTRACT).hexdigest()}
    [uploaded] = Activity.objects.filter(action="document.uploaded")
    assert (uploaded.actor, uploaded.subject) == (member.user.email, f"document {document.pk}")
    assert (uploaded.before, uploaded.after) == ({}, facts)
    page = f"/app/{organization.pk}/documents/{document.pk}"
    assert f"{page}/delete" in read(client.get(page))
    assert "“contract.pdf” will be deleted" in read(client.get(f"{page}/delete"))
    assert Document.objects.exists(), "it only asked"
    deleted = client.post(f"{page}/delete")
    assert (deleted.status_code, deleted["Location"]) == (303, f"/app/{organization.pk}/documents")
    assert not Document.objects.exists() and client.get(page).status_code == 404
    assert set(ObjectToDelete.objects.values_list("object_key", flat=True)) == {document.object_key}
    [gone] = Activity.objects.filter(action="document.deleted")
    assert (gone.subject, gone.before, gone.after) == (f"document {document.pk}", facts, {})
    log = read(client.get(f"/app/{organization.pk}/activity", headers={"Accept-Language": "de"}))
    assert "Dokument hochgeladen" in log and "Dokument gelöscht" in log


def test_a_document_in_use_and_one_of_the_sandbox_stay(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    used, tried = (
        ApiClient(create_application(organization.pk, environment, environment).api_key).document()
        for environment in ("production", "sandbox")
    )
    assert not Activity.objects.filter(action="document.uploaded").exists(), "of members alone"
    client.post(f"/app/{organization.pk}/drafts", {"document": used})
    delete = f"/app/{organization.pk}/documents/{used}/delete"
    assert delete not in read(client.get(delete.removesuffix("/delete")))
    assert "uses this document, so it cannot be deleted" in read(client.post(delete), 422)
    assert client.post(f"/app/{organization.pk}/documents/{tried}/delete").status_code == 404
    assert Document.objects.count() == 2


def test_each_document_has_a_small_picture(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.OBSERVER)
    documents = f"/app/{organization.pk}/documents"
    log_in(Role.MEMBER)[1].post(documents, {"file": pdf()})
    address = f"{documents}/{Document.objects.get().pk}/thumbnail.webp"
    assert f'src="{address}"' in read(client.get(documents))
    answer, again = client.get(address), client.get(address)
    assert (answer.status_code, answer.headers["Content-Type"], answer.content) == (200, "image/webp", again.content)
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert max(picture.size) in range(180, 200)
    assert answer.headers["Cache-Control"] == "private, max-age=900", "a list does not ask for it at each visit"
