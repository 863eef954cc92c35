"""GET /documents/{id}/tags: what stands in double braces, and where."""

from typing import Any

import pytest

from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.pdf.untrusted.page_reading import find_tags
from tests.api.v1.api_clients import CONTRACT, ApiClient, error, stored_document
from tests.pdf.pdf_factory import paper, text


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
    found = tags(owner, paper(page))
    assert [each["tag"] for each in found] == ["{{a}}", "{{b}}", "{{c}}", "{{b}}"]
    assert found[1]["y"] > found[3]["y"]


def test_as_it_stands_there(owner: ApiClient) -> None:
    found = tags(owner, paper(text("{{Sign Here: No 1}} and {not} {{}}", 72, 700)))
    assert [each["tag"] for each in found] == ["{{Sign Here: No 1}}"]


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


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?text=", "text: it must not be empty."),
        ("?text=" + "x" * 501, "text: it must have at most 500 characters."),
        ("?text=a%00", "text: it must not contain control characters or lone surrogates."),
        ("?text=a&text=b", "text is given more than once."),
    ],
)
def test_a_text_has_bounds(owner: ApiClient, query: str, sentence: str) -> None:
    document = owner.document()
    assert error(owner.get(f"/documents/{document}/tags{query}"), 422, "validation_error") == sentence


def test_what_is_pending_or_deleted_has_none(owner: ApiClient) -> None:
    pending = stored_document(owner, status="pending")
    message = error(owner.get(f"/documents/{pending.pk}/tags"), 409, "conflict")
    assert message == f"document {pending.pk} is not ready yet."
    Document.objects.update(status="ready", file_deleted_at=clock.now())
    message = error(owner.get(f"/documents/{pending.pk}/tags"), 410, "gone")
    assert message == f"The file of document {pending.pk} has been deleted."
