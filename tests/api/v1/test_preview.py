"""POST /signature_requests/preview: what a creation would make, without making it."""

import io
from typing import Any

import pikepdf
import pypdfium2
import pytest

from paraph.audit_trail.models import Entry
from paraph.flow.sending import create as preview_verb
from paraph.signature_requests.models import Placement, SignatureRequest
from tests.api.v1.api_clients import CONTRACT, ApiClient, api_client, error, invalid, payload, rectangle, tag


def preview(client: ApiClient, content: Any) -> dict[str, Any]:
    response = client.post("/signature_requests/preview", {"signature_request": content})
    assert response.status_code == 200, response.content
    assert not SignatureRequest.objects.exists() and not Entry.objects.exists()
    answer: dict[str, Any] = response.json()
    assert answer["valid"] == (not answer["problems"])
    return answer


def test_what_is_valid_has_its_stamps_where_the_creation_puts_them(owner: ApiClient, content: dict[str, Any]) -> None:
    stamps = [tag("{{nowhere}}", optional=True), tag("{{ada}}", optional=True), rectangle(width=90, height=31.5)]
    of_ada, of_grace = content["documents"][0]["signers"]
    of_ada["stamps"], of_grace["stamps"] = stamps, [tag(" {{a d\u00a0a}}")]  # the same tag, whatever its blanks
    of_grace["stamps"][0]["value"] |= {"width": 80, "height": 30}
    found = preview(owner, content)
    assert found["problems"] == []
    whose = [(each["signer_ref"], each["stamp"]) for each in found["placements"]]
    assert whose == [("ada", 1), ("ada", 2), ("grace", 0)]
    assert [each["page_number"] for each in found["placements"]] == [1, 2, 1]
    sizes = [(each["width"], each["height"]) for each in found["placements"]]
    assert sizes == [(200, 80), (90, 31.5), (80, 30)]
    owner.create(content)
    names = ("page_number", "x", "y", "width", "height")
    placed = [tuple(round(value, 3) for value in row) for row in Placement.objects.order_by("pk").values_list(*names)]
    assert [tuple(each[name] for name in names) for each in found["placements"]] == placed
    assert {each["document_id"] for each in found["placements"]} == {content["documents"][0]["id"]}


def test_places_are_answered_to_a_thousandth_of_a_point(owner: ApiClient, content: dict[str, Any]) -> None:
    for x in (0.1 + 0.2, 12.100000000000001, 99.99999999999999, 1 / 3, 7):
        content["documents"][0]["signers"][0]["stamps"] = [rectangle(x=x, y=x, width=80 + x, height=30 + x)]
        place = preview(owner, content)["placements"][0]
        written = [repr(place[name]) for name in ("x", "y", "width", "height")]
        assert all(len(each.partition(".")[2]) <= 3 for each in written), written
        assert place["x"] == pytest.approx(x, abs=0.0005)


def test_every_problem_has_the_path_that_creation_names(owner: ApiClient) -> None:
    content = payload(owner.document(), validity_days=91)
    content["signers"][1]["email"] = "nobody"
    content["documents"][0]["signers"][0]["stamps"] = [tag("{{nowhere}}")]
    content["documents"].append({"id": 2**40, "signers": content["documents"][0]["signers"]})
    found = preview(owner, content)
    assert {each["code"] for each in found["problems"]} == {"validation_error"}
    told = [f"{each['path']}: {each['message']}" for each in found["problems"]]
    assert invalid(owner.create(content)) == " ".join(told)
    paths = ["validity_days", "signers[1].email", "documents[0].signers[0].stamps[0]", "documents[1].id"]
    assert [each["path"] for each in found["problems"]] == paths
    assert [each["signer_ref"] for each in found["placements"]] == ["grace"], "what has a place is told all the same"


def test_what_is_refused_by_a_code_of_its_own_hides_nothing_else(db: None) -> None:
    free = api_client("free")
    content = payload(free.document(), initials_required=True, branding_profile_id=7, send_email=True, validity_days=0)
    for signer in content["signers"]:
        signer |= {"otp_channel": "sms", "phone": "+33612345678"}
    found = preview(free, content)
    assert [(each["code"], each["path"]) for each in found["problems"]] == [
        ("initials_not_available_on_plan", "initials_required"),
        ("forbidden", "signers[0].otp_channel"),
        ("forbidden", "signers[1].otp_channel"),
        ("forbidden", "branding_profile_id"),
        ("identity_declaration_required", "identity_declaration_accepted"),
        ("validation_error", "validity_days"),
        ("validation_error", "branding_profile_id"),
    ]
    assert len(found["placements"]) == 2


def test_what_is_no_object_is_a_problem(owner: ApiClient) -> None:
    cases: list[Any] = [None, [], "x", 7]
    for content in cases:
        [problem] = preview(owner, content)["problems"]
        assert problem == {"path": "signature_request", "code": "validation_error", "message": "it must be an object."}


def test_a_flood_of_problems_ends(owner: ApiClient, content: dict[str, Any]) -> None:
    content["documents"][0]["signers"][0]["stamps"] = [{}] * 10
    content["signers"] = [{}] * 25
    found = preview(owner, content)
    assert len(found["problems"]) == 50 and found["placements"] == []


def test_in_the_language_of_the_call_without_a_key(owner: ApiClient, content: dict[str, Any]) -> None:
    """A malformed idempotency key is ignored."""
    owner.headers |= {"Accept-Language": "fr", "Idempotency-Key": "a b"}
    [problem] = preview(owner, content | {"validity_days": 91})["problems"]
    assert problem["message"] == "la valeur doit être comprise entre 1 et 90, pas 91."
    invalid(owner.post("/signature_requests/preview", {}))


def as_pdf(client: ApiClient, content: Any) -> Any:
    client.headers["Accept"], client.checked = "application/pdf", False
    return client.post("/signature_requests/preview", {"signature_request": content})


def pages_of(response: Any) -> list[str]:
    """The text of each page, annotations included."""
    assert response.status_code == 200 and response["Content-Type"] == "application/pdf", response.content
    with pikepdf.open(io.BytesIO(response.content)) as document:
        assert document.Root.get("/AcroForm") is None
        for page in document.pages:
            [*_, mark] = page.obj.Annots
            page.contents_add(b"q 1 0 0 1 0 0 cm /Mark Do Q")
            page.add_resource(mark.AP.N, pikepdf.Name.XObject, pikepdf.Name.Mark)
        flat = io.BytesIO()
        document.save(flat)
    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(flat.getvalue())]


def test_as_a_pdf_with_the_boxes_named(owner: ApiClient, content: dict[str, Any]) -> None:
    content["documents"].append({**content["documents"][0], "id": owner.upload(CONTRACT, name="b.pdf").json()["id"]})
    pages = pages_of(as_pdf(owner, content))
    assert len(pages) == 6 and all("PREVIEW" in page for page in pages)
    assert ["Ada Lovelace" in page for page in pages] == [True, False, False] * 2
    assert ["Grace Hopper" in page for page in pages] == [False, True, False] * 2
    assert "Between Ada and Grace" in pages[0]
    assert not SignatureRequest.objects.exists()


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_the_boxes_stand_where_the_reader_sees_them(owner: ApiClient, rotate: int) -> None:
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(400, 600))
        page.obj.MediaBox = pikepdf.Array([50, 20, 450, 620])
        page.obj.Rotate = rotate
        made = io.BytesIO()
        document.save(made)
    content = payload(owner.upload(made.getvalue()).json()["id"])
    for assignment, y in zip(content["documents"][0]["signers"], (0, 200), strict=True):
        assignment["stamps"] = [rectangle(page_number=1, x=0, y=y, width=100, height=100)]
    answer = as_pdf(owner, content)
    shown = pypdfium2.PdfDocument(answer.content)[0].render(scale=1).to_pil().convert("RGB")
    assert shown.size == ((600, 400) if rotate % 180 else (400, 600))

    def is_box(x: int, y: int) -> bool:
        red, _, blue = shown.getpixel((x, shown.height - y))
        return bool(blue - red > 10)

    assert is_box(8, 8) and is_box(92, 92) and is_box(8, 292)
    assert not is_box(8, 150) and not is_box(150, 8) and not is_box(8, 310)


def test_a_pdf_that_would_be_refused_is(owner: ApiClient) -> None:
    content = payload(owner.document(), validity_days=91)
    message = invalid(as_pdf(owner, content))
    assert message == "validity_days: it must be from 1 to 90, not 91."
    free = api_client("free")
    content = payload(free.document(), initials_required=True)
    error(as_pdf(free, content), 403, "initials_not_available_on_plan")


def test_a_pdf_has_bounds(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_verb, "MOST_PAGES", 2)
    message = invalid(as_pdf(owner, payload(owner.document())))
    assert message == "documents: a preview as PDF takes at most 2 pages and 100 MiB together, not 3 pages."


def test_a_pdf_shows_names_in_any_script_and_fields_by_their_labels(owner: ApiClient, content: dict[str, Any]) -> None:
    content["signers"][0] |= {"first_name": "Юлія", "last_name": "Шевченко \U0001f600"}
    content["documents"][0]["signers"][0]["fields"] = [
        {"name": "iban", "label": "Your IBAN", "type": "text", "placement": rectangle(3, 50, 600)}
    ]
    pages = pages_of(as_pdf(owner, content))
    assert "Шевченко" in pages[0]
    assert ["Your IBAN" in page for page in pages] == [False, False, True]


def test_a_preview_measures_what_200_ordinary_values_cost_and_a_creation_all(owner: ApiClient) -> None:
    def fields(value: str, count: int) -> list[dict[str, Any]]:
        at = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60, "width": 20, "height": 12}}
        asked = {"type": "multiline", "value": value, "required": False, "placement": at}
        return [{**asked, "name": f"F{number}"} for number in range(count)]

    for value, count, seen in (("Zürich " * 10, 50, 50), ("Zürich " * 142, 50, 20)):
        content = payload(owner.document())
        content["documents"][0]["signers"][0]["fields"] = fields(value, count)
        found = [each for each in preview(owner, content)["problems"] if "no room" in each["message"]]
        assert len(found) == seen
        assert invalid(owner.create(content)).count("no room") == 50
