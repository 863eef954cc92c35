"""Uploading and reading documents (rules 4.2 and 4.4). Foreign ids: test_tenancy."""

import hashlib
import io
import json
from datetime import timedelta
from typing import Any

import pikepdf
import pytest
from django.conf import settings as django_settings
from django.test import RequestFactory

from paraph.api.v1 import call
from paraph.documents.models import ORDINARY, Document
from paraph.kernel import clock
from paraph.pdf.untrusted.page_reading import find_tags
from paraph.storage import store
from tests.api.v1.api_clients import CONTRACT, ApiClient, error, invalid, stored_document
from tests.api.v1.contract import said
from tests.pdf.pdf_factory import paper, text
from tests.pdf.untrusted.test_inspect import signed
from tests.production import Client, respond


def multipart(*parts: tuple[str, bytes], end: bytes = b"--x--\r\n") -> bytes:
    """Return a multipart body with the boundary x, of header lines and contents."""
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
        "preflight": ORDINARY | row.preflight | {"page_count": 3, "sizes": [{"width": 595, "height": 842, "pages": 3}]},
    }
    assert store.get(row.object_key) == CONTRACT
    assert (row.pages, row.name, row.organization) == ([[595, 842]] * 3, "contract.pdf", owner.organization)
    assert owner.document() != row.pk  # the same file again makes another
    owner.upload(paper("", size=(1000, 300)))
    assert Document.objects.latest("pk").pages == [[1000, 300]]


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


def test_a_large_file_takes_the_way_over_the_disk(owner: ApiClient) -> None:
    large = CONTRACT + b"\n%" + b"x" * 3_000_000
    response = owner.upload(large)
    assert response.json()["sha256_hash"] == hashlib.sha256(large).hexdigest()
    assert response.json()["file_size"] == len(large)


def test_another_mime_type_is_named(owner: ApiClient) -> None:
    for content_type in ["image/png", "application/octet-stream", "application/x-pdf", "text/plain"]:
        message = invalid(owner.upload(content_type=content_type))
        assert message == f"The file must be of the MIME type application/pdf, not “{content_type}”."
    disposition = 'Content-Disposition: form-data; name="file"; filename="a.pdf"'
    without = send(owner, multipart((disposition, CONTRACT)))
    assert "application/pdf" in invalid(without)
    for content_type in ["Application/PDF", "application/pdf; version=1.7", 'APPLICATION/pdf ; name="a.pdf"; x=1']:
        answer = send(owner, multipart((f"{disposition}\r\nContent-Type: {content_type}", CONTRACT)))
        assert answer.status_code == 201, answer.content


def test_too_many_pages(owner: ApiClient, settings: Any) -> None:
    settings.PARAPH = django_settings.PARAPH.model_copy(update={"page_limit": 2})
    assert "2" in invalid(owner.upload())


def test_over_the_limit_is_413(owner: ApiClient, settings: Any) -> None:
    settings.PARAPH = django_settings.PARAPH.model_copy(update={"upload_limit_mb": 1})
    message = error(owner.upload(CONTRACT + b" " * 1024 * 1024), 413, "payload_too_large")
    assert message == said("uploadDocument", "payload_too_large").replace("50", "1")
    assert not Document.objects.exists()
    exact = CONTRACT + b" " * (1024 * 1024 - len(CONTRACT))
    assert owner.upload(exact).status_code == 201


def test_broken_bodies(owner: ApiClient) -> None:
    cases: list[tuple[bytes, str]] = [
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
    ]
    for content, reason in cases:
        assert reason in invalid(send(owner, content))
    for content_type in ["multipart/form-data", "multipart/form-data; boundary=é"]:
        body = multipart((pdf_part(), CONTRACT))
        assert "malformed" in invalid(send(owner, body, content_type))
    assert not Document.objects.exists()


def test_file_names_are_cleaned_and_other_fields_ignored(owner: ApiClient) -> None:
    note = ('Content-Disposition: form-data; name="note"', b"hello")
    for filename, kept in (
        ('filename="../../etc/passwd"', "passwd"),
        ('filename="a\0b.pdf"', "ab.pdf"),
        ("filename*=UTF-8''%E5%A5%91%E7%B4%84.pdf", "契約.pdf"),
        (f'filename="{"é" * 300}.pdf"', "é" * 255),
    ):
        for parts in ([], [note]):
            answer = send(owner, multipart(*parts, (pdf_part(filename=filename), CONTRACT)))
            assert answer.status_code == 201, filename
            assert Document.objects.get(pk=answer.json()["id"]).name == kept


def test_file_names_of_old_encodings_are_read(owner: ApiClient) -> None:
    body = multipart((pdf_part(), CONTRACT))
    after_another = multipart(('Content-Disposition: form-data; name="note"', b"hello"), (pdf_part(), CONTRACT))
    for name, kept in (
        ("Verträge.pdf".encode(), "Verträge.pdf"),
        ("Verträge.pdf".encode("latin-1"), "Verträge.pdf"),
        ("\xe9t\xe9 \x80.pdf".encode("latin-1"), "été €.pdf"),
        (bytes(range(0x80, 0x100)) + b".pdf", "€"),
        ("契約.pdf".encode("shift_jis"), ".pdf"),
        (b"\xc3.pdf", "Ã.pdf"),
    ):
        answer = send(owner, body.replace(b"a.pdf", name))
        assert answer.status_code == 201, name
        assert kept in Document.objects.get(pk=answer.json()["id"]).name
        answer = send(owner, after_another.replace(b"a.pdf", name))
        assert answer.status_code == 201 or "file name in UTF-8" in invalid(answer)


def send_chunked(owner: ApiClient, path: str, content: bytes, content_type: str) -> tuple[int, dict[str, Any]]:
    environ = RequestFactory().generic("POST", path, content_type=content_type).environ
    environ |= {"wsgi.input": io.BytesIO(content), "HTTP_TRANSFER_ENCODING": "chunked"}
    environ |= {"CONTENT_TYPE": content_type, "HTTP_X_API_KEY": owner.api_key}
    environ.pop("CONTENT_LENGTH", None)
    response = respond(environ)
    return response.status_code, json.loads(response.content)


def test_bodies_of_an_unknown_length(owner: ApiClient, settings: Any) -> None:
    """Files and JSON come in chunks, within the limits and beyond."""
    settings.PARAPH = settings.PARAPH.model_copy(update={"upload_limit_mb": 1})
    form, large = "multipart/form-data; boundary=x", b'{"signature_request": "' + b"x" * call.LARGEST + b'"}'
    status, answer = send_chunked(owner, "/api/v1/documents", multipart((pdf_part(), CONTRACT)), form)
    assert (status, answer["file_size"]) == (201, len(CONTRACT))
    status, answer = send_chunked(owner, "/api/v1/signature_requests", b'{"signature_request": {}}', "application/json")
    assert status == 422 and "mode: it is required." in answer["error"]["message"]
    for path, content, kind in (
        ("/api/v1/documents", multipart((pdf_part(), CONTRACT + b" " * 1024 * 1024)), form),
        ("/api/v1/signature_requests", large, "application/json"),
    ):
        status, answer = send_chunked(owner, path, content, kind)
        assert (status, answer["error"]["code"]) == (413, "payload_too_large")


def test_it_is_the_answer_of_the_upload_and_a_download_url(owner: ApiClient) -> None:
    created = owner.upload().json()
    read = owner.get(f"/documents/{created['id']}").json()
    address = read.pop("download_url")
    assert read == created
    response = Client().get(address.removeprefix("http://127.0.0.1:8000"))
    assert b"".join(response) == CONTRACT
    assert response["Content-Type"] == "application/pdf"
    assert "contract.pdf" in response["Content-Disposition"]


def test_the_download_url_works_for_fifteen_minutes(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    address = owner.get(f"/documents/{owner.document()}").json()["download_url"]
    began = clock.now()
    for seconds, status in ((0, 200), (899, 200), (901, 403)):
        monkeypatch.setattr(clock, "now", lambda moment=began + timedelta(seconds=seconds): moment)
        response = Client().get(address.removeprefix("http://127.0.0.1:8000"))
        response.close()
        assert response.status_code == status


def test_a_pending_document_has_nothing_to_download(owner: ApiClient) -> None:
    row = stored_document(owner, status="pending")
    content = owner.get(f"/documents/{row.pk}").json()
    assert content["status"] == "pending"
    assert content["download_url"] is None
    assert content["preflight"] is None  # a row from before reports were kept


def tags(owner: ApiClient, content: bytes, **query: Any) -> list[dict[str, Any]]:
    document = owner.upload(content).json()["id"]
    response = owner.get(f"/documents/{document}/tags", **query)
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = response.json()["data"]
    return found


def test_each_where_its_stamp_would_be_put_under(owner: ApiClient) -> None:
    found = tags(owner, CONTRACT)
    assert [(each["tag"], each["page_number"]) for each in found] == [("{{ada}}", 1), ("{{grace}}", 1), ("{{last}}", 3)]
    for each in found:
        at = find_tags(CONTRACT, [each["tag"]])[each["tag"]]
        assert (each["x"], each["y"], each["width"], each["height"]) == tuple(
            round(value, 3) for value in (at.x, at.y, at.width, at.height)
        )


def test_in_reading_order_and_as_often_as_they_stand_there(owner: ApiClient) -> None:
    page = text("{{c}}", 300, 400) + text("{{b}}", 100, 401) + text("{{a}}", 300, 700) + text("{{b}}", 100, 100)
    found = tags(owner, paper(page + text("{{Sign Here: No 1}} and {not} {{}}", 72, 50)))
    assert [each["tag"] for each in found] == ["{{a}}", "{{b}}", "{{c}}", "{{b}}", "{{Sign Here: No 1}}"]
    assert found[1]["y"] > found[3]["y"]


def test_another_text(owner: ApiClient) -> None:
    pdf = paper(text("Between Ada and Grace, and Ada", 72, 700), text("ADA {{ada}} Ada", 72, 700))
    found = tags(owner, pdf, text="Ada")
    assert [(each["tag"], each["page_number"]) for each in found] == [("Ada", 1), ("Ada", 1), ("Ada", 2)]
    assert found[0]["x"] < found[1]["x"]
    assert [each["tag"] for each in tags(owner, pdf, text="Between Ada")] == ["Between Ada"]
    assert tags(owner, pdf, text="Nobody") == tags(owner, paper(text("nothing", 72, 700))) == []


def test_at_most_500(owner: ApiClient) -> None:
    pages = [
        "".join(text(f"{{{{{page}-{n}}}}}", 60 + 60 * (n % 8), 800 - 14 * (n // 8)) for n in range(400))
        for page in range(2)
    ]
    found = tags(owner, paper(*pages))
    assert len(found) == 500 and found[0]["tag"] == "{{0-0}}" and found[-1]["tag"] == "{{1-99}}"


def test_a_text_has_bounds(owner: ApiClient) -> None:
    document = owner.document()
    for query, sentence in (
        ("?text=", "text: it must not be empty."),
        ("?text=" + "x" * 501, "text: it must have at most 500 characters."),
        ("?text=a%00", "text: it must not contain control characters or lone surrogates."),
        ("?text=a&text=b", "text is given more than once."),
    ):
        assert invalid(owner.get(f"/documents/{document}/tags{query}")) == sentence


def test_what_is_pending_or_deleted_has_none(owner: ApiClient) -> None:
    pending = stored_document(owner, status="pending")
    message = error(owner.get(f"/documents/{pending.pk}/tags"), 409, "conflict")
    assert message == f"document {pending.pk} is not ready yet."
    Document.objects.update(status="ready", file_deleted_at=clock.now())
    message = error(owner.get(f"/documents/{pending.pk}/tags"), 410, "gone")
    assert message == f"The file of document {pending.pk} has been deleted."
