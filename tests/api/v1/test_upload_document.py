"""POST /documents (rule 4.2)."""

import hashlib
from typing import Any

import pikepdf
import pytest
from django.conf import settings as django_settings

from paraph.documents.models import Document
from paraph.storage import store
from tests.api.v1.api_clients import CONTRACT, ApiClient, error
from tests.pdf.pdf_factory import paper
from tests.pdf.untrusted.test_inspect import signed

LIMIT = "PARAPH_UPLOAD_LIMIT_MB"


def multipart(*parts: tuple[str, bytes], end: bytes = b"--x--\r\n") -> bytes:
    """A body with the boundary x, of header lines and contents."""
    return b"".join(b"--x\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts) + end


def pdf_part(field: str = "file", filename: str = 'filename="a.pdf"', content_type: str = "application/pdf") -> str:
    return f'Content-Disposition: form-data; name="{field}"; {filename}\r\nContent-Type: {content_type}'


def send(owner: ApiClient, body: bytes, content_type: str = "multipart/form-data; boundary=x") -> Any:
    return owner.send("POST", "/documents", body, content_type)


def test_the_answer_is_the_document_without_download_url(owner: ApiClient) -> None:
    response = owner.upload()
    assert response.status_code == 201
    row = Document.objects.get()
    assert response.json() == {
        "id": row.pk,
        "content_type": "pdf",
        "sha256_hash": hashlib.sha256(CONTRACT).hexdigest(),
        "file_size": len(CONTRACT),
        "status": "ready",
        "created_at": row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "preflight": row.preflight,
    }


def test_the_preflight_report_tells_what_the_file_holds(owner: ApiClient) -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        document.pages[0].Rotate = 90

    encryption = pikepdf.Encryption(user="", owner="o", R=6)
    told = owner.upload(paper("", prepare=prepare, encryption=encryption)).json()["preflight"]
    assert told["sizes"] == [{"width": 842, "height": 595, "pages": 1}]
    assert (told["page_count"], told["rotated_pages"], told["scripts"], told["launch_actions"]) == (1, 1, 1, 0)
    assert (told["encryption"]["method"], told["encryption"]["bits"]) == ("aesv3", 256)
    assert owner.upload(signed()).json()["preflight"]["signatures"]["count"] == 1
    listed = owner.get("/documents").json()["data"]
    assert listed and all("preflight" not in entry for entry in listed)


def test_the_very_bytes_are_stored(owner: ApiClient) -> None:
    owner.upload()
    row = Document.objects.get()
    assert store.get(row.object_key) == CONTRACT
    assert row.pages == [[595, 842]] * 3
    assert row.name == "contract.pdf"
    assert row.organization == owner.organization


def test_a_large_file_takes_the_way_over_the_disk(owner: ApiClient) -> None:
    large = CONTRACT + b"\n%" + b"x" * 3_000_000
    response = owner.upload(large)
    assert response.json()["sha256_hash"] == hashlib.sha256(large).hexdigest()
    assert response.json()["file_size"] == len(large)


@pytest.mark.parametrize("content_type", ["image/png", "application/octet-stream", "application/x-pdf", "text/plain"])
def test_another_mime_type_is_named(owner: ApiClient, content_type: str) -> None:
    message = error(owner.upload(content_type=content_type), 422, "validation_error")
    assert message == f"The file must be of the MIME type application/pdf, not “{content_type}”."


@pytest.mark.parametrize(
    "content_type", ["Application/PDF", "application/pdf; version=1.7", 'APPLICATION/pdf ; name="a.pdf"; x=1']
)
def test_capital_letters_and_parameters_make_no_other_mime_type(owner: ApiClient, content_type: str) -> None:
    disposition = 'Content-Disposition: form-data; name="file"; filename="a.pdf"'
    answer = send(owner, multipart((f"{disposition}\r\nContent-Type: {content_type}", CONTRACT)))
    assert answer.status_code == 201, answer.content


def test_no_mime_type_is_refused(owner: ApiClient) -> None:
    body = multipart(('Content-Disposition: form-data; name="file"; filename="a.pdf"', CONTRACT))
    assert "application/pdf" in error(send(owner, body), 422, "validation_error")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is not a PDF."),
        (b"\x89PNG\r\n", "The file is not a PDF."),
        (b"%PDF-1.7\nrubbish", "The file cannot be read as a PDF."),
    ],
)
def test_what_is_no_pdf_is_refused_with_the_reason(owner: ApiClient, content: bytes, reason: str) -> None:
    assert error(owner.upload(content), 422, "validation_error") == reason
    assert not Document.objects.exists()


def test_too_many_pages(owner: ApiClient, settings: Any) -> None:
    settings.PARAPH = django_settings.PARAPH.model_copy(update={"page_limit": 2})
    assert "2" in error(owner.upload(), 422, "validation_error")


def test_over_the_limit_is_413(owner: ApiClient, settings: Any) -> None:
    settings.PARAPH = django_settings.PARAPH.model_copy(update={"upload_limit_mb": 1})
    message = error(owner.upload(CONTRACT + b" " * 1024 * 1024), 413, "payload_too_large")
    assert message == "The file is larger than the limit of 1 MiB."
    assert not Document.objects.exists()
    exact = CONTRACT + b" " * (1024 * 1024 - len(CONTRACT))
    assert owner.upload(exact).status_code == 201


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (multipart((pdf_part("document"), CONTRACT)), "in the field “file”"),
        (multipart(('Content-Disposition: form-data; name="file"', CONTRACT)), "in the field “file”"),
        (multipart((pdf_part(filename='filename=""'), CONTRACT)), "in the field “file”"),
        (multipart(), "in the field “file”"),
        (multipart((pdf_part(), CONTRACT), (pdf_part(), CONTRACT)), "only one file"),
        (multipart((pdf_part(), CONTRACT), (pdf_part("other"), CONTRACT)), "only one file"),
        (multipart((pdf_part(), CONTRACT), end=b""), "malformed"),
        (multipart((pdf_part(), CONTRACT))[:-200], "malformed"),
        (b"rubbish", "malformed"),
        (multipart(*[(f'Content-Disposition: form-data; name="f{n}"', b"1") for n in range(20_001)]), "malformed"),
        (multipart(('Content-Disposition: form-data; name="f"', b"x" * 5_000_000)), "malformed"),
    ],
)
def test_broken_bodies(owner: ApiClient, body: bytes, reason: str) -> None:
    assert reason in error(send(owner, body), 422, "validation_error")
    assert not Document.objects.exists()


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=é"])
def test_no_usable_boundary(owner: ApiClient, content_type: str) -> None:
    assert "malformed" in error(send(owner, multipart((pdf_part(), CONTRACT)), content_type), 422, "validation_error")


def test_other_fields_are_ignored(owner: ApiClient) -> None:
    body = multipart(('Content-Disposition: form-data; name="note"', b"hello"), (pdf_part(), CONTRACT))
    assert send(owner, body).status_code == 201


@pytest.mark.parametrize(
    ("filename", "kept"),
    [
        ('filename="../../etc/passwd"', "passwd"),
        ('filename="a\0b.pdf"', "ab.pdf"),
        ("filename*=UTF-8''%E5%A5%91%E7%B4%84.pdf", "契約.pdf"),
        (f'filename="{"é" * 300}.pdf"', "é" * 255),
    ],
)
def test_file_names_are_cleaned(owner: ApiClient, filename: str, kept: str) -> None:
    assert send(owner, multipart((pdf_part(filename=filename), CONTRACT))).status_code == 201
    assert Document.objects.get().name == kept


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Verträge.pdf".encode(), "Verträge.pdf"),
        ("Verträge.pdf".encode("latin-1"), "Verträge.pdf"),
        ("\xe9t\xe9 \x80.pdf".encode("latin-1"), "été €.pdf"),
        (bytes(range(0x80, 0x100)) + b".pdf", "€"),
        ("契約.pdf".encode("shift_jis"), ".pdf"),
        (b"\xc3.pdf", "Ã.pdf"),
    ],
)
def test_file_names_of_old_encodings_are_read(owner: ApiClient, name: bytes, kept: str) -> None:
    body = multipart((pdf_part(), CONTRACT)).replace(b"a.pdf", name)
    assert send(owner, body).status_code == 201
    assert kept in Document.objects.get().name
    after_another = multipart(('Content-Disposition: form-data; name="note"', b"hello"), (pdf_part(), CONTRACT))
    answer = send(owner, after_another.replace(b"a.pdf", name))
    assert answer.status_code == 201 or "file name in UTF-8" in error(answer, 422, "validation_error")


def test_the_same_file_twice_makes_two_documents(owner: ApiClient) -> None:
    assert owner.document() != owner.document()


def test_a_page_of_any_size_is_measured(owner: ApiClient) -> None:
    owner.upload(paper("", size=(1000, 300)))
    assert Document.objects.get().pages == [[1000, 300]]
