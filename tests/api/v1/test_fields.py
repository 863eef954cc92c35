"""Fields, approvers, copies and declining in a creation: what is kept, answered, previewed and refused."""

import html
from copy import deepcopy
from itertools import combinations
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from paraph.api.v1.openapi import FIELDS as FIELDS_SAMPLE
from paraph.documents.models import Document
from paraph.signature_requests.fields import entry as field_values
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.models import CopyRecipient, Field, SignatureRequest, Signer
from tests.api.v1.api_clients import (
    KIM,
    ApiClient,
    api_client,
    error,
    invalid,
    made,
    other_clients,
    payload,
    rectangle,
    refused,
    tag,
)
from tests.pdf.pdf_factory import paper, text

PLACE = {"type": "coordinates", "value": {"page_number": 1, "x": 50, "y": 600}}
FIELDS = "documents[0].signers[0].fields"


def field(kind: Any = "text", **more: Any) -> dict[str, Any]:
    return {"name": "IBAN", "type": kind, "placement": PLACE} | more


def with_fields(document_id: int, *fields: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a creation in which Ada has the fields."""
    content = payload(document_id, **changes)
    content["documents"][0]["signers"][0]["fields"] = list(fields)
    return content


def with_approver(document_id: int) -> dict[str, Any]:
    """Return a creation in which Ada approves and Grace signs."""
    content = payload(document_id)
    content["signers"][0]["role"] = "approver"
    content["documents"][0]["signers"][0] = {"signer_ref": "ada"}
    return content


@pytest.mark.django_db
def test_a_request_has_at_most_a_thousand_fields() -> None:
    owner = api_client("enterprise")
    several = [field(name=str(number)) for number in range(50)]
    content = with_fields(owner.document(), *several)
    whole = content["documents"][0]
    content["documents"] = [{**whole, "id": owner.document()} for _ in range(20)]
    assert owner.create(content).status_code == 201
    one = {**whole, "id": owner.document(), "signers": [{**whole["signers"][0], "fields": several[:1]}]}
    message = invalid(owner.create({**content, "documents": [*content["documents"], one]}))
    assert message == "documents: all signers together may have at most 1000 fields, not 1001."


EVERY = [
    field("text", name="IBAN", label="Your IBAN", value=" DE02 ", max_length=34, font_size=6),
    field("multiline", name="notes", required=False, value="a\r\nb"),
    field("number", name="rent", value="0950.50", minimum=0, maximum=9999.99),
    field("date", name="from", value="2026-03-01", minimum="2026-01-01", read_only=True),
    field("checkbox", name="pets", value=False, required=False),
    field("choice", name="floor", options=["one", "two"], value="two"),
    *(field(kind, name=kind) for kind in ("signed_on", "full_name", "email")),
]


def test_what_is_kept_of_every_type(owner: ApiClient) -> None:
    made(owner.create(with_fields(owner.document(), *EVERY)))
    rows = list(Field.objects.order_by("position").select_related("signer", "request_document"))
    assert {row.type for row in rows} == set(KINDS)
    assert [row.position for row in rows] == list(range(9))
    assert {row.signer.first_name for row in rows} == {"Ada"}
    kept = [(row.name, row.label, row.value, row.required, row.read_only) for row in rows[:7]]
    assert kept == [
        ("IBAN", "Your IBAN", "DE02", True, False),
        ("notes", "notes", "a\nb", False, False),
        ("rent", "rent", "950.50", True, False),
        ("from", "from", "2026-03-01", True, True),
        ("pets", "pets", False, False, False),
        ("floor", "floor", "two", True, False),
        ("signed_on", "signed_on", None, True, False),
    ]
    assert (rows[0].max_length, rows[0].font_size, rows[1].font_size) == (34, 6, 10)
    assert [(row.minimum, row.maximum) for row in rows[2:4]] == [("0", "9999.99"), ("2026-01-01", "")]
    assert rows[5].options == ["one", "two"]
    assert [(row.width, row.height) for row in rows[3:6]] == [(160, 18), (12, 12), (160, 18)]


def test_the_answer_has_them_without_values_until_they_are_signed(owner: ApiClient) -> None:
    content = with_fields(owner.document(), field(label="Your IBAN", value="DE02"), field("checkbox", name="ok"))
    created = owner.create(content).json()
    document_id = content["documents"][0]["id"]
    shown = [
        {"document_id": document_id, "name": "IBAN", "type": "text", "label": "Your IBAN", "value": None},
        {"document_id": document_id, "name": "ok", "type": "checkbox", "label": "ok", "value": None},
    ]
    assert [signer["fields"] for signer in created["signers"]] == [shown, []]
    address = f"/signature_requests/{created['id']}"
    with CaptureQueriesContext(connection) as queries:
        assert owner.get(address).json()["signers"] == created["signers"]
    assert len(queries) == 2  # the key, and the request with everything
    assert owner.get("/signature_requests").json()["data"][0]["signers"] == created["signers"]

    ada = Signer.objects.get(first_name="Ada")
    iban, box = Field.objects.order_by("position")
    field_values.write(ada, {iban.pk: "FR76", box.pk: True})
    ada.save()
    assert owner.get(address).json()["signers"][0]["fields"] == shown  # entered, but not signed
    ada.status = "signed"
    ada.save()
    read = owner.get(address).json()["signers"][0]["fields"]
    assert [each["value"] for each in read] == ["FR76", True]
    for other in other_clients(owner).values():
        error(other.get(address), 404, "not_found")


def test_a_request_without_them_has_none_of_their_keys(owner: ApiClient) -> None:
    content = payload(owner.document())
    plain = owner.create(content).json()
    nulls = {"copies": None, "decline_allowed": None}
    content["signers"][0]["role"] = content["documents"][0]["signers"][0]["fields"] = None
    empty = owner.create(content | nulls).json()
    for answer in (plain, empty, owner.get(f"/signature_requests/{plain['id']}").json()):
        assert not {"copies", "decline_allowed", "declined_by"} & answer.keys()
        assert not any({"role", "fields"} & signer.keys() for signer in answer["signers"])


def test_a_field_goes_under_its_tag(owner: ApiClient) -> None:
    under = {"type": "magic_field", "value": {"tag": "{{grace}}", "width": 100}}
    made(owner.create(with_fields(owner.document(), field(placement=under))))
    row = Field.objects.get()
    assert (row.page_number, row.width, row.height) == (1, 100, 18)
    assert row.y + row.height < 400 and abs(row.x + 50 - 322) < 20  # just under {{grace}}, centred on it


def test_copies_and_declining(owner: ApiClient) -> None:
    created = owner.create(payload(owner.document(), copies=[KIM, KIM], decline_allowed=True)).json()
    assert (created["copies"], created["decline_allowed"]) == ([KIM, KIM], True)
    assert "declined_by" not in created
    request = SignatureRequest.objects.get()
    assert request.decline_allowed
    assert [len(bytes(row.token_salt)) for row in CopyRecipient.objects.filter(request=request)] == [16, 16]
    request.declined_by = request.signers.first()
    request.save()
    read = owner.get(f"/signature_requests/{created['id']}").json()
    assert (read["copies"], read["declined_by"]) == ([KIM, KIM], created["signers"][0]["id"])


def test_an_approver_takes_part_and_draws_nothing(owner: ApiClient) -> None:
    answer = made(owner.create(with_approver(owner.document())))
    assert [signer["role"] for signer in answer["signers"]] == ["approver", "signer"]
    assert [row.placements.count() for row in Signer.objects.all()] == [0, 1]
    assert [row.approvals.count() for row in Signer.objects.all()] == [1, 0]
    page = html.unescape(Client().get(urlsplit(answer["signers"][0]["signing_url"]).path).content.decode())
    assert Document.objects.get().name in page and "asks you to approve" in page


def test_what_is_wrong_with_a_field_is_told_with_its_path(owner: ApiClient) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        (field(name=None), ".name", "a string"),
        (field(name=""), ".name", "empty"),
        (field(name="x" * 101), ".name", "100 characters"),
        (field(name="first"), ".name", "“first” is the name of another field of this signer"),
        (field(name="a\nb"), ".name", "control characters"),
        (field(label="x" * 201), ".label", "200 characters"),
        (field(kind="signature"), ".type", "must be one of text, multiline"),
        (field(kind="choice"), ".options", "required, as type is choice"),
        (field(kind="choice", options=["a"]), ".options", "from 2 to 50 entries, not 1"),
        (field(kind="choice", options=[str(number) for number in range(51)]), ".options", "not 51"),
        *[(field(kind="choice", options=["a", twin]), ".options", "must be another") for twin in ("a", "a\u200b")],
        *[(field(kind="choice", options=["a", blank]), ".options", "empty") for blank in ("", "\u3164")],
        (field(kind="choice", options="a,b"), ".options", "array"),
        (field(options=["a", "b"]), ".options", "type text has no such attribute"),
        (field(minimum=1), ".minimum", "no such attribute"),
        (field(kind="date", max_length=3), ".max_length", "no such attribute"),
        (field(kind="checkbox", maximum=3), ".maximum", "no such attribute"),
        *[(field(max_length=length), ".max_length", "from 1 to 2000") for length in (0, 2001)],
        (field(max_length=3, value="abcd"), ".value", "at most 3 characters"),
        (field(read_only=True), ".value", "read_only is true"),
        (field(read_only="yes"), ".read_only", "boolean"),
        (field(required=1), ".required", "boolean"),
        (field(kind="checkbox", value=False), ".value", "has to be ticked"),
        (field(kind="number", value="5", minimum=6), ".value", "at least 6"),
        *[(field(kind="number", minimum=least), ".minimum", "a number") for least in ("5", True)],
        (field(kind="number", minimum=1e300), ".minimum", "15 digits"),
        (field(kind="number", minimum=6, maximum=5), ".maximum", "below the minimum, 6"),
        (field(kind="date", minimum=5), ".minimum", "string"),
        (field(kind="date", maximum="tomorrow"), ".maximum", "a date"),
        (field(kind="date", minimum="2026-03-02", maximum="2026-03-01"), ".maximum", "below the minimum, 2026-03-02"),
        (field(kind="email", value="a@b.example"), ".value", "type email has no such attribute"),
        (field(kind="full_name", required=True), ".required", "no such attribute"),
        (field(kind="signed_on", read_only=False), ".read_only", "no such attribute"),
        *[(field(font_size=size), ".font_size", "from 6 to 24") for size in (5.9, 24.1)],
        (field(placement=None), ".placement", "object"),
        (field(placement={"type": "nowhere", "value": {}}), ".placement.type", "one of"),
        (field(placement=rectangle(width=7.9)), ".placement.value.width", "from 8 to"),
        (field(placement=rectangle(page_number=4)), ".placement", "page 4 of signer “ada” does not exist"),
        (field(placement=rectangle(x=500)), ".placement", "the field “IBAN” of signer “ada” at x=500"),
        (field(placement=rectangle(width=900)), ".placement", "900 by 18 points, does not fit"),
        (field(placement=tag("{{nowhere}}")), ".placement", "the tag “{{nowhere}}” of signer “ada” is not in"),
        (field(placement=tag("{{ada}}")), ".placement.value.tag", "more than once"),
    ]
    for given, path, says in cases:
        message = refused(owner, with_fields(owner.document(), field(name="first"), given))
        assert message.startswith(f"{FIELDS}[1]{path}: "), message
        assert says in message
        assert message.count("documents[0]") == 1, message
    several = refused(owner, with_fields(owner.document(), field(options=["a", "b"], max_length=0)))
    assert f"{FIELDS}[0].options: " in several and f"{FIELDS}[0].max_length: " in several


ADA = "documents[0].signers[0]"
AT_LEAST_ONE = "at least one of them must sign, not only approve."


def of_ada(**more: Any) -> Any:
    return lambda content: content["documents"][0]["signers"][0].update(more)


def only_approvers(content: dict[str, Any]) -> None:
    content["signers"][1]["role"] = "approver"
    content["documents"][0]["signers"][1] = {"signer_ref": "grace", "stamps": []}


def test_what_is_wrong_with_approvers_is_told(owner: ApiClient) -> None:
    neither = "“ada” approves and has neither stamps nor fields."
    document, other = owner.document(), owner.upload(name="b.pdf").json()["id"]
    cases: list[tuple[Any, str]] = [
        (of_ada(stamps=[tag("{{ada}}")]), f"{ADA}.stamps: {neither}"),
        (of_ada(fields=[field()]), f"{ADA}.fields: {neither}"),
        (lambda content: content["documents"][0]["signers"].pop(0),
         "signers[0]: “ada” approves no document: list them on one, without stamps."),
        (only_approvers, f"signers: {AT_LEAST_ONE}"),
        (lambda content: content["documents"].append({"id": other, "signers": [{"signer_ref": "ada"}]}),
         f"documents[1].signers: {AT_LEAST_ONE}"),
        (lambda content: content["signers"][0].update(role="witness"),
         "signers[0].role: it must be one of signer, approver."),
    ]  # fmt: skip
    for change, message in cases:
        content = with_approver(document)
        change(content)
        assert refused(owner, content) == message


def test_the_preview_has_the_places_of_fields(owner: ApiClient) -> None:
    under = {"type": "magic_field", "value": {"tag": "{{grace}}", "height": 30}}
    fields = [field(), field("checkbox", name="ok"), field(name="under", placement=under), field(name="x" * 101)]
    content = with_fields(owner.document(), *fields)
    found = owner.post("/signature_requests/preview", {"signature_request": content}).json()
    assert [problem["path"] for problem in found["problems"]] == [f"{FIELDS}[3].name"]
    places = [(each["field"], each["name"], each["x"], each["width"], each["height"]) for each in found["fields"]]
    assert places[:2] == [(0, "IBAN", 50, 160, 18), (1, "ok", 50, 12, 12)]
    assert places[2][:2] == (2, "under") and places[2][3:] == (160, 30)
    assert not Field.objects.exists()
    plain = owner.post("/signature_requests/preview", {"signature_request": payload(content["documents"][0]["id"])})
    assert set(plain.json()) == {"valid", "problems", "placements"}


def test_of_too_many_entries_none_is_read(owner: ApiClient) -> None:
    """Where there are too many entries, each of them may be anything."""
    fields: list[Any] = [field(name=str(number)) for number in range(50)]
    content = with_fields(owner.document(), *fields, {"name": []}, copies=[{"email": []}, *[KIM] * 20])
    assert refused(owner, content) == (
        f"copies: it must have at most 20 entries, not 21. {FIELDS}: it must have at most 50 entries, not 51."
    )
    content["copies"] = [{"email": []}] * 21
    message = refused(owner, content)
    assert message == "copies: it must have at most 20 entries, not 21. There may be more; checking stopped here."


@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_of_wrong_fields_is_refused_wherever_naming_stops(owner: ApiClient, kind: str) -> None:
    """Each field has another selection of attributes, all of which can be read: so their combination is judged as well,
    even past the last problem that is named."""
    readable: list[tuple[str, Any]] = [("value", "x"), ("value", True), ("options", ["a", "b"])]
    readable += [("minimum", "2026-13-01"), ("minimum", 5), ("maximum", 1e300), ("max_length", 5), ("read_only", True)]
    selections = [dict(chosen) for size in (1, 2, 3) for chosen in combinations(readable, size)]
    content = payload(owner.document())
    for seed in range(5):
        seeded = Random(seed)
        for signer in content["documents"][0]["signers"]:
            chosen = enumerate(seeded.sample(selections, 50))
            signer["fields"] = [field(kind, name=str(number), **each) for number, each in chosen]
        assert "There may be more" in refused(owner, content)
        preview = owner.post("/signature_requests/preview", {"signature_request": content})
        assert preview.status_code == 200 and not preview.json()["valid"]


def test_a_value_without_room_is_refused(owner: ApiClient) -> None:
    small = {"placement": rectangle(1, 50, 600, width=30, height=8)}
    fields = [field(value="x"), field(name="long", value="x" * 60, **small), field(name="free", **small)]
    content = with_fields(owner.document(), *fields)
    sentence = "there is no room for it in the field, not even in the smallest letters."
    assert refused(owner, content) == f"{FIELDS}[1].value: {sentence}"
    found = owner.post("/signature_requests/preview", {"signature_request": content}).json()
    assert [(each["path"], each["message"]) for each in found["problems"]] == [(f"{FIELDS}[1].value", sentence)]


def test_what_the_service_fills_in_without_room_is_refused(owner: ApiClient) -> None:
    """The day of the signature needs room for the longest date of the language."""
    document = owner.document()

    def wide(kind: str, width: float) -> dict[str, Any]:
        return with_fields(document, field(kind, placement=rectangle(1, 50, 600, width=width, height=8)))

    longest = {"full_name": "Ada Lovelace", "email": "ada@example.com", "signed_on": "28 September 2028"}
    for kind, told in longest.items():
        content = wide(kind, 34)
        assert invalid(owner.create(content)) == (
            f"{FIELDS}[0].placement: “{told}”, which the service fills in, has no room in 34 by 8 points, not even in "
            "the smallest letters."
        )
        found = owner.post("/signature_requests/preview", {"signature_request": content}).json()
        assert [each["path"] for each in found["problems"]] == [f"{FIELDS}[0].placement"]
        assert owner.create(wide(kind, 70)).status_code == 201


def test_room_is_measured_in_the_language_of_the_call(owner: ApiClient) -> None:
    """The same day is longer in Portuguese than in English, for a preview as for a creation."""
    place = rectangle(1, 50, 600, width=62, height=8)
    content = with_fields(owner.document(), field("signed_on", placement=place))
    looked = {"signature_request": content}
    assert owner.post("/signature_requests/preview", looked).json()["valid"]
    owner.headers["Accept-Language"] = "pt"
    [problem] = owner.post("/signature_requests/preview", looked).json()["problems"]
    assert problem["path"] == f"{FIELDS}[0].placement" and "28 de novembro de 2028" in problem["message"]
    assert refused(owner, content).startswith(problem["path"])
    owner.headers["Accept"], owner.checked = "application/pdf", False
    assert owner.post("/signature_requests/preview", looked).status_code == 422


def test_the_sample_of_the_reference_is_accepted(owner: ApiClient) -> None:
    """The document has the tags that the sample names."""
    sample = deepcopy(FIELDS_SAMPLE)
    content = paper(text("{{signature:tenant}}", 100, 300) + text("{{text:tenant:IBAN}}", 100, 500))
    sample["signature_request"]["documents"][0]["id"] = owner.upload(content).json()["id"]
    answer = made(owner.post("/signature_requests", sample))
    assert [field["name"] for field in answer["signers"][1]["fields"]] == ["IBAN", "rent"]
