"""What signers are asked, who approves and who gets a copy, by plain forms alone."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from paraph.dashboard.drafts.place_forms import Choices, FieldForms, cards
from paraph.drafts.content import creation_of
from paraph.drafts.models import Draft, Placed
from paraph.pdf.typesetting.field_values import FieldContent, field_picture
from paraph.signature_requests.models import Signer
from tests.dashboard.conftest import read
from tests.dashboard.test_drafts import NOBODY, alert, entered, known_signers, options, person, stamp
from tests.drafts import stored

pytestmark = pytest.mark.django_db


def asked(draft: Draft, **changes: Any) -> dict[str, Any]:
    signer, [document] = stored.signers(draft)[0], draft.files()
    fixed = {"signer": signer.ref, "document": document.pk, "page": 1, "x": 50, "y": 60, "width": 160, "height": 18}
    return fixed | {"type": "text", "name": "IBAN", "required": "on", "font_size": "10"} | changes


def places(draft: Draft, *fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return entered("stamp", stamp(draft)) | entered("field", *fields) | {"action": "save"} | more


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"max_length": "34", "minimum": "3"}, {"type": "text", "max_length": 34, "required": True}),
        ({"type": "number", "minimum": "0.5", "required": ""}, {"type": "number", "minimum": 0.5, "required": False}),
        ({"type": "number", "minimum": "0"}, {"type": "number", "minimum": 0, "required": True}),
        (
            {"type": "checkbox", "read_only": "on", "required": ""},
            {"type": "checkbox", "value": False, "read_only": True, "required": False},
        ),
        ({"type": "date", "maximum": "2026-12-31"}, {"type": "date", "maximum": "2026-12-31", "required": True}),
        ({"type": "choice", "options": "A\r\n\r\n B "}, {"type": "choice", "options": ["A", "B"], "required": True}),
        ({"type": "checkbox", "ticked": "on"}, {"type": "checkbox", "value": True, "required": True}),
        ({"type": "text", "ticked": "on"}, {"type": "text", "required": True}),
        ({"type": "signed_on", "value": "x", "label": "On"}, {"type": "signed_on", "label": "On"}),
        ({"value": "DE89", "read_only": "on"}, {"type": "text", "value": "DE89", "read_only": True, "required": True}),
    ],
)
def test_what_is_entered_is_what_the_payload_says(
    changes: dict[str, Any], kept: dict[str, Any], client: Client, address: str, draft: Draft
) -> None:
    """What a field's type does not have is left out."""
    assert client.post(f"{address}/places", places(draft, asked(draft, **changes))).status_code == 303
    assert stored.contents() == [{"name": "IBAN", "font_size": 10} | kept]
    page = read(client.get(f"{address}/places"))
    assert page.count("data-field-id") == 1 and 'value="IBAN"' in page
    again = client.post(f"{address}/places", entered("stamp", stamp(draft)) | {"action": "save"})
    assert again.status_code == 303 and len(stored.contents()) == 1, "where nothing is said of fields, they stay"
    draft.refresh_from_db()
    [field] = creation_of(draft.content)["documents"][0]["signers"][0]["fields"]
    assert field["placement"]["value"] == {"page_number": 1, "x": 50, "y": 60, "width": 160, "height": 18}


WRONG_STAMPS: list[tuple[dict[str, Any], str, str]] = [
    ({"page": 4}, "page", "The document has 3 pages."),
    ({"x": 500}, "x", "beyond that, it leaves the page"),
    ({"width": 40}, "width", "80"),
    ({"y": "low"}, "y", "number"),
    ({"x": "nan"}, "x", "number"),
]
WRONG_FIELDS: list[tuple[dict[str, Any], str, str]] = [
    ({"x": 500}, "x", "beyond that, it leaves the page"),
    ({"page": 9}, "page", "The document has 3 pages."),
    ({"height": 4}, "height", "At least 8."),
    ({"name": ""}, "name", "This field is required."),
    ({"type": "choice", "options": "A"}, "options", "It must have from 2 to 50 entries, not 1."),
    ({"type": "choice", "options": ""}, "options", "It must have from 2 to 50 entries, not 0."),
    ({"type": "choice", "options": "A\nA"}, "options", "Each option must be another."),
    ({"type": "choice", "options": "A\nB", "value": "C"}, "value", "It must be one of A, B."),
    ({"type": "number", "minimum": "5", "maximum": "2"}, "maximum", "It must not be below the minimum"),
    ({"type": "date", "value": "soon"}, "value", "It must be a date"),
    ({"read_only": "on"}, "value", "It is required, as read_only is true."),
    ({"type": "number", "minimum": "low"}, "minimum", "It must be a number."),
    ({"type": "hologram"}, "type", "hologram"),
    ({"font_size": 60}, "font_size", "24"),
]


def test_what_is_wrong_is_said_at_its_field_and_what_was_saved_stays(
    client: Client, address: str, draft: Draft
) -> None:
    rows = [*(("stamp", row) for row in WRONG_STAMPS), *(("field", row) for row in WRONG_FIELDS)]
    for kind, (changes, name, said) in rows:
        is_stamp = kind == "stamp"
        entry = entered("stamp", stamp(draft, **changes)) if is_stamp else places(draft, asked(draft, **changes))
        answer = client.post(f"{address}/places", entry)
        assert said in alert(answer)
        beside = answer.content.decode().partition(f'name="{kind}-0-{name}"')[2]
        assert said in beside.partition("errorlist")[2].partition("</ul>")[0]
    assert stored.contents() == [] and [each.x for each in stored.stamps()] == [50]


def test_a_form_has_room_for_all_fields_and_a_signer_a_name_once_on_a_document(
    client: Client, address: str, draft: Draft
) -> None:
    answer = client.post(f"{address}/places", places(draft, asked(draft), asked(draft, y=200)))
    assert "another field of this name" in alert(answer)
    several = [asked(draft, name=str(number)) for number in range(150)]
    assert client.post(f"{address}/places", places(draft, *several)).status_code == 303
    assert len(stored.contents()) == 150


def test_fields_are_added_and_removed_by_buttons(client: Client, address: str, draft: Draft) -> None:
    page = read(client.get(f"{address}/places"))
    assert page.count("data-field-type=") == 10, "a signature, and each type"
    for _ in range(2):
        client.post(f"{address}/places", entered("stamp", stamp(draft)) | {"action": "add-choice"})
    names = [content["name"] for content in stored.contents()]
    assert names == ["Choice", "Choice-2"] and stored.contents()[0]["options"] == ["Option 1", "Option 2"]
    one, other = stored.fields()
    assert one.page_number == 3 and (one.x, one.y) != (other.x, other.y)
    rows = places(draft, asked(draft), asked(draft, name="Two", y=200)) | {"remove-field": "0"}
    client.post(f"{address}/places", rows)
    assert [content["name"] for content in stored.contents()] == ["Two"]


def test_approvers_are_chosen_with_the_signers(client: Client, address: str, draft: Draft) -> None:
    client.post(f"{address}/signers", known_signers(draft, person("Grace", role="approver"), role="signer"))
    assert [signer.role for signer in stored.signers(draft)] == ["signer", "approver"]
    page = read(client.get(f"{address}/places"))
    assert page.count('name="whose"') == 1, "an approver has no places"
    assert client.post(f"{address}/places", places(draft, action="next")).headers["Location"] == f"{address}/review"
    review = read(client.get(f"{address}/review"))
    assert '<span class="badge">Approves</span>' in review and "No place yet" not in review
    assert review.count("asks you to sign<") == review.count("asks you to approve<") == 1, "each as their mail says it"


def test_a_signer_has_a_language_of_their_own(client: Client, address: str, draft: Draft) -> None:
    page = read(client.get(f"{address}/signers"))
    assert '<option value="" selected>Same as the request</option>' in page and "data-language" not in page
    client.post(f"{address}/signers", known_signers(draft, NOBODY | {"language": "fr"}, language="hu"))
    assert [signer.language for signer in stored.signers(draft)] == ["hu"], "a language alone is nobody"
    page = read(client.get(f"{address}/signers"))
    assert '<option value="hu" selected>Magyar</option>' in page and "<details open>" in page
    review = read(client.get(f"{address}/review"))
    assert "<strong>Byron Ada</strong>" in review and "<span data-language>Magyar</span>" in review
    client.post(f"{address}/review", options())
    signer = Signer.objects.get()
    assert (signer.language, signer.locale, signer.request.locale) == ("hu", "hu", "en")


def test_copies_have_their_own_list(client: Client, address: str, draft: Draft) -> None:
    signer = known_signers(draft)
    mary = {"first_name": "Mary", "last_name": "S", "email": "mary@example.com"}
    client.post(f"{address}/signers", signer | entered("copy", mary, {"first_name": "", "last_name": "", "email": ""}))
    assert Draft.objects.get().content["copies"] == [mary]
    assert "mary@example.com" in read(client.get(f"{address}/review"))
    client.post(f"{address}/signers", signer)
    assert Draft.objects.get().content["copies"], "where nothing is said of copies, they stay"
    wrong = client.post(f"{address}/signers", signer | entered("copy", mary | {"email": "mary"}))
    assert "Copy 1" in wrong.content.decode() and wrong.status_code == 422
    client.post(f"{address}/signers", signer | entered("copy", mary, initial=1) | {"remove-copy": "0"})
    assert Draft.objects.get().content["copies"] == []


def test_signers_may_decline_unless_the_sender_says_otherwise(client: Client, address: str, draft: Draft) -> None:
    page = read(client.get(f"{address}/review"))
    assert "checked" in page.partition('name="decline_allowed"')[2].partition(">")[0]
    for said, allowed in (({}, False), ({"decline_allowed": "on"}, True)):
        client.post(f"{address}/review", options(action="save", **said))
        assert Draft.objects.get(pk=draft.pk).content["decline_allowed"] is allowed


def test_the_review_shows_values_that_are_known_as_they_will_stand(client: Client, address: str, draft: Draft) -> None:
    """Fields without a known value show their label."""
    given = asked(draft, name="rent", type="number", value="1250.50", y=200)
    client.post(f"{address}/places", places(draft, asked(draft), given, asked(draft, name="by", type="email", y=300)))
    sheet = read(client.get(f"{address}/review")).partition('data-page="1"')[2].partition("</figure>")[0]
    assert re.findall(r"<text [^>]*>([^<]*)</text>", sheet) == ["IBAN"]
    [picture] = re.findall(r'href="([^"]*/values-1\.svg)"', sheet)
    assert "values-" not in read(client.get(f"{address}/places"))
    svg = client.get(picture)
    assert (svg.status_code, svg.headers["Content-Type"]) == (200, "image/svg+xml")
    assert "no-store" in svg.headers["Cache-Control"]
    [signer] = stored.signers(draft)
    one, other = (field_picture(FieldContent(160, 18, text)).count(b"<use ") for text in ("1,250.50", signer.email))
    assert svg.content.count(b"<use ") == one + other, "as many letters as both values have"
    assert client.get(picture.replace("values-1", "values-9")).status_code == 404


def test_places_and_review_say_what_lies_over_what(client: Client, address: str, draft: Draft) -> None:
    """Neither page says anything where nothing overlaps."""
    remarks = re.compile(r"<div[^>]* data-remarks [^>]*>(.*?)</div>", re.DOTALL)

    def said() -> Iterator[str]:
        for step in ("places", "review"):
            yield from remarks.findall(read(client.get(f"{address}/{step}")))

    assert list(said()) == ["", ""]
    there, where = {"page": 2, "x": 50, "y": 60.5}, "on page 2 overlap."
    several = entered("stamp", stamp(draft), stamp(draft, x=100, y=100))
    fields = entered("field", asked(draft, **there), asked(draft, name="Rent", **there))
    client.post(f"{address}/places", several | fields | {"action": "save"})
    for told in said():
        assert f"Two signatures of Ada {where}" in told
        assert f"The fields “IBAN” and “Rent” {where}" in told
        assert f"The field “Rent” and Ada's signature {where}" in told


def test_a_thousand_fields_cost_no_more_than_a_plain_form_each(client: Client, address: str, draft: Draft) -> None:
    """Rows, queries and remarks are bounded, and each card equals the one that Django's forms draw."""
    draft.refresh_from_db()
    [signer], [document] = draft.signers, draft.files()
    place: dict[str, Any] = {"page_number": 1, "x": 50, "y": 60, "width": 160, "height": 18}
    content = {"type": "choice", "required": False, "options": ["<A>", "B & C"], "label": 'Say "yes"', "font_size": 9.5}
    fields = [Placed(document, signer, **place, field=content | {"name": f"F{n}"}) for n in range(150)]
    draft.place([*draft.places(), *fields])
    with CaptureQueriesContext(connection) as queries:
        page = read(client.get(f"{address}/places"))
    assert len(queries) < 60 and page.count("data-field-id") == 150 and page.count("overlap.") == 50
    forms = FieldForms(
        initial=[{**place, "page": 1, "document": document.pk, "signer": signer.ref, **content, "name": "F7"}] * 8,
        prefix="field",
        form_kwargs={"choices": Choices.of(draft)},
    )
    forms[7].initial["options"] = "<A>\nB & C"
    template = "dashboard/drafts/field.html"
    card = render_to_string(template, {"form": forms[7], "number": 8, "several": False})
    assert list(cards(forms, template, several=False))[7] == card
