"""Filling in on the signing page, and signing what was filled in."""

import html
import re
from functools import partial
from typing import Any

import pytest
from PIL import ImageChops

from paraph.evidence.models import SealedDocument
from paraph.kernel import clock
from paraph.signature_requests.fields.entry import values_of
from paraph.signature_requests.models import Field, RequestDocument, SignatureRequest, Signer
from paraph.signer import endpoints
from paraph.storage import store
from tests.factories import Scene, scene
from tests.flow.test_jobs import work_off
from tests.pdf.pictures import pictures, texts
from tests.production import Client
from tests.signer.calls import sign
from tests.signer.test_fields import EVERY_TYPE, entries, final, keep, stored

pytestmark = pytest.mark.django_db

OTHERS = "You’ll see other people’s entries in the finished document."
RIGHT: dict[str, Any] = {"IBAN": "DE02 1203", "rent": "1.250,50", "begin": "2026-05-01", "pets": True, "floor": "first"}


@pytest.fixture
def made(db: None) -> Scene:
    return scene(fields=EVERY_TYPE)


def page(client: Client, made: Scene, position: int = 0, **query: str) -> str:
    answer = client.get(made.url(position), query)
    assert answer.status_code == 200
    content: str = answer.content.decode()
    return content


def pictures_of_values(content: str) -> list[str]:
    return re.findall(r'<image width="100%" height="100%" href="([^"]+)"/>', content)


def said(answer: Any) -> str:
    assert answer.status_code == 422
    return str(answer.json()["error"]["message"])


def send(client: Client, made: Scene, **fields: Any) -> Any:
    """Send the form as a browser without scripts does; ``f_NAME`` is the value of the field ``NAME``."""
    document_id = made.request_documents[0].document_id
    own = {f"field-{document_id}-{name.removeprefix('f_')}": text for name, text in fields.items() if name[:2] == "f_"}
    return client.post(made.url(), {name: text for name, text in fields.items() if name[:2] != "f_"} | own)


def tag(content: str, made: Scene, name: str) -> str:
    """Return the HTML tag of a field's input."""
    document_id = made.request_documents[0].document_id
    found = re.search(rf'<(?:input|select|textarea)[^>]* name="field-{document_id}-{name}"[^>]*>', content)
    assert found
    return found.group()


def test_a_signature_has_all_final_values(client: Client, made: Scene) -> None:
    answer = sign(client, made, fields=entries(made, **RIGHT))
    assert answer.status_code == 200 and stored() == final()
    [entry] = [entry for entry in made.entries() if entry.event_type == "signer.signed"]
    document_id = made.request_documents[0].document_id
    journaled = entry.metadata["fields"]
    assert [field["name"] for field in journaled] == [field["name"] for field in EVERY_TYPE]
    assert journaled[0] == {"document_id": document_id, "name": "IBAN", "type": "text", "value": "DE02 1203"}
    assert journaled[1]["value"] is None and journaled[7]["value"] == final()["day"]


def test_what_was_entered_before_counts_then_what_the_sender_set_and_a_signature_may_change_it(client: Client) -> None:
    box: dict[str, Any] = {"type": "checkbox", "name": "box", "value": True}
    city, town = {"name": "city", "value": "Oslo"}, {"name": "town", "value": "Bergen"}
    made = scene(fields=[*EVERY_TYPE, city, town, box])
    keep(client, made, **RIGHT, address="here")
    changed = entries(made, IBAN="another", address=None, town="Moss")
    assert sign(client, made, fields=changed).status_code == 200
    found = stored()
    assert found["IBAN"] == "another" and found["rent"] == "1250.50" and "address" not in found
    assert {name: found[name] for name in ("city", "town", "box")} == {"city": "Oslo", "town": "Moss", "box": True}


def test_what_the_sender_set_and_the_signer_emptied_is_missing_and_what_is_read_only_stays(client: Client) -> None:
    flat = {"name": "flat", "value": "4b", "read_only": True}
    made = scene(fields=[flat, {"name": "city", "value": "Oslo"}, {"name": "note", "value": "x", "required": False}])
    assert said(sign(client, made, fields=entries(made, city="", note=""))) == "fields: still to fill in: city."
    assert said(sign(client, made, fields=entries(made, flat="4c"))) == "fields[0].value: The sender has set this."
    assert sign(client, made, fields=entries(made, flat="4b", city="Oslo", note="")).status_code == 200
    assert stored() == {"flat": "4b", "city": "Oslo"}


def test_what_is_wrong_and_what_is_missing_is_named_and_no_attempt_is_counted(client: Client, made: Scene) -> None:
    keep(client, made, begin="2025-01-01")
    answer = sign(client, made, fields=entries(made, rent="many", floor="first"))
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "validation_error"
    assert error["message"] == (
        "fields[0].value: Please enter a number, such as 1250.50. "
        "fields: Not before 1 January 2026. fields: still to fill in: IBAN, pets."
    )
    assert [(field["name"], field["message"]) for field in error["fields"]] == [
        ("IBAN", "Please fill this in."),
        ("rent", "Please enter a number, such as 1250.50."),
        ("begin", "Not before 1 January 2026."),
        ("pets", "Please tick this box."),
    ]
    signer = Signer.objects.get()
    assert (signer.status, signer.code.attempts) == ("pending", 0)


def test_text_without_room_at_six_points_is_refused(client: Client) -> None:
    made = scene(fields=[{"name": "note", "width": 60}])
    message = said(sign(client, made, fields=entries(made, note="W" * 60)))
    assert message.startswith("fields[0].value: This is too long for its place on the page.")
    assert sign(client, made, fields=entries(made, note="W" * 10)).status_code == 200


def test_another_name_for_a_field_is_refused_with_its_path(client: Client) -> None:
    made = scene(documents=2, fields=[{"name": "IBAN"}])
    Field.objects.filter(request_document=made.request_documents[1]).update(name="BIC")
    wrong = entries(made, IBAN="x") + entries(made, 1, IBAN="x")
    expected = "fields[1].name: you have no such field to fill in on this document."
    assert said(sign(client, made, fields=wrong)) == expected
    right = entries(made, IBAN="x") + entries(made, 1, BIC="y")
    assert sign(client, made, fields=right).status_code == 200 and stored() == {"IBAN": "x", "BIC": "y"}


def test_who_has_no_fields_or_waits_has_no_step(client: Client) -> None:
    content = page(client, scene(pages=2))
    assert 'id="fill"' not in content and "filling." not in content and "data-field" not in content
    assert 'href="#sign">Sign</a>' in content
    assert "<image" not in page(client, scene(fields=EVERY_TYPE[:3])), "a page without values has no picture of any"
    content = page(client, scene(signers=2, mode="sequential", fields=[{"name": "IBAN"}]), 1)
    assert 'data-field="IBAN"' in content and 'id="fill"' not in content and 'href="#fill"' not in content


def test_the_step_stands_after_the_reading_with_links_to_places_and_back(client: Client, made: Scene) -> None:
    content = page(client, made)
    steps = re.findall(r'<li><a href="#(\w+)"><span>', content)
    assert steps == ["read", "fill", "sign", "confirm"]
    assert content.index('id="read"') < content.index('id="fill"') < content.index('id="sign"')
    assert '<a class="primary" href="#fill">Fill in</a>' in content
    assert "Still to fill in: 5" in content  # the address is optional
    first = Field.objects.get(name="IBAN").pk
    assert re.search(rf'data-next-empty href="#entry-{first}">', content)
    for field in Field.objects.all():
        assert f'href="#place-of-{field.pk}"' in content and f'id="entry-{field.pk}"' in content
        assert f'<a href="#entry-{field.pk}" id="place-of-{field.pk}" data-field="{field.name}"' in content


def test_each_type_has_the_right_keyboard_and_its_rules(client: Client, made: Scene) -> None:
    content = page(client, made)
    assert 'inputmode="decimal"' in tag(content, made, "rent") and " required" in tag(content, made, "rent")
    assert 'type="date" min="2026-01-01"' in tag(content, made, "begin")
    assert 'type="checkbox"' in tag(content, made, "pets")
    assert tag(content, made, "address").startswith("<textarea") and " required" not in tag(content, made, "address")
    assert tag(content, made, "floor").startswith("<select")
    assert '<option value="first">first</option>' in content
    for rule in ("At most 34 characters", "Optional · At most 2000 characters", "Not before 1 January 2026"):
        assert f">{rule}</span>" in content
    assert "A number · At least 10 · At most 5,000.5" in content
    for name in ("flat", "day", "name", "mail"):
        assert " readonly" in tag(content, made, name)
    assert 'value="Ada Lovelace"' in tag(content, made, "name")


def test_fields_stand_in_the_order_of_reading(client: Client) -> None:
    made = scene(documents=2, pages=2, fields=[{"name": "low", "y": 50}, {"name": "high", "y": 700}, {"name": "next"}])
    Field.objects.filter(name="next").update(page_number=2)
    RequestDocument.objects.filter(pk=made.request_documents[0].pk).update(position=9)
    content = page(client, made)
    documents = [row.document_id for row in made.request_documents]
    expected = [f"field-{at}-{name}" for at in documents[::-1] for name in ("high", "low", "next")]
    assert re.findall(r' name="(field-[^"]+)"', content) == expected
    legends = [html.unescape(each) for each in re.findall(r"<legend>(.*?)</legend>", content)]
    assert legends[:3] == [
        "<bdi>contract-2.pdf</bdi> · Page 1",
        "<bdi>contract-2.pdf</bdi> · Page 2",
        "<bdi>contract-1.pdf</bdi> · Page 1",
    ]


def test_what_was_entered_is_there_again_with_what_is_wrong_in_every_language(client: Client, made: Scene) -> None:
    keep(client, made, IBAN='"><b>', rent="a lot", pets=True, floor="first", address="a\nb")
    for locale in ("en", "fr"):
        content = page(client, made, lang=locale)
        assert 'value="&quot;&gt;&lt;b&gt;"' in tag(content, made, "IBAN")
        assert 'value="a lot"' in tag(content, made, "rent") and 'aria-invalid="true"' in tag(content, made, "rent")
        assert " checked" in tag(content, made, "pets") and '<option value="first" selected>' in content
        assert ">\na\nb</textarea>" in content
    assert "Saisissez un nombre" in content


def test_the_page_shows_each_value_where_it_will_stand(client: Client) -> None:
    made = scene(pages=2, fields=EVERY_TYPE)
    keep(client, made, IBAN="DE02", rent="a lot")
    content = page(client, made)
    filled = re.findall(r'data-field="(\w+)" class="filled"', content)
    assert set(filled) == {"IBAN", "flat", "day", "name", "mail"}
    [picture] = pictures_of_values(content)
    answer = client.get(picture)
    assert answer.status_code == 200 and answer["Content-Type"] == "image/svg+xml"
    assert answer.content.startswith(b'<svg viewBox="0 0 595 842"') and "private" in answer["Cache-Control"]
    [kept] = keep(client, made, IBAN="DE03").json()["fields"]
    assert kept["page"] != picture and kept["page"] in page(client, made)  # its address changes with the values
    assert client.get(kept["page"]).content != answer.content
    document_id = made.request_documents[0].document_id
    for rest in (f"/documents/{document_id}/pages/2-values.svg", f"/documents/{document_id}/pages/9-values.svg",
                 "/documents/0/pages/1-values.svg"):  # fmt: skip
        assert client.get(made.url(rest=rest)).status_code == 404
    SignatureRequest.objects.update(expires_at=clock.now())
    assert client.get(kept["page"]).status_code == 410


def test_without_scripts_the_step_is_sent_kept_and_left(client: Client, made: Scene) -> None:
    right = {"f_IBAN": "DE02", "f_rent": "12,50", "f_begin": "2026-05-01", "f_pets": "on", "f_floor": "ground"}
    answer = send(client, made, do="fill", fill="on", **right)
    assert (answer.status_code, answer["Location"]) == (303, f"{made.url()}#sign")
    assert stored()["rent"] == "12,50" and stored()["pets"] is True
    done = send(client, made, do="sign", code=made.code(), consent="on", fill="on", **right)
    assert done.status_code == 303 and stored()["rent"] == "12.50"


def test_without_scripts_what_is_wrong_is_told_beside_it_and_in_the_summary(client: Client, made: Scene) -> None:
    assert send(client, made, do="fill", fill="on", f_IBAN="x" * 4001).status_code == 422 and stored() == {}
    answer = send(client, made, do="fill", fill="on", f_IBAN="DE02", f_rent="much")
    content = answer.content.decode()
    rent, pets = (Field.objects.get(name=name).pk for name in ("rent", "pets"))
    assert answer.status_code == 422
    assert f'<a href="#entry-{rent}">rent: Please enter a number, such as 1250.50.</a>' in content
    assert f'id="problem-entry-{pets}" role="alert">Please tick this box.</p>' in content
    assert 'value="much"' in tag(content, made, "rent") and stored()["rent"] == "much"


def test_a_number_that_can_be_read_in_two_ways_is_not_signed(client: Client) -> None:
    made = scene(fields=[{"type": "number", "name": "rent"}])
    answer = send(client, made, do="fill", fill="on", lang="de", f_rent="1.250")
    assert answer.status_code == 422 and "Das kann 1250 oder 1,25 heißen." in answer.content.decode()
    assert "fields[0].value: Das kann 1250" in said(sign(client, made, fields=entries(made, rent="1.250"), locale="de"))
    assert sign(client, made, fields=entries(made, rent="1250"), locale="de").status_code == 200
    assert stored() == {"rent": "1250"}


def test_without_scripts_a_wrong_code_and_a_change_of_language_keep_what_was_entered(client: Client) -> None:
    made = scene(fields=[{"name": "IBAN"}, {"type": "checkbox", "name": "pets", "required": False}])
    wrong = "111111" if made.code() != "111111" else "222222"
    answer = send(client, made, do="sign", code=wrong, consent="on", fill="on", f_IBAN="DE02", f_pets="on")
    assert answer.status_code == 422 and stored() == {"IBAN": "DE02", "pets": True}
    answer = send(client, made, lang="fr", fill="on", f_IBAN="DE03")
    assert 'value="DE03"' in tag(answer.content.decode(), made, "IBAN")
    send(client, made, do="code", fill="on", f_IBAN="")  # from a second device that was opened before
    assert stored() == {"IBAN": "DE03", "pets": True}
    send(client, made, do="fill", fill="on", f_IBAN="")
    assert stored() == {"IBAN": "", "pets": False}


@pytest.mark.parametrize("scripts", [True, False])
def test_entries_are_bounded_by_the_minute(client: Client, monkeypatch: pytest.MonkeyPatch, scripts: bool) -> None:
    made = scene(fields=[{"name": "IBAN"}])
    monkeypatch.setattr(endpoints.ENTRIES, "most", 2)
    enter = partial(keep, client, made) if scripts else partial(send, client, made, do="fill", fill="on")
    answers = [enter(**{"IBAN" if scripts else "f_IBAN": str(number)}) for number in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429] if scripts else [303, 303, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60 and stored() == {"IBAN": "1"}


def test_in_a_sequence_one_sees_what_those_before_have_signed(client: Client) -> None:
    """A signer sees the values of those before, and so does an approver, who fills in nothing."""
    fields: list[dict[str, Any]] = [{"name": "IBAN"}, {"name": "flat", "value": "4b", "read_only": True}]
    made = scene(signers=3, approvers=[2], mode="sequential", fields=fields)
    assert sign(client, made, fields=entries(made, IBAN="DE02")).status_code == 200
    content = page(client, made, 1)
    assert 'aria-label="IBAN: DE02 (Ada Lovelace)"' in content and ">Ada Lovelace</text>" in content
    [theirs] = pictures_of_values(content)
    before = client.get(theirs).content
    keep(client, made, 1, IBAN="SE45")
    assert client.get(theirs).content != before
    assert "what others enter" not in content
    content = page(client, made, 2)
    assert "SE45" not in content and "DE02" in content and 'id="fill"' not in content
    assert sign(client, made, 1).status_code == 200
    assert client.get(made.url(2, "/fields")).json() == {"fields": []}
    assert sign(client, made, 2).status_code == 200


def test_the_last_step_lists_what_was_entered(client: Client, made: Scene) -> None:
    """Values are listed as they will stand on the page, those that the sender has set as well."""
    assert set(re.findall(r"<dd[^>]*>([^<]*)</dd>", page(client, made))) >= {"—", "4b"}
    keep(client, made, **RIGHT)
    content = page(client, made)
    listed = re.findall(r'<dt><bdi>[^<]*</bdi></dt><dd dir="auto" data-value-of="entry-\d+">([^<]*)</dd>', content)
    assert {"DE02 1203", "1,250.50", "1 May 2026", "✓", "first", "4b", "Ada Lovelace"} <= set(listed)


def test_in_parallel_one_sees_what_the_sender_set_and_is_told_so(client: Client) -> None:
    made = scene(signers=2, fields=[{"name": "IBAN"}, {"name": "flat", "value": "4b", "read_only": True}])
    assert sign(client, made, fields=entries(made, IBAN="DE02")).status_code == 200
    content = page(client, made, 1)
    assert "DE02" not in content and content.count('aria-label="flat: 4b"') == 2
    assert content.count(OTHERS) == 1
    [picture] = pictures_of_values(content)
    shown = client.get(picture).content
    Field.objects.filter(name="flat").delete()
    assert client.get(picture).status_code == 404 and shown.startswith(b"<svg")
    assert OTHERS not in page(client, scene(fields=[{"name": "IBAN"}]))


def test_values_of_signers_are_encrypted_for_them_alone(client: Client) -> None:
    made = scene(signers=2, fields=[{"name": "IBAN"}])
    keep(client, made, IBAN="DE02")
    first, second = Signer.objects.order_by("order")
    second.fields_encrypted = first.fields_encrypted
    with pytest.raises(ValueError, match="does not open"):
        values_of(second)


def test_in_a_sequence_the_pdf_has_what_those_before_have_signed_with_their_name(client: Client) -> None:
    """Such a PDF is drawn anew each time, so no byte ranges of it are served."""
    fields = [{"name": "IBAN", "page_number": 2}]
    made, parallel = (scene(signers=2, pages=3, mode=mode, fields=fields) for mode in ("sequential", "parallel"))
    addresses = [each.url(1, f"/documents/{each.request_documents[0].document_id}.pdf") for each in (made, parallel)]
    part: Any = client.get(addresses[0], headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.getvalue()) == (206, made.uploads[0][5:10])
    for each in (made, parallel):
        assert sign(client, each, fields=entries(each, IBAN="DE02 1203")).status_code == 200
    whole: Any = client.get(addresses[0], headers={"Range": "bytes=5-9"})
    assert (whole.status_code, whole["Accept-Ranges"]) == (200, "none") and "Content-Range" not in whole
    pairs = zip(pictures(made.uploads[0], 1), pictures(bytes(whole.getvalue()), 1), strict=True)
    [first, second, third] = [ImageChops.difference(*pair).getchannel("A").getbbox() for pair in pairs]
    assert (first, third) == (None, None) and second
    left, top, right, bottom = second
    field = Field.objects.get(signer=made.signers[0])
    above = 842 - field.y - field.height
    assert field.x <= left and right <= field.x + field.width
    assert above - 9 <= top < above < bottom <= above + field.height  # the name stands above the value
    untouched: Any = client.get(addresses[1])
    assert untouched.getvalue() == parallel.uploads[0]


def test_what_was_filled_in_is_sealed(client: Client, made: Scene) -> None:
    assert sign(client, made, fields=entries(made, **RIGHT)).status_code == 200
    work_off()
    [written] = texts(store.get(SealedDocument.objects.get().object_key))
    for value in ("DE02 1203", "1,250.50", "1 May 2026", "first", "4b", "Ada Lovelace", "ada1@example.com"):
        assert value in written, value
