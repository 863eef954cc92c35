"""Every stamp lies on a ground of its own, the same in the preview and in the seal, through which the page shows."""

import io
import re
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.flow.sealing.finalize import seal
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.kernel import tokens
from paraph.pdf.untrusted.page_reading import render_png
from paraph.signature_requests.models import Placement
from paraph.storage import store
from tests.factories import TYPED, Scene, scene, sign
from tests.pdf.pdf_factory import paper, text

pytestmark = pytest.mark.django_db
NAVY = "0.05 0.1 0.25 rg 0 0 595 842 re f"
LINE = "0 g 50 133 300 4 re f"
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


def test_preview_and_seal_have_it_on_every_page(client: Client) -> None:
    made = made_of(WHITE, NAVY, LINE)
    told = previewed(client, made)
    assert told["places"] == [0, 0, 0] and len(told["stamps"]) == 1
    assert re.search(r'fill="#ffffffb[23]"|fill="#ffffff" fill-opacity="0.7', told["svg"])
    sign(made)
    drawn = stamp_marks(made.request_documents[0])
    assert len({mark.appearance for mark in drawn.marks}) == 1
    seal(made.request_documents[0].pk)
    sealed = store.get(SealedDocument.objects.get().object_key)
    light, dark, line = (_pixel(sealed, number, 255, 842 - 135) for number in (1, 2, 3))
    assert light == (255, 255, 255)
    assert all(abs(value - expected) < 4 for value, expected in zip(dark, (182, 186, 198), strict=True)), dark
    assert all(abs(value - 179) < 4 for value in line), "what lies under the stamp shows through"
    assert _pixel(sealed, 2, 265, 842 - 135) == (13, 26, 64)
    assert _pixel(sealed, 3, 265, 842 - 135) == (0, 0, 0)


def test_other_sizes_have_their_own_look_and_signers_see_their_own_places(client: Client) -> None:
    made = made_of(WHITE, WHITE, signers=2)
    Placement.objects.filter(signer=made.signers[0], page_number=1).update(width=120, height=40)
    told = previewed(client, made)
    assert told["places"] == [0, 1]
    boxes = [re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg) for svg in told["stamps"]]
    assert boxes == [[("120", "40")], [("200", "80")]]


def test_initials_have_it(client: Client) -> None:
    made = made_of(WHITE, NAVY, initials_required=True)
    sign(made, initials={"type": "typed"})
    drawn = stamp_marks(made.request_documents[0])
    initials = [mark for mark in drawn.marks if mark.width < 60]
    assert [mark.page_number for mark in initials] == [1, 2] and len({mark.appearance for mark in initials}) == 1
    seal(made.request_documents[0].pk)
    sealed = store.get(SealedDocument.objects.get().object_key)
    place = initials[1]
    assert _pixel(sealed, 1, place.x + 4, 842 - place.y - 18) == (255, 255, 255)
    assert all(178 < value < 202 for value in _pixel(sealed, 2, place.x + 4, 842 - place.y - 18))


def _pixel(pdf: bytes, page: int, x: float, y: float) -> tuple[int, ...]:
    picture = Image.open(io.BytesIO(render_png(pdf, page, 1))).convert("RGB")
    return tuple(picture.getpixel((round(x), round(y))))  # type: ignore[arg-type]
