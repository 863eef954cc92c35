"""What verifying the sealed file will cost, tried at upload under stricter limits than verifying has, so that whatever
is sealed can be verified.

Verifying draws pages and compares them. Most pages are surely cheap to draw, by what their contents are; each of the
others is drawn.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import pypdfium2

from paraph.pdf.refusal import PdfRefused, SealError, too_complex
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import PageGeometry, PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.serving import limited_memory
from paraph.pdf.untrusted.jobs.upload_checks import dry_run
from paraph.pdf.verification.pictures import SECONDS, DrawingTime, draw
from paraph.pdf.verification.verify import verify

SLOW = 0.1
"""Seconds of a processor after which reading, too, is tried."""
_MOST_SECONDS = 1.5  # of a processor, at a time; verifying has 8, of which it draws for 3 and one picture more
_MOST_MEMORY = 240 << 20  # of the 320 MB that verifying has
_CHEAP = 50_000  # an operation has some bytes and takes at most a tenth of a millisecond
_IMAGE_PIXELS, _GROUP = 50, 2_000  # pixels of an image that cost as much as a byte of contents, and bytes for a form
_DEEPEST = 8
_DRAWN = re.compile(rb"/([^\x00\t\n\x0c\r ()<>\[\]{}/%]+)\s+Do\b")
_COSTLY = re.compile(rb"\bBI\b|[\d.]\s*\]\s*[\d.]+\s+d\b")  # images in contents, and dashes
_RESOURCES = frozenset({b"/ProcSet", b"/Font", b"/XObject", b"/ExtGState", b"/ColorSpace", b"/Properties"})
_FONTS = frozenset({b"/Type0", b"/Type1", b"/MMType1", b"/TrueType"})
_STATE = frozenset({b"/Type", b"/SA", b"/SM", b"/LW", b"/OP", b"/op", b"/OPM", b"/AIS"})
_OPAQUE: dict[bytes, Any] = {b"/CA": 1, b"/ca": 1, b"/BM": b"/Normal", b"/SMask": b"/None"}
_IMAGE_FILTERS = frozenset({None, b"/FlateDecode", b"/DCTDecode"})


class _Costly(Exception):
    """How long it takes to draw can only be tried."""


def check_drawing(document: pypdfium2.PdfDocument, reader: PdfReader | None, nodes: Sequence[PageNode]) -> None:
    """Draw the pages that may be costly: all where ``reader``, of the same file, is ``None``. To be called before any
    page is drawn with more memory, some of which would stay with the process. Raise PdfRefused ``too_complex`` where a
    page takes too long; the process ends where it takes too much memory."""
    estimate, began = _Estimate(reader) if reader else None, time.process_time()
    for index in range(len(document)):
        if time.process_time() - began > 2 * SECONDS:
            return  # verifying, which draws each page twice, comes no further
        if not estimate or not estimate.is_cheap(nodes[index]):
            with _in_time(), limited_memory(_MOST_MEMORY), suppress(pypdfium2.PdfiumError, ValueError):
                draw(document, index)


def check_reading(pdf: bytes, pages: Sequence[PageGeometry]) -> None:
    """Seal the file on trial, and read it as verifying does before it draws. Raise PdfRefused ``too_complex`` where
    that takes too long, ``signature_does_not_hold`` where an earlier signature would make the verdict fail, and what
    sealing raises."""
    with _in_time():
        sealed = dry_run.sealed_on_trial(pdf, pages, [0])
        dry_run.check_archivable(sealed)
        found = verify(sealed, [dry_run.trial_root()], drawing=DrawingTime(0))
    failing = [each for each in found.signatures if not each.matches]
    # What was altered after seals of services like this one is told in the preflight report.
    if failing and not any(each.purpose and each.intact for each in failing):
        raise PdfRefused(
            "signature_does_not_hold",
            "The PDF has an earlier signature that does not hold or cannot be checked, so nobody could tell later "
            "whether the PDF was altered. Send it as it was before that signature, or print it to a new PDF.",
        )
    if not found.sound:
        raise SealError(" ".join(found.findings))


@contextmanager
def _in_time() -> Iterator[None]:
    began = time.process_time()
    yield
    if time.process_time() - began > _MOST_SECONDS:
        raise too_complex()


class _Estimate:
    """Whether pages are surely cheap; what they share is looked at once."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._known: dict[Ref, int] = {}
        self._plain: set[Ref] = set()

    def is_cheap(self, node: PageNode) -> bool:
        try:
            page = node.dictionary
            if any(b"/AP" in self._reader.dictionary(each) for each in self._listed(page.get(b"/Annots"))):
                return False
            contents = b"\n".join(map(self._content, self._listed(page.get(b"/Contents"))))
            return self._cost(contents, node.get(b"/Resources"), 0) <= _CHEAP
        except (_Costly, Unsafe, PdfRefused, *CONFUSED):
            return False

    def _listed(self, value: Any) -> list[Any]:
        found = self._reader.resolve(value)
        return found if isinstance(found, list) else [] if found is None else [found]

    def _content(self, value: Any) -> bytes:
        return unpacked(self._reader.resolve(value), _CHEAP)

    def _cost(self, contents: bytes, resources: Any, depth: int) -> int:
        if depth > _DEEPEST or _COSTLY.search(contents):
            raise _Costly
        known = self._resources(resources)
        forms = self._reader.resolve(known.get(b"/XObject")) or {}
        cost = len(contents)
        for name in _DRAWN.findall(contents):
            cost += self._drawn(forms.get(b"/" + name), resources, depth)
            if cost > _CHEAP:
                raise _Costly
        return cost

    def _drawn(self, value: Any, resources: Any, depth: int) -> int:
        if type(value) is Ref and value in self._known:
            return self._known[value]
        stream = self._reader.resolve(value)
        if not isinstance(stream, PdfStream):
            return 0
        if stream.dictionary.get(b"/Subtype") == b"/Image":
            cost = self._image(stream)
        else:
            own = stream.dictionary.get(b"/Resources", resources)
            cost = _GROUP + self._cost(unpacked(stream, _CHEAP), own, depth + 1)
        if type(value) is Ref:
            self._known[value] = cost
        return cost

    def _image(self, stream: PdfStream) -> int:
        resolve, image = self._reader.resolve, stream.dictionary
        if any(each not in _IMAGE_FILTERS for each in self._listed(image.get(b"/Filter")) or [None]):
            raise _Costly
        masks = [resolve(image.get(key)) for key in (b"/SMask", b"/Mask")]
        pixels = int(resolve(image.get(b"/Width"))) * int(resolve(image.get(b"/Height")))
        if pixels < 0 or len(stream.data) > _CHEAP * _IMAGE_PIXELS:
            raise _Costly
        return pixels // _IMAGE_PIXELS + sum(self._image(mask) for mask in masks if isinstance(mask, PdfStream))

    def _resources(self, value: Any) -> Dictionary:
        resolve = self._reader.resolve
        found: Dictionary = resolve(value) or {}
        if type(value) is Ref and value in self._plain:
            return found
        fonts, states = (resolve(found.get(key)) or {} for key in (b"/Font", b"/ExtGState"))
        if not (
            found.keys() <= _RESOURCES
            and all(resolve(self._reader.dictionary(font).get(b"/Subtype")) in _FONTS for font in fonts.values())
            and all(map(self._is_plain_state, states.values()))
        ):
            raise _Costly
        if type(value) is Ref:
            self._plain.add(value)
        return found

    def _is_plain_state(self, value: Any) -> bool:
        state = self._reader.dictionary(value)
        return all(key in _STATE or (key in _OPAQUE and state[key] == _OPAQUE[key]) for key in state)
