"""/sign/{token}/fields: what is to be filled in, and what was entered so far."""

import json
from datetime import timedelta
from typing import Any

import pytest

from paraph.flow.ending import end_early, expire
from paraph.kernel import clock
from paraph.signature_requests.fields.entry import EntriesRefusal, filled_fields, values_of
from paraph.signature_requests.models import Field, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.words import LOCALES
from tests.factories import Scene, scene
from tests.production import Client
from tests.signer.calls import call, refused, sign

pytestmark = pytest.mark.django_db

EVERY_TYPE: list[dict[str, Any]] = [
    {"type": "text", "name": "IBAN", "label": "Your IBAN", "max_length": 34},
    {"type": "multiline", "name": "address", "height": 40, "required": False},
    {"type": "number", "name": "rent", "minimum": "10", "maximum": "5000.5"},
    {"type": "date", "name": "begin", "minimum": "2026-01-01"},
    {"type": "checkbox", "name": "pets"},
    {"type": "choice", "name": "floor", "options": ["ground", "first"]},
    {"type": "text", "name": "flat", "value": "4b", "read_only": True},
    {"type": "signed_on", "name": "day"},
    {"type": "full_name", "name": "name"},
    {"type": "email", "name": "mail"},
]


def keep(client: Client, made: Scene, signer: int = 0, /, **values: Any) -> Any:
    """Enter values by the names of their fields on the first document."""
    return call(client, made, "/fields", {"fields": entries(made, **values)}, signer)


def entries(made: Scene, document: int = 0, **values: Any) -> list[dict[str, Any]]:
    document_id = made.request_documents[document].document_id
    return [{"document_id": document_id, "name": name, "value": value} for name, value in values.items()]


@pytest.fixture
def made(db: None) -> Scene:
    return scene(fields=EVERY_TYPE)


def told(client: Client, made: Scene, position: int = 0, **query: str) -> dict[str, dict[str, Any]]:
    answer = client.get(made.url(position, "/fields"), query)
    assert answer.status_code == 200
    return {field["name"]: field for field in answer.json()["fields"]}


def stored(position: int = 0) -> dict[str, Any]:
    signer = Signer.objects.order_by("order")[position]
    return {Field.objects.get(pk=pk).name: value for pk, value in values_of(signer).items()}


def final() -> dict[str, Any]:
    """Return the stored values of ``EVERY_TYPE`` after a signature with the right values, by the names of fields."""
    entered = {"IBAN": "DE02 1203", "rent": "1250.50", "begin": "2026-05-01", "pets": True, "floor": "first"}
    day = clock.now().date().isoformat()
    return entered | {"flat": "4b", "day": day, "name": "Ada Lovelace", "mail": "ada1@example.com"}


def test_signing_pages_of_others_are_told_what_to_fill_in(client: Client) -> None:
    assert client.get(scene().url(rest="/fields")).json() == {"fields": []}
    made = scene(fields=EVERY_TYPE)
    fields = told(client, made)
    assert list(fields) == [field["name"] for field in EVERY_TYPE]  # in order from the top of the page
    assert fields["IBAN"] == {
        "document_id": made.request_documents[0].document_id,
        "name": "IBAN",
        "type": "text",
        "label": "Your IBAN",
        "required": True,
        "read_only": False,
        "value": None,
        "message": None,
        "placement": {"page_number": 1, "x": 60, "y": 660, "width": 160, "height": 18},
        "max_length": 34,
    }
    assert (fields["rent"]["minimum"], fields["rent"]["maximum"]) == ("10", "5000.5")
    assert fields["floor"]["options"] == ["ground", "first"] and "options" not in fields["rent"]
    assert [name for name, field in fields.items() if field["read_only"]] == ["flat", "day", "name", "mail"]
    assert {name: fields[name]["value"] for name in ("flat", "day", "name", "mail")}.items() <= final().items()


def test_what_is_entered_is_kept_right_or_wrong_and_shown_as_it_will_look(client: Client, made: Scene) -> None:
    answer = keep(client, made, IBAN="DE02 1203", rent="1.250,50", begin="2025-12-31", pets=True)
    assert answer.status_code == 200
    kept = {field["name"]: field for field in answer.json()["fields"]}
    assert [kept[name]["message"] for name in ("IBAN", "rent", "pets")] == [None] * 3
    assert kept["IBAN"]["svg"].startswith("<svg") and kept["pets"]["svg"].startswith("<svg")
    assert kept["begin"]["svg"] is None
    assert kept["begin"]["message"] == "Not before 1 January 2026."
    assert stored() == {"IBAN": "DE02 1203", "rent": "1.250,50", "begin": "2025-12-31", "pets": True}
    assert b"DE02" not in bytes(Signer.objects.get().fields_encrypted or b"")
    again = told(client, made)
    assert (again["rent"]["value"], again["begin"]["value"]) == ("1.250,50", "2025-12-31")
    assert again["begin"]["message"] == kept["begin"]["message"]
    keep(client, made, IBAN="two", rent=None, begin=None)
    assert stored() == {"IBAN": "two", "pets": True}, "later entries leave the others, and null takes one back"
    keep(client, made, IBAN=None, pets=None)
    assert stored() == {} and Signer.objects.get().fields_encrypted is None


def test_what_is_wrong_is_said_in_every_language(client: Client) -> None:
    made = scene(fields=[*EVERY_TYPE, {"type": "text", "name": "short", "width": 8, "height": 8}])
    values = {"IBAN": "x" * 35, "rent": "many", "begin": "soon", "floor": "third", "short": "much too long"}
    keep(client, made, **values)
    for locale in LOCALES:
        said = told(client, made, lang=locale)
        messages = {said[name]["message"] for name in values}
        assert all(messages) and len(messages) == 5 and not [each for each in messages if "{" in each], locale


def test_each_wrong_value_has_a_sentence_and_hostile_text_is_drawn_as_text(client: Client, made: Scene) -> None:
    unprintable = "Some characters here cannot be printed. Please remove them."
    for name, value, said in (
        ("rent", "9,99", "At least 10."),
        ("rent", "5001", "At most 5,000.5."),
        ("rent", "x", "Please enter a number, such as 1250.50."),
        ("IBAN", "", None),  # missing values are refused at the signature
        ("IBAN", "x" * 35, "Please write at most 34 characters."),
        ("IBAN", "a\0b", unprintable),
        ("IBAN", "e" + "\u0301" * 30, unprintable),
        ("floor", "cellar", "Please choose one of the options."),
    ):
        [field] = keep(client, made, **{name: value}).json()["fields"]
        assert (field["message"], field["svg"], stored()[name]) == (said, None, value)
    for hostile in ("#set page(width: 1pt)", "(\\Tj) <</A 1>> endobj", "x" * 34, "\u202egnp.exe", "<b>&amp;"):
        [field] = keep(client, made, IBAN=hostile).json()["fields"]
        assert field["svg"].startswith("<svg") and stored()["IBAN"] == hostile


def test_a_number_that_can_be_read_in_two_ways_is_asked_about_in_the_language_of_the_page(client: Client) -> None:
    made = scene(fields=[{"type": "number", "name": "rent"}])

    def said(locale: str, value: str | None) -> str | None:
        keep(client, made, rent=value)
        message: str | None = told(client, made, lang=locale)["rent"]["message"]
        return message

    assert said("de", "1.250") == "Das kann 1250 oder 1,25 heißen. Bitte geben Sie eines von beiden ein."
    assert said("en", "1,250") == "This could be 1250 or 1.25. Please enter one of the two."
    assert said("fr", "1.250") is said("de", "1,250") is said("de", "1.250,00") is None
    Field.objects.update(value="1.125")  # by the sender, which has one reading
    assert said("de", "1.125") is said("de", None) is None


def test_what_nobody_would_see_fills_nothing_in() -> None:
    made = scene(fields=[{"name": "iban"}, {"name": "remarks", "required": False}])
    signer = Signer.objects.select_related("request").get()
    with pytest.raises(EntriesRefusal) as refusal:
        filled_fields(signer, entries(made, iban="\u200b\u3164"))
    assert refusal.value.localized("en") == "fields: still to fill in: iban."
    filled = filled_fields(signer, entries(made, iban="DE\u00ad89", remarks="\u2060 \u3164"))
    assert [each.value for each in filled] == ["DE89", None]


def test_a_lone_surrogate_is_no_text(client: Client, made: Scene) -> None:
    body = json.dumps({"fields": entries(made, IBAN="a\ud800b")})
    assert call(client, made, "/fields", body).status_code == 200
    assert stored() == {"IBAN": "a\ufffdb"} and client.get(made.url()).status_code == 200


REFUSED: list[tuple[Any, str]] = [
    ({}, "fields must be an array of at most 10 objects."),
    ([{}] * 11, "fields must be an array of at most 10 objects."),
    ([1], "fields[0] must be an object."),
    ([{}], "fields[0].name: you have no such field to fill in on this document."),
    ([{"document_id": "D", "name": "nothing", "value": "x"}], "fields[0].name: you have no such field"),
    ([{"document_id": 0, "name": "IBAN", "value": "x"}], "fields[0].name: you have no such field"),
    ([{"document_id": True, "name": "IBAN", "value": "x"}], "fields[0].name: you have no such field"),
    ([{"document_id": "D", "name": ["IBAN"], "value": "x"}], "fields[0].name: you have no such field"),
    ([{"document_id": "D", "name": "IBAN", "value": 5}], "fields[0].value must be a text of at most 4000"),
    ([{"document_id": "D", "name": "IBAN", "value": "x" * 4001}], "fields[0].value must be a text of at most 4000"),
    ([{"document_id": "D", "name": "pets", "value": "yes"}], "fields[0].value must be true or false."),
    ([{"document_id": "D", "name": "flat", "value": "5"}], "fields[0].value: The sender has set this."),
    ([{"document_id": "D", "name": "day", "value": "2026-01-01"}], "fields[0].value: Filled in for you when"),
    ([{"document_id": "D", "name": "IBAN", "value": "x"}] * 2, "fields[1].name is given twice."),
]  # fmt: skip


def test_what_is_refused_is_named_by_its_path_and_nothing_is_kept(client: Client, made: Scene) -> None:
    own = str(made.request_documents[0].document_id)
    for fields, said in REFUSED:
        answer = call(client, made, "/fields", json.dumps({"fields": fields}).replace('"D"', own))
        assert refused(answer) == (422, "validation_error") and stored() == {}
        assert answer.json()["error"]["message"].startswith(said), fields


def test_fields_of_others_are_not_the_signers(client: Client) -> None:
    made = scene(signers=2, fields=[{"name": "IBAN"}])
    Field.objects.filter(signer=made.signers[1]).update(name="other")
    assert list(told(client, made)) == ["IBAN"]
    assert keep(client, made, other="x").status_code == 422
    assert keep(client, made, 1, other="mine").status_code == 200 and stored(0) == {}


def test_only_who_may_sign_enters_anything(client: Client) -> None:
    made = scene(signers=2, mode="sequential", fields=[{"name": "IBAN"}])
    assert refused(keep(client, made, 1, IBAN="x")) == (409, "not_your_turn")
    assert told(client, made, 1)["IBAN"]["value"] is None  # reading need not wait for the turn
    keep(client, made, IBAN="x")
    SignatureRequest.objects.update(expires_at=clock.now())
    assert refused(keep(client, made, IBAN="y")) == (410, "expired")
    assert client.get(made.url(rest="/fields")).status_code == 410
    for answer in (client.get("/sign/x/fields"), client.post("/sign/x/fields", {}, content_type="application/json")):
        assert refused(answer) == (404, "not_found")
    put = client.put(made.url(rest="/fields"))
    assert refused(put) == (405, "method_not_allowed") and put["Allow"] == "GET, POST"


@pytest.mark.parametrize("ends", ["in time", "early", "declined"])
def test_what_was_never_signed_is_forgotten_with_the_end(client: Client, ends: str) -> None:
    made = scene(signers=2, decline_allowed=True, fields=[{"name": "IBAN"}])
    keep(client, made, IBAN="x")
    assert sign(client, made, 1, fields=entries(made, IBAN="y")).status_code == 200
    if ends == "early":
        end_early(OPERATOR, made.request.pk, "moved")
    elif ends == "declined":
        assert call(client, made, "/decline", {"reason": "no"}).status_code == 200
    else:
        SignatureRequest.objects.update(expires_at=clock.now() - timedelta(seconds=1))
        assert expire(made.request.pk)
    assert [stored(0), stored(1)] == [{}, {"IBAN": "y"}]
