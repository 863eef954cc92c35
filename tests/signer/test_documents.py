"""Documents on the signing page: each page at its size, long ones at no more cost than short ones, and their words."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from paraph.documents.models import Document
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.signature_requests.models import Placement, RequestDocument
from paraph.signer.templatetags import signer as signer_tags
from paraph.storage import store
from tests.factories import Scene, scene, sign
from tests.pdf.pdf_factory import paper

pytestmark = pytest.mark.django_db


def figures(client: Client, made: Scene) -> list[str]:
    return re.findall(r'<figure class="page".*?</figure>', client.get(made.url()).content.decode(), re.DOTALL)


def test_every_page_is_shown_with_its_own_number_size_and_initials(client: Client) -> None:
    made = scene(pages=12, documents=2, initials_required=True, signers=2)
    sizes = [[595, 842] if number % 3 else [842.5, 595] for number in range(1, 13)]
    document = made.request_documents[0].document_id
    Document.objects.filter(pk=document).update(name="<1> 0 & 0.pdf", pages=sizes)
    shown = figures(client, made)
    assert len(shown) == 24
    for number, (figure, size) in enumerate(zip(shown, sizes, strict=False), start=1):
        assert f'data-page="{document}/{number}"' in figure
        assert f'/documents/{document}/pages/{number}.webp" width="{size[0]:.0f}" height="{size[1]:.0f}"' in figure
        assert f'viewBox="0 0 {size[0]:g} {size[1]:g}"' in figure
        assert f"Page {number} of &lt;1&gt; 0 &amp; 0.pdf" in figure
        assert f"Page {number} of 12" in figure and "\0" not in figure
        assert figure.count('class="initials"') == 1 and figure.count("data-place") == (number == 12)
    for number, figure in enumerate(shown):  # only the first loads before it comes near
        assert ('loading="lazy"' in figure) == (number > 0) and ('fetchpriority="high"' in figure) == (number == 0)


def test_initials_are_shown_where_they_are_sealed_also_on_a_document_that_not_all_sign(client: Client) -> None:
    made = scene(documents=2, initials_required=True, signers=3)
    second = made.request_documents[1]
    Placement.objects.filter(request_document=second, signer=made.signers[1]).delete()
    shown = [
        [float(side) for side in re.findall(r'class="initials"[^>]*><rect x="([\d.]+)"', figure)]
        for position in (0, 2)
        for figure in figures(client, Scene(made.request, [made.signers[position]], []))
    ]
    for position in range(3):
        sign(made, position, initials={"type": "typed"})
    rows = RequestDocument.objects.select_related("request", "document").order_by("position")
    sealed = [[mark.x for mark in stamp_marks(row).marks if mark.height == 24] for row in rows]
    assert [len(marks) for marks in sealed] == [3, 2]
    expected = [sealed[0][0], sealed[1][0], sealed[0][2], sealed[1][1]]
    assert shown == [[pytest.approx(left, abs=0.01)] for left in expected]


def test_pages_that_differ_in_their_number_alone_are_rendered_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []
    render = signer_tags._rendered

    def counting(context: Any, document: dict[str, Any], page: dict[str, Any], *, is_first: bool) -> Any:
        rendered.append(page["number"])
        return render(context, document, page, is_first=is_first)

    monkeypatch.setattr(signer_tags, "_rendered", counting)
    assert len(figures(client, scene(pages=40, initials_required=True))) == 40
    assert rendered == ["1", "\0", "40"]  # the first is loaded at once, the last has the place to sign


def test_more_pages_and_documents_take_no_more_statements(client: Client) -> None:
    counts = []
    for made in (scene(pages=1, initials_required=True), scene(pages=30, documents=3, initials_required=True)):
        statements: list[str] = []

        def note(execute: Any, sql: str, *rest: Any, noted: list[str] = statements) -> Any:
            noted.append(sql)
            return execute(sql, *rest)

        with connection.execute_wrapper(note):
            client.get(made.url())
        counts.append(len(statements))
    assert counts[0] == counts[1] > 0


def address(made: Scene, rest: str) -> str:
    return made.url(0, f"/documents/{made.request_documents[0].document_id}{rest}")


def test_the_words_of_a_page_and_where_they_stand_and_of_a_whole_document(client: Client) -> None:
    made = scene(pages=2)
    answer = client.get(address(made, "/pages/2/text"))
    [line] = answer.json()["lines"]
    assert line["text"].startswith("Page 2 ")
    assert 70 < line["x"] < 75 and 100 < line["y"] < 150 and line["width"] > 100
    assert answer["Cache-Control"] == "private, max-age=900"
    whole = client.get(address(made, "/text")).content.decode()
    assert "<h2" in whole and "Page 1 of 2" in whole and whole.index("Page 1 ") < whole.index("Page 2 of 2")
    foreign = scene().request_documents[0].document_id
    for missing in (address(made, "/pages/3/text"), made.url(rest=f"/documents/{foreign}/pages/1/text"),
                    made.url(rest=f"/documents/{foreign}/text")):  # fmt: skip
        assert client.get(missing).status_code == 404


def test_a_page_without_text_says_so(client: Client, made: Scene) -> None:
    store.put(Document.objects.get().object_key, paper(b""))
    assert client.get(address(made, "/pages/1/text")).json()["lines"] == []
    assert "This page has no text" in client.get(address(made, "/text")).content.decode()
    assert client.post(address(made, "/text")).status_code == 405


def test_the_text_is_read_once_and_kept(client: Client) -> None:
    made = scene(pages=2)
    first = client.get(address(made, "/pages/1/text")).json()
    store.delete(Document.objects.get().object_key)
    assert client.get(address(made, "/pages/1/text")).json() == first
    with pytest.raises(FileNotFoundError):
        client.get(address(made, "/pages/2/text"))


def test_what_could_not_be_read_is_not_kept(client: Client, made: Scene) -> None:
    key = Document.objects.get().object_key
    whole = store.get(key)
    store.put(key, b"%PDF-1.7 nothing")
    assert client.get(address(made, "/pages/1/text")).json() == {"width": 595, "height": 842, "lines": []}
    Document.objects.update(sha256=b"\1" * 32)  # a file that was refused is refused again for ten minutes
    store.put(key, whole)
    assert client.get(address(made, "/pages/1/text")).json()["lines"]
