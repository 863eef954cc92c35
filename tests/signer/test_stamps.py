"""Previews of stamps, on the same ground as in the sealed document, and how many of them a signer gets."""

import io
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.flow.sealing.finalize import seal
from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.kernel import rates, tokens
from paraph.pdf.typesetting.appearances import InitialsContent, initials_svg
from paraph.pdf.untrusted.page_reading import render_png
from paraph.signature_requests.models import Placement
from paraph.signer import endpoints
from paraph.storage import store
from tests.factories import TYPED, Scene, scene, sign
from tests.pdf.pdf_factory import paper, text
from tests.signer.calls import call, refused

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
    content: dict[str, Any] = drawn(client, made).json()
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


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints.STAMPS, "most", 3)
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 120.5))


def drawn(client: Client, made: Scene, position: int = 0) -> Any:
    return call(client, made, "/stamp", {"signature": TYPED}, position)


def test_beyond_the_limit_none_is_drawn_until_the_next_minute(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene(signers=2)
    assert [drawn(client, made).status_code for _ in range(2)] == [200, 200]
    assert client.get(made.url(rest="/stamp.svg")).status_code == 200
    for refusal in (drawn(client, made), client.get(made.url(rest="/stamp.svg?hand=2"))):
        assert refused(refusal) == (429, "rate_limited") and refusal["Retry-After"] == "60"
    assert drawn(client, made, 1).status_code == 200
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 180.0))
    assert drawn(client, made).status_code == 200


def test_typed_initials_are_shown_as_they_stand_on_pages_where_they_are_wanted(client: Client) -> None:
    made = scene(initials_required=True)
    address = made.url(rest="/initials.svg")
    assert f'src="{address}"' in client.get(made.url()).content.decode()
    shown = [client.get(address) for _ in range(4)]
    assert [each.status_code for each in shown] == [200, 200, 200, 429], "it counts as a stamp"
    assert shown[0]["Content-Type"] == "image/svg+xml" and b"<use " in shown[0].content
    assert shown[0].content == initials_svg(InitialsContent(made.signers[0].full_name))
    assert client.get(scene().url(rest="/initials.svg")).status_code == 404
    posted = client.post(address)
    assert refused(posted) == (405, "method_not_allowed") and posted["Allow"] == "GET"
