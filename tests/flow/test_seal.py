"""Sealing the documents of a completed request, whatever its people are called and have entered."""

import io
import re
from dataclasses import replace
from functools import partial
from typing import Any

import pikepdf
import pypdfium2 as pdfium
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.sealing import finalize as steps
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.flow.sealing.finalize import finalize, seal
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock, tokens
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.fields.kinds import Value
from paraph.signature_requests.models import Field, Placement, RequestDocument, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import create_profile, update_profile
from tests.api.v1.api_clients import api_client, payload
from tests.factories import TYPED, VISITOR, Scene, scene, sign
from tests.flow.test_delete_files import there
from tests.pdf.pictures import texts
from tests.tenancy import COLORS
from tests.threads import at_once, beside_each_other

pytestmark = pytest.mark.django_db


DRAWN = {"type": "drawn", "strokes": [[[0, 0.2], [0.5, 0.1], [1, 0.3]]]}


def completed(**how: Any) -> Scene:
    made = scene(**how)
    for position in range(len(made.signers)):
        sign(made, position)
    return made


def test_seals_each_document_and_journals_all_that_is_named() -> None:
    made = completed(signers=2, documents=2, pages=3)
    for row in made.request_documents:
        seal(row.pk)
    entries = [entry for entry in made.entries() if entry.event_type == "signature_request.pades_signed"]
    assert [entry.stated["document_id"] for entry in entries] == [row.document_id for row in made.request_documents]
    for row, upload, entry in zip(made.request_documents, made.uploads, entries, strict=True):
        sealed = SealedDocument.objects.get(request_document=row)
        content = store.get(sealed.object_key)
        assert content.startswith(upload) and len(content) == sealed.file_size
        assert tokens.sha256(content) == bytes(sealed.sha256)
        found = verify(content, sealing_context().roots("sandbox"))
        assert found.ok and found.covers_whole_file and found.timestamp, found.findings
        named = """
            document_id signed_pdf_sha256 signing_algorithm kms_key_id kms_request_id
            timestamped timestamp_authority timestamp_policy_oid timestamped_at method level
        """
        assert set(entry.stated) == set(named.split())
        assert entry.stated["level"] == found.level == "B-LTA"
        assert entry.stated["signed_pdf_sha256"] == tokens.sha256(content).hex()
        assert entry.stated["timestamped"] is True and entry.stated["timestamp_authority"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.stated["timestamped_at"])
        assert sealed.facts["timestamped_at"] == clock.iso_milliseconds(found.timestamp.time)
        assert entry.signer_id is None and (entry.ip, entry.user_agent) == ("", "")


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_one_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()
    stored: list[str] = []
    put = store.put

    def noting_put(key: str, content: bytes) -> None:
        stored.append(key)
        put(key, content)

    monkeypatch.setattr(store, "put", noting_put)
    beside_each_other(*[partial(seal, made.request_documents[0].pk)] * 2)
    kept = SealedDocument.objects.get().object_key
    assert made.events().count("signature_request.pades_signed") == 1
    assert [key for key in stored if there(key)] == [kept]


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_the_watermark_is_on_every_page_in_sandbox_only(environment: str) -> None:
    made = completed(pages=3, environment=environment)
    seal(made.request_documents[0].pk)
    counts = _pictures(store.get(SealedDocument.objects.get().object_key))
    assert counts == ([1, 1, 2] if environment == "sandbox" else [0, 0, 1])


def test_the_watermark_is_one_overlay_with_a_picture_for_each_proportion() -> None:
    row = completed().request_documents[0]
    portrait, landscape = [595, 842], [842, 595]
    for sizes, watermarks in (
        ([portrait] * 300, 1),
        ([portrait, [596, 842], [1190, 1684]], 1),
        ([portrait, landscape, portrait], 2),
    ):
        row.document.pages = sizes
        drawn = stamp_marks(row)
        assert drawn.page_overlay and len(drawn.page_overlay.appearances) == watermarks, sizes[:3]
        assert len(drawn.marks) == 1, "the stamp; no mark for each page"


def test_initials_of_every_signer_are_on_every_page() -> None:
    made = scene(signers=2, pages=2, environment="production", initials_required=True)
    sign(made, 0, initials=DRAWN)
    sign(made, 1, initials={"type": "typed"})
    seal(made.request_documents[0].pk)
    assert _pictures(store.get(SealedDocument.objects.get().object_key)) == [2, 4]


def test_a_drawing_is_one_form_for_stamps_of_all_sizes_without_transparency() -> None:
    made = scene(environment="production")
    [row], [signer] = made.request_documents, made.signers
    for number, (width, height) in enumerate([(80, 30), (300, 100), (400, 160)]):
        place = {"page_number": 1, "x": 60, "y": 200 + 170 * number, "width": width, "height": height}
        Placement.objects.create(request_document=row, signer=signer, **place)
    curve = {"type": "drawn", "strokes": [[[step / 100, 0.2 + step % 7 / 50] for step in range(100)]]}
    sign_verb(made.signer(), Signature(made.code(), curve, None, "en"), VISITOR)
    seal(row.pk)
    with pikepdf.open(io.BytesIO(store.get(SealedDocument.objects.get().object_key))) as document:
        streams = [each for each in document.objects if isinstance(each, pikepdf.Stream)]
        forms = [each for each in streams if each.get("/Subtype") == "/Form" and "/Group" not in each]
        assert len(forms) == len([each for each in streams if each.get("/Subtype") == "/Form"])
        curved = [each for each in forms if each.read_bytes().count(b" c ") > 100]
        assert len(curved) == 1, "four stamps, one drawing"


def _pictures(content: bytes) -> list[int]:
    """How many pictures are drawn on each page."""
    with pikepdf.open(io.BytesIO(content)) as document:
        drawn = []
        for page in document.pages:
            operators = pikepdf.parse_content_stream(page)
            drawn.append(sum(str(instruction.operator) == "Do" for instruction in operators))
        return drawn


def test_without_a_timestamp_the_journal_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()
    monkeypatch.setattr(steps, "sealing_context", silent)
    seal(made.request_documents[0].pk)
    facts = made.entries()[-1].stated
    assert facts["timestamped"] is False
    assert facts["timestamp_authority"] is facts["timestamped_at"] is facts["timestamp_policy_oid"] is None
    assert "dead" in facts["timestamp_failures"][0] and facts["level"] == "B-B"


def silent(authority: type["Dead"] | None = None) -> SealingContext:
    """What sealing needs, with an authority that gives no timestamps."""
    context = sealing_context()
    return replace(context, timestamping=replace(context.timestamping, authorities=[(authority or Dead)()]))


class Dead:
    name = "dead"

    def answer(self, request: bytes, timeout: float) -> bytes:
        del request, timeout
        return b""


def ends(made: Scene) -> tuple[bool, int]:
    """Return whether the request is finalized, and how often a proof was made for it."""
    return SignatureRequest.objects.get().finalized, made.events().count("signature_request.certificate_issued")


def test_the_last_document_brings_the_proof() -> None:
    made = completed(documents=2)
    finalize(made.request_documents[0].pk)
    assert not ProofFile.objects.exists()
    finalize(made.request_documents[1].pk)
    assert ends(made) == (True, 1)
    for row in made.request_documents:
        finalize(row.pk)
    assert ends(made) == (True, 1)


@pytest.mark.parametrize("dies_in", ["prove", "publish"])
def test_after_a_crash_the_same_job_goes_on(dies_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = completed()

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(steps, dies_in, die)
        finalize(made.request_documents[0].pk)
    assert SealedDocument.objects.count() == 1 and not SignatureRequest.objects.get().finalized
    finalize(made.request_documents[0].pk)
    assert ends(made) == (True, 1)
    assert made.events().count("signature_request.pades_signed") == 1


@pytest.mark.django_db(transaction=True)
def test_the_last_two_at_once_bring_one_proof() -> None:
    made = completed(documents=2)
    at_once(*[partial(finalize, row.pk) for row in made.request_documents])
    assert ends(made) == (True, 1)


def drawn(request_id: int) -> str:
    row = RequestDocument.objects.select_related("request", "document").get(request=request_id)
    return " ".join(texts(stamp_marks(row).appearances)[:1])


def test_the_stamp_is_the_signature_alone_as_its_signer_sees_it(client: Client) -> None:
    alone, whole = scene(signature_only=True), scene()
    letters = []  # which are outlines
    for made in (alone, whole):
        answer = client.post(made.url(rest="/stamp"), {"signature": TYPED}, content_type="application/json")
        letters.append(answer.json()["svg"].count("<use "))
        sign(made)
    assert 0 < letters[0] < 20 < letters[1]
    assert re.sub(r"\s", "", drawn(alone.request.pk)) == "AdaLovelace"
    assert "Signed by" in drawn(whole.request.pk) and f"Request {whole.request.pk}" in drawn(whole.request.pk)


def test_a_request_keeps_the_form_that_its_profile_had() -> None:
    owner = api_client()
    assert owner.organization
    profile = create_profile(owner.organization.pk, OPERATOR, "House", signature_only=True, **COLORS)
    created = owner.create(payload(owner.document(), branding_profile_id=profile.pk)).json()
    assert created["branding_profile"] == {"id": profile.pk, "name": "House", **COLORS}
    assert SignatureRequest.objects.get().signature_only
    update_profile(OPERATOR, profile, "House", signature_only=False, **COLORS)
    assert SignatureRequest.objects.get().signature_only, "what signers saw is what is sealed"
    owner.create(payload(owner.document(), branding_profile_id=profile.pk))
    owner.create(payload(owner.document()))
    assert [each.signature_only for each in SignatureRequest.objects.order_by("pk")] == [True, False, False]


NAMES = {
    ("ßen", "ﬁnn"): "SF",
    ("ŉamen", "ǆemal"): "ND",
    ("ǰan", "ևa"): "J̌Ե",
    ("ﬃ", "İpek"): "Fİ",
    ("ΐ", "ᾳ"): "Ϊ́ᾼ",
    ("😀", "👨\u200d👩\u200d👧"): "😀",
    ("\u0301", "\u0302\u0308"): "—",
    ("\u200b", "\u202e"): "—",
    ("דוד", "לוי"): "דל",
    ("محمد", "الخالدي"): "\u0645 \u062e",
    ("ﷺ", "x"): "\u0635 \u0627 \u0639 X",
    ("\U0001d49c", "A\u030b"): "AA̋",
    ("a", "b"): "AB",
    ("ß" * 200, "ŉ" * 200): "SN",
    ("王小明", "\U0010fffd"): "王",
}


def test_names_that_no_capital_letter_begins(client: Client) -> None:
    made = scene(signers=len(NAMES), initials_required=True)
    for signer, (first, last) in zip(made.signers, NAMES, strict=True):
        Signer.objects.filter(pk=signer.pk).update(first_name=first, last_name=last)
    for position, initials in enumerate(NAMES.values()):
        page = client.get(made.url(position))
        assert page.status_code == 200 and f'alt="{initials}"' in page.content.decode()
        assert client.get(made.url(position, "/initials.svg")).status_code == 200
        sign(made, position, initials=TYPED)
    finalize(made.request_documents[0].pk)
    assert SignatureRequest.objects.get(pk=made.request.pk).finalized
    for key in (SealedDocument.objects.get().object_key, ProofFile.objects.get().object_key):
        content = store.get(key)
        assert verify(content, sealing_context().roots("sandbox")).ok


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


def filled_in(values: list[Value | None], **how: Any) -> Scene:
    """A request that everyone has signed, with these values in the order of their fields."""
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
    made = filled_in([value for _, value, _ in FIELDS], fields=columns, signers=2, documents=2, **how)
    for position, row in enumerate(made.request_documents):
        content = content_of(made, position)
        for signer in made.signers:
            fields = list(Field.objects.filter(request_document=row, signer=signer).order_by("position"))
            assert texts_at(content, fields) == [text for _, _, text in FIELDS]
        found = verify(content, sealing_context().roots("production"))
        assert found.ok and found.covers_whole_file, found.findings


def test_the_values_of_a_page_are_one_picture_under_the_stamps() -> None:
    made = filled_in(["x"] * 3, fields=[{}, {}, {"page_number": 2}], signers=2, pages=3, environment="production")
    marks = stamp_marks(made.request_documents[0]).marks
    assert [mark.page_number for mark in marks] == [1, 2, 3, 3]
    content = content_of(made)
    with pikepdf.open(io.BytesIO(content)) as document:
        assert not document.Root.AcroForm.get("/NeedAppearances"), "flat: the form has the seal alone"
        assert len(document.Root.AcroForm.Fields) <= 2
        assert all("/Annots" not in page or len(page.Annots) <= 2 for page in document.pages)


def test_a_ticked_box_is_a_cross_and_an_unticked_one_nothing() -> None:
    boxes = [{"type": "checkbox"}, {"type": "checkbox"}]
    made = filled_in([True, False], fields=boxes, environment="production")
    with pdfium.PdfDocument(content_of(made)) as document:
        picture = document[0].render(scale=4).to_pil().convert("L")
    darkest = []
    for field in Field.objects.order_by("position"):
        left, top = 4 * field.x, 4 * (842 - field.y - field.height)
        darkest.append(picture.crop((int(left), int(top), int(left + 48), int(top + 48))).getextrema()[0])
    assert darkest[0] < 0x30 and darkest[1] == 255


def test_what_is_left_empty_draws_nothing_and_a_request_without_fields_is_not_searched_for_them(made: Scene) -> None:
    empty = filled_in([None, False, ""], fields=[{"required": False}] * 3)
    assert len(stamp_marks(empty.request_documents[0]).marks) == 1, "the stamp"
    sign(made)
    with CaptureQueriesContext(connection) as queries:
        drawn = stamp_marks(made.request_documents[0])
    assert not [each for each in queries.captured_queries if '"signature_requests_field"' in each["sql"]]
    assert len(drawn.marks) == 1


def test_names_longer_than_their_fields_are_set_smaller_than_any_entry() -> None:
    name = "Maximiliana-Konstantina Freifrau von und zu Hohenstaufen-Wolfenbüttel Papadopoulou"
    made = filled_in([name], fields=[{"type": "full_name"}], environment="production")
    assert texts_at(content_of(made), list(Field.objects.all())) == [name]
