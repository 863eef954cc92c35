"""Values of fields on the sealed documents."""

import io
from typing import Any

import pikepdf
import pypdfium2 as pdfium
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.evidence.models import SealedDocument
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import seal
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.fields.kinds import Value
from paraph.signature_requests.models import Field, Signer
from paraph.storage import store
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db

FIELDS: list[tuple[str, Value | None, str]] = [
    ("text", "Anna #b[x] (y)", "Anna #b[x] (y)"),
    ("multiline", "One\nTwo", "One Two"),
    ("number", "1234.50", "1.234,50"),
    ("date", "2026-03-01", "1. März 2026"),
    ("choice", "By post", "By post"),
    ("signed_on", "2026-11-21", "21. November 2026"),
    ("full_name", "Ada Lovelace", "Ada Lovelace"),
    ("email", "ada1@example.com", "ada1@example.com"),
    ("text", None, ""),
]


def completed(values: list[Value | None], **how: Any) -> Scene:
    """Everyone has signed with these values, each in the field of its place."""
    made = scene(**how)
    for position, signer in enumerate(made.signers):
        sign(made, position)
        signed = Signer.objects.get(pk=signer.pk)
        own = Field.objects.filter(signer=signer).order_by("request_document", "position")
        entered = zip(own, values * len(made.request_documents), strict=True)
        write(signed, {field.pk: value for field, value in entered if value is not None})
        signed.save(update_fields=["fields_encrypted"])
    return made


def content_of(made: Scene, position: int = 0) -> bytes:
    seal(made.request_documents[position].pk)
    return store.get(SealedDocument.objects.get(request_document=made.request_documents[position]).object_key)


def texts_at(content: bytes, fields: list[Field]) -> list[str]:
    with pdfium.PdfDocument(content) as document:
        found = []
        for field in fields:
            page = document[field.page_number - 1].get_textpage()
            edges = (field.x - 1, field.y, field.x + field.width + 1, field.y + field.height)
            found.append(" ".join(page.get_text_bounded(*edges).split()))
        return found


def test_each_value_stands_at_its_place_in_the_language_of_the_request() -> None:
    how = {"locale": "de", "environment": "production", "pages": 2}
    columns: list[dict[str, Any]] = [{"type": kind, "page_number": 1 + n % 2} for n, (kind, _, _) in enumerate(FIELDS)]
    columns[1] |= {"height": 30, "y": 330}
    made = completed([value for _, value, _ in FIELDS], fields=columns, signers=2, documents=2, **how)
    for position, row in enumerate(made.request_documents):
        content = content_of(made, position)
        for signer in made.signers:
            fields = list(Field.objects.filter(request_document=row, signer=signer).order_by("position"))
            assert texts_at(content, fields) == [text for _, _, text in FIELDS]
        found = verify(content, sealing_context().roots("production"))
        assert found.ok and found.covers_whole_file, found.findings


def test_the_values_of_a_page_are_one_picture_under_the_stamps() -> None:
    made = completed(["x"] * 3, fields=[{}, {}, {"page_number": 2}], signers=2, pages=3, environment="production")
    marks = stamp_marks(made.request_documents[0]).marks
    assert [mark.page_number for mark in marks] == [1, 2, 3, 3]
    content = content_of(made)
    with pikepdf.open(io.BytesIO(content)) as document:
        assert not document.Root.AcroForm.get("/NeedAppearances"), "flat: the form has the seal alone"
        assert len(document.Root.AcroForm.Fields) <= 2
        assert all("/Annots" not in page or len(page.Annots) <= 2 for page in document.pages)


def test_a_ticked_box_is_a_cross_and_an_unticked_one_nothing() -> None:
    boxes = [{"type": "checkbox"}, {"type": "checkbox"}]
    made = completed([True, False], fields=boxes, environment="production")
    with pdfium.PdfDocument(content_of(made)) as document:
        picture = document[0].render(scale=4).to_pil().convert("L")
    darkest = []
    for field in Field.objects.order_by("position"):
        left, top = 4 * field.x, 4 * (842 - field.y - field.height)
        darkest.append(picture.crop((int(left), int(top), int(left + 48), int(top + 48))).getextrema()[0])
    assert darkest[0] < 0x30 and darkest[1] == 255


@pytest.mark.parametrize("values", [[None], [False], [""]])
def test_what_is_left_empty_draws_nothing(values: list[Value | None]) -> None:
    made = completed(values, fields=[{"required": False}])
    assert len(stamp_marks(made.request_documents[0]).marks) == 1, "the stamp"


def test_a_request_without_fields_is_not_searched_for_them(made: Scene) -> None:
    sign(made)
    with CaptureQueriesContext(connection) as queries:
        drawn = stamp_marks(made.request_documents[0])
    assert not [each for each in queries.captured_queries if '"signature_requests_field"' in each["sql"]]
    assert len(drawn.marks) == 1


def test_names_longer_than_their_fields_are_set_smaller_than_any_entry() -> None:
    name = "Maximiliana-Konstantina Freifrau von und zu Hohenstaufen-Wolfenbüttel Papadopoulou"
    made = completed([name], fields=[{"type": "full_name"}], environment="production")
    assert texts_at(content_of(made), list(Field.objects.all())) == [name]
