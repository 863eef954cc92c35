"""The words of pages, for screen readers, selection and search."""

import pytest
from django.test import Client

from paraph.documents.models import Document
from paraph.storage import store
from tests.factories import Scene, scene
from tests.pdf.pdf_factory import paper

pytestmark = pytest.mark.django_db


def address(made: Scene, rest: str) -> str:
    return made.url(0, f"/documents/{made.request_documents[0].document_id}{rest}")


def test_the_words_of_a_page_and_where_they_stand(client: Client) -> None:
    made = scene(pages=2)
    answer = client.get(address(made, "/pages/2/text"))
    [line] = answer.json()["lines"]
    assert line["text"].startswith("Page 2 ")
    assert 70 < line["x"] < 75 and 100 < line["y"] < 150 and line["width"] > 100
    assert answer["Cache-Control"] == "private, max-age=900"


def test_a_whole_document_as_text(client: Client) -> None:
    page = client.get(address(scene(pages=2), "/text")).content.decode()
    assert "<h2" in page and "Page 1 of 2" in page and page.index("Page 1 ") < page.index("Page 2 of 2")


def test_a_page_without_text_says_so(client: Client) -> None:
    made = scene()
    store.put(Document.objects.get().object_key, paper(b""))
    assert client.get(address(made, "/pages/1/text")).json()["lines"] == []
    assert "This page has no text" in client.get(address(made, "/text")).content.decode()


def test_only_pages_that_are_there(client: Client) -> None:
    made, other = scene(), scene()
    assert client.get(address(made, "/pages/2/text")).status_code == 404
    foreign = other.request_documents[0].document_id
    assert client.get(made.url(0, f"/documents/{foreign}/pages/1/text")).status_code == 404
    assert client.get(made.url(0, f"/documents/{foreign}/text")).status_code == 404
    assert client.post(address(made, "/text")).status_code == 405


def test_the_text_is_read_once_and_kept(client: Client) -> None:
    made = scene(pages=2)
    first = client.get(address(made, "/pages/1/text")).json()
    store.delete(Document.objects.get().object_key)
    assert client.get(address(made, "/pages/1/text")).json() == first
    with pytest.raises(FileNotFoundError):
        client.get(address(made, "/pages/2/text"))


def test_what_could_not_be_read_is_not_kept(client: Client) -> None:
    made = scene()
    key = Document.objects.get().object_key
    whole = store.get(key)
    store.put(key, b"%PDF-1.7 nothing")
    assert client.get(address(made, "/pages/1/text")).json() == {"width": 595, "height": 842, "lines": []}
    Document.objects.update(sha256=b"\1" * 32)  # a file that was refused is refused again for ten minutes
    store.put(key, whole)
    assert client.get(address(made, "/pages/1/text")).json()["lines"]
