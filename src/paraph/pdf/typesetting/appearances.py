"""The pictures on signed pages: stamps, initials, values of fields, the sandbox watermark. One PDF, one page for each
picture.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import geometric_mean
from typing import Any, NamedTuple

from paraph.pdf.typesetting.field_values import FieldsContent, fields_json
from paraph.pdf.typesetting.fonts import library
from paraph.pdf.typesetting.glyph_fallback import (
    NAMELESS,
    clean,
    glyph_fallback,
    initials_of,
    readable_name,
    template_text,
)
from paraph.pdf.typesetting.proof_words import moment, words_of
from paraph.pdf.typesetting.strokes import PEN, drawing_size, ink
from paraph.pdf.typesetting.typeset import typeset, typeset_svg
from paraph.words import direction

INK = "#16264f"
_THICKEST = 0.05  # half-width, as a share of the longer side: what a thick felt pen leaves in a tiny drawing

SizedSignature = tuple[Mapping[str, Any], float, float]
"""A signature, and approximately the width and height that it gets, in points."""
WATERMARK = ("SANDBOX", "not legally binding")
_TYPED: Mapping[str, Any] = {"type": "typed"}


class SignaturePictures:
    """The pictures of those signatures that are drawn.

    One picture serves all sizes of a drawing; its pen is the geometric mean of the pens that suit each size.
    """

    def __init__(self, signatures: Iterable[SizedSignature]) -> None:
        self.pictures: list[dict[str, Any]] = []
        """SVG with width and height."""
        self._numbers: dict[str, int] = {}
        for name, (signature, pen) in _pens(signatures).items():
            drawing = ink(signature.get("strokes", ()), float(signature.get("aspect", 1.0)), pen)
            if drawing:
                self._numbers[name] = len(self.pictures)
                self.pictures.append({"svg": drawing.svg(INK), "width": drawing.width, "height": drawing.height})

    def number(self, signature: Mapping[str, Any]) -> int | None:
        """Return the index of a signature's picture; None for a typed one, or where nothing visible was drawn."""
        return self._numbers.get(repr(signature))


def hand_of(signature: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return for the templates the ``hand`` of a typed signature, 1 to 4, 1 where it names none, and whether all of the
    text can be ``handwritten`` in that hand: otherwise all of it is set in a printed face, so that no name mixes
    two faces."""
    hand = signature.get("hand", 1)
    hand = hand if hand in (1, 2, 3, 4) else 1
    letters = {ord(letter) for letter in text}
    return {"hand": hand, "handwritten": letters <= library().hands[hand - 1].characters}


def mark_of(text: str, mark: Mapping[str, Any], pictures: SignaturePictures) -> dict[str, Any]:
    """Return a mark for the templates: its drawing, or the text in its hand."""
    written = glyph_fallback(text)
    name = {**written.to_json(), "pieces": written.pieces()}
    return {"name": name, **hand_of(mark, written.text), "drawing": pictures.number(mark)}


def hands_for(name: str, address: str) -> list[int]:
    """Return the hands in which a signer's name can be written; only the first where none can write it."""
    text = glyph_fallback(clean(readable_name(name, address)) or NAMELESS).text
    return [hand for hand in (1, 2, 3, 4) if hand_of({"hand": hand}, text)["handwritten"]] or [1]


def _pens(signatures: Iterable[SizedSignature]) -> dict[str, tuple[Mapping[str, Any], float]]:
    """Return each drawing once, with the half-width of its line as a share of its longer side."""
    drawings: dict[str, Mapping[str, Any]] = {}
    pens: dict[str, set[float]] = defaultdict(set)
    for signature, width, height in signatures:
        if signature.get("type") == "drawn":
            name = repr(signature)
            drawings[name] = signature
            pens[name].add(_pen(signature, width, height))
    return {name: (signature, geometric_mean(sorted(pens[name]))) for name, signature in drawings.items()}


def _pen(signature: Mapping[str, Any], width: float, height: float) -> float:
    """Return the half-width that looks like a pen's where the drawing fills ``width`` by ``height`` points."""
    drawn_width, drawn_height = drawing_size(signature.get("strokes", ()), float(signature.get("aspect", 1.0)))
    longer = max(drawn_width, drawn_height)
    if not longer:
        return PEN
    on_stamp = longer * min(width / max(drawn_width, longer / 50), height / max(drawn_height, longer / 50))
    return min(_THICKEST, (0.5 + 0.007 * height) / on_stamp)


@dataclass(frozen=True)
class StampContent:
    """One stamp of ``width`` by ``height`` points (rule 4.5: 80 to 400 by 30 to 160).

    ``signature`` is ``{"type": "typed"}``, with ``"hand"`` 2, 3 or 4 for another hand than the first, or
    ``{"type": "drawn", "strokes": [[[x, y], …], …]}`` with x and y in 0..1, y downwards, both divided by the same
    length; a client that divides each by its own side adds ``"aspect"`` (width / height of the drawing area).
    ``signed_at`` must be aware. ``address``: the signer's e-mail address, for a name that cannot be written.
    ``signature_only``: without line and words, for forms that print them.
    """

    width: float
    height: float
    name: str
    signed_at: datetime
    request_id: int
    signature: Mapping[str, Any] = field(default_factory=lambda: _TYPED)
    locale: str = "en"
    address: str = ""
    signature_only: bool = False


@dataclass(frozen=True)
class InitialsContent:
    """A signer's initials in a box of ``width`` by ``height`` points; ``initials`` is like the ``signature`` and
    ``address`` like the ``address`` of :class:`StampContent`."""

    name: str
    initials: Mapping[str, Any] = field(default_factory=lambda: _TYPED)
    width: float = 48.0
    height: float = 24.0
    address: str = ""


@dataclass(frozen=True)
class Appearances:
    """A PDF of pictures, and the page index (from 0) of each stamp, of each signer's initials, of the watermark for
    each page size, and of the fields of each page."""

    pdf: bytes
    stamp_pages: Sequence[int]
    initials_pages: Sequence[int]
    watermark_pages: Sequence[int]
    fields_pages: Sequence[int] = ()


def appearances(
    stamps: Sequence[StampContent] = (),
    initials: Sequence[InitialsContent] = (),
    watermarks: Sequence[tuple[float, float]] = (),
    fields: Sequence[FieldsContent] = (),
) -> Appearances:
    """Draw all pictures in one PDF, so that they share fonts. Each page has the size of its picture.

    ``watermarks``: the distinct page sizes (width, height in points, as a reader sees the page) of the document.
    Equal pictures are drawn once, and their indexes name the same page. A drawn signature is one form XObject for
    stamps of all sizes. Stamps and initials lie on white of 70 % opacity, everything else has no background, and all
    content is marked as an artifact. Raise ``ValueError`` where there is nothing to draw.
    """
    signatures, marks = SignaturePictures(map(_room, stamps)), SignaturePictures(map(_room, initials))
    pages: dict[str, dict[str, Any]] = {}
    order: dict[str, int] = {}

    def page_of(kind: str, content: dict[str, Any]) -> int:
        key = f"{kind} {content!r}"
        pages.setdefault(key, {"kind": kind, **content})
        return order.setdefault(key, len(order))

    stamp_pages = [page_of("stamp", _stamp(stamp, signatures)) for stamp in stamps]
    initials_pages = [page_of("initials", _initials(content, marks)) for content in initials]
    watermark_pages = [
        page_of("watermark", {"width": width, "height": height, "words": list(WATERMARK)})
        for width, height in watermarks
    ]
    fields_pages = [page_of("fields", fields_json(picture)) for picture in fields]
    if not pages:
        raise ValueError("no stamp, no initials, no value and no watermark to draw")
    drawings = {"stamp": signatures.pictures, "initials": marks.pictures}
    content = {"pages": list(pages.values()), "drawings": drawings}
    pdf = typeset("appearances", content, standard="a-2b")
    return Appearances(pdf, stamp_pages, initials_pages, watermark_pages, fields_pages)


def stamp_svg(content: StampContent) -> bytes:
    """Return one stamp as an SVG picture, drawn as :func:`appearances` draws it."""
    pictures = SignaturePictures([_room(content)])
    return _svg("stamp", _stamp(content, pictures), pictures)


def initials_svg(content: InitialsContent) -> bytes:
    """Return initials as an SVG picture, drawn as :func:`appearances` draws them."""
    pictures = SignaturePictures([_room(content)])
    return _svg("initials", _initials(content, pictures), pictures)


def _svg(kind: str, content: dict[str, Any], pictures: SignaturePictures) -> bytes:
    page = {"kind": kind, **content}
    return typeset_svg("appearances", {"pages": [page], "drawings": {kind: pictures.pictures}})


def _room(content: StampContent | InitialsContent) -> SizedSignature:
    if isinstance(content, InitialsContent):
        return content.initials, content.width * 0.9, content.height * 0.8
    return content.signature, content.width * 0.9, content.height * (0.9 if content.signature_only else 0.5)


def _stamp(stamp: StampContent, pictures: SignaturePictures) -> dict[str, Any]:
    words = words_of("stamp", stamp.locale)
    name = clean(readable_name(stamp.name, stamp.address)) or NAMELESS
    return {
        "width": stamp.width,
        "height": stamp.height,
        "signature_only": stamp.signature_only,
        **mark_of(name, stamp.signature, pictures),
        "signed_by": words["signed_by"],
        "moment": moment(stamp.signed_at, stamp.locale),
        "request": f"{words['request']} {stamp.request_id}",
        "request_number": f"#{stamp.request_id}",
        "rtl": direction(words["locale"]) == "rtl",
    }


def _initials(content: InitialsContent, pictures: SignaturePictures) -> dict[str, Any]:
    letters = glyph_fallback(initials_of(readable_name(content.name, content.address)))
    return {
        "width": content.width,
        "height": content.height,
        "letters": letters.to_json(),
        **hand_of(content.initials, letters.text),
        "drawing": pictures.number(content.initials),
    }


class PreviewBox(NamedTuple):
    """A box in points of the page as a reader sees it, with the origin at the bottom left."""

    x: float
    y: float
    width: float
    height: float
    name: str


class PreviewPage(NamedTuple):
    """A page of ``width`` by ``height`` points, as a reader sees it."""

    width: float
    height: float
    boxes: tuple[PreviewBox, ...] = ()


def preview_overlays(pages: Sequence[PreviewPage]) -> bytes:
    """Return a PDF with one page for each of ``pages``, without a background."""
    content = [
        {
            "width": page.width,
            "height": page.height,
            "boxes": [
                {**box._asdict(), "y": page.height - box.y - box.height, "name": template_text(box.name)}
                for box in page.boxes
            ],
        }
        for page in pages
    ]
    return typeset("preview", {"pages": content}, standard="a-2b")
