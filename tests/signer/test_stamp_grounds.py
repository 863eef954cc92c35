"""A stamp has a ground of its own where the page is dark, the same in the preview and in the seal, and nowhere else."""

import io
import re
from typing import Any

import pikepdf
import pytest
from django.test import Client
from PIL import Image

from paraph.documents import underneath
from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.flow.sealing.seal import seal
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.kernel import tokens
from paraph.pdf.untrusted.page_reading import render_png
from paraph.signature_requests.models import Placement
from paraph.storage import store
from tests.factories import TYPED, Scene, scene, sign
from tests.pdf.pdf_factory import paper, text

pytestmark = pytest.mark.django_db
NAVY = "0.05 0.1 0.25 rg 0 0 595 842 re f"
WHITE = "".join(
    text("The tenant keeps the flat in good order at all times.", 40, 780 - 12 * row, 11) for row in range(60)
)


def made_of(*pages: str, **more: Any) -> Scene:
    """A request with one document of these pages and the signer's stamp on each, in another size on the last."""
    made = scene(environment="production", pages=len(pages), **more)
    content = paper(*pages)
    store.put("test/grounds.pdf", content)
    Document.objects.update(object_key="test/grounds.pdf", sha256=tokens.sha256(content))
    row = made.request_documents[0]
    row.document.refresh_from_db()
    for number in range(1, len(pages)):
        Placement.objects.create(
            request_document=row, signer=made.signers[0], page_number=number, x=60, y=60, width=200, height=80
        )
    return made


def previewed(client: Client, made: Scene) -> dict[str, Any]:
    answer = client.post(made.url(rest="/stamp"), {"signature": TYPED}, content_type="application/json")
    content: dict[str, Any] = answer.json()
    return content | {"stamps": [content["svg"], *content["others"]]}


def has_ground(svg: str) -> bool:
    return bool(re.search(r'fill="#ffffffe0?"|fill="#ffffff" fill-opacity', svg))


def test_preview_and_seal_agree_for_each_place(client: Client) -> None:
    made = made_of(WHITE, NAVY, WHITE)
    told = previewed(client, made)
    assert told["places"] == [0, 1, 0] and len(told["stamps"]) == 2
    assert [has_ground(told["stamps"][look]) for look in told["places"]] == [False, True, False]
    sign(made)
    drawn = stamp_marks(made.request_documents[0])
    by_page = {mark.page_number: mark.appearance for mark in drawn.marks}
    assert by_page[1] == by_page[3] != by_page[2]
    seal(made.request_documents[0].pk)
    sealed = store.get(SealedDocument.objects.get().object_key)
    corners = [_pixel(sealed, number, 255, 842 - 135) for number in (1, 2, 3)]
    assert corners[0] == corners[2] == (255, 255, 255)
    assert all(218 < value < 240 for value in corners[1])  # white at 88 % over navy
    assert _pixel(sealed, 2, 265, 842 - 135) == (13, 26, 64)


def test_other_sizes_have_their_own_look_and_signers_see_their_own_places(client: Client) -> None:
    made = made_of(WHITE, WHITE, signers=2)
    Placement.objects.filter(signer=made.signers[0], page_number=1).update(width=120, height=40)
    told = previewed(client, made)
    assert told["places"] == [0, 1]
    boxes = [re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg) for svg in told["stamps"]]
    assert boxes == [[("120", "40")], [("200", "80")]]


def test_initials_have_one_on_dark_pages(client: Client) -> None:
    made = made_of(WHITE, NAVY, initials_required=True)
    sign(made, initials={"type": "typed"})
    drawn = stamp_marks(made.request_documents[0])
    initials = [mark for mark in drawn.marks if mark.width < 60]
    assert len({mark.appearance for mark in initials}) == 2
    seal(made.request_documents[0].pk)
    sealed = store.get(SealedDocument.objects.get().object_key)
    place = initials[1]
    assert _pixel(sealed, 1, place.x + 4, 842 - place.y - 18) == (255, 255, 255)
    assert all(218 < value < 240 for value in _pixel(sealed, 2, place.x + 4, 842 - place.y - 18))


def test_what_was_judged_is_kept_and_judged_alike_when_it_is_gone(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_of(NAVY)
    first = previewed(client, made)
    with monkeypatch.context() as patched:
        patched.setattr(underneath, "look_underneath", None)
        assert previewed(client, made)["places"] == first["places"]
        sign(made)
        kept = stamp_marks(made.request_documents[0])
    for key in store.keys_written_before("pages/", made.request.expires_at):
        store.delete(key)
    assert stamp_marks(made.request_documents[0]) == kept


def test_on_light_pages_stamps_are_as_they_were_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the file of pictures that the seal draws them from."""
    made = made_of(WHITE, WHITE, initials_required=True)
    sign(made, initials={"type": "typed"})
    drawn = stamp_marks(made.request_documents[0])
    monkeypatch.setattr(underneath, "look_underneath", _nothing_dark)
    for key in store.keys_written_before("pages/", made.request.expires_at):
        store.delete(key)
    assert stamp_marks(made.request_documents[0]) == drawn
    with pikepdf.open(io.BytesIO(drawn.appearances)) as pictures:
        assert len(pictures.pages) == 2
        assert not any(b" rg\n0 0 m" in page.Contents.read_bytes() for page in pictures.pages)


def _nothing_dark(_pdf: object, places: list[Any], **_: object) -> list[Any]:
    from paraph.pdf.untrusted.page_reading import Underneath

    return [Underneath(dark=False) for _ in places]


def _pixel(pdf: bytes, page: int, x: float, y: float) -> tuple[int, ...]:
    picture = Image.open(io.BytesIO(render_png(pdf, page, 1))).convert("RGB")
    return tuple(picture.getpixel((round(x), round(y))))  # type: ignore[arg-type]
