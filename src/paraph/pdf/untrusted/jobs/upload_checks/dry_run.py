"""A trial at upload of what is done to a file later: a seal with a throw-away key, an archive timestamp, verification.

Verifying draws pages and compares them. The limits here are stricter than those of verifying, so that what is sealed
can be verified. Most pages are surely cheap to draw, by what their contents are; each of the others is drawn.
"""

import functools
import io
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pikepdf
import pypdfium2
from cryptography.hazmat.primitives.asymmetric import ec

from paraph.kernel import clock
from paraph.keys.development import issue_root, issue_sealing
from paraph.keys.signing_key import LocalKey
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.pki.purpose import document_purpose
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import PdfRefused, SealError, too_complex
from paraph.pdf.sealing.draft import archive_revision
from paraph.pdf.sealing.seal import seal
from paraph.pdf.structure.normalise import saved
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import Box, PageGeometry, PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signature_fields import existing_signatures, signed_fields
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.serving import limited_memory
from paraph.pdf.verification.appended.revision import read_revision
from paraph.pdf.verification.appended.view import NotPermitted
from paraph.pdf.verification.changes import check_additions
from paraph.pdf.verification.pictures import SECONDS, DrawingTime, compare_pictures, draw
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify

COLOUR = (255, 0, 255)
_MARGIN, _SIDE = 0.02, 0.05  # relative to the shorter side: a corner, where pages show next to nothing
_SMALL = [PageGeometry((0, 0, 50, 50), 0, 1)]
_ROOM = 8  # bytes for a timestamp that is never made
SLOW = 0.1
"""Processor seconds after which reading, too, is tried."""
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


def sealed_on_trial(pdf: bytes, geometries: Sequence[PageGeometry], indices: Sequence[int]) -> bytes:
    """Return the file with a seal and the marks of :func:`marked_boxes`; raise what sealing raises."""
    marks = [Mark(index + 1, *_place(geometries[index]), 0) for index in indices]
    purpose = document_purpose(0, "trial")  # never leaves the sandbox
    now = clock.now()
    return seal(pdf, key=_key(), purpose=purpose, timestamping=None, appearances=_square(), marks=marks, at=now).content


def trial_root() -> bytes:
    """Return the certificate (DER) below which the trial seal is trusted."""
    return _key().chain[-1]


def small_file(attachments: Mapping[str, bytes] = MappingProxyType({})) -> bytes:
    """Return a PDF of one page with text in a font that it lacks, so that libraries load what they load lazily."""
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(50, 50))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.TrueType, BaseFont=pikepdf.Name.Elsewhere)
    page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.obj.Contents = document.make_stream(b"BT /F1 12 Tf 20 20 Td (a) Tj ET")
    for name, content in attachments.items():
        facts = dict.fromkeys(("filename", "description", "mime_type", "creation_date", "mod_date"), "")
        document.attachments[name] = pikepdf.AttachedFileSpec(document, content, **facts)
    file = io.BytesIO()
    document.save(file, object_stream_mode=pikepdf.ObjectStreamMode.generate)  # for pyHanko to unpack
    return file.getvalue()


def verify_on_trial(pdf: bytes) -> tuple[bytes, bytes]:
    """Seal a file and seal it again, verify it, and ask pyHanko about it; return what was sealed once and twice."""
    datetime.strptime("2000Z", "%Y%z")  # imports a module when it is first called
    sealed = sealed_on_trial(pdf, _SMALL, [0])
    sealed_again = sealed_on_trial(sealed, _SMALL, [0])
    verify(sealed_again, [trial_root()])
    compare_pictures(sealed, sealed_again, [], DrawingTime())
    file = SignedFile(sealed_again)
    file.objections(file.signatures[0])
    return sealed, sealed_again


def check_archivable(sealed: bytes) -> None:
    """Raise :class:`SealError` where an archive timestamp after the trial seal would pass for an alteration, because
    something else in the file refers to an object that it changes."""
    before = PdfReader(sealed)
    names = existing_signatures(Revision(before)).field_names
    after = sealed + bytes(archive_revision(before, LongTermData(), names, _ROOM).write().text)
    try:
        revision, stamp = read_revision(before, after), signed_fields(PdfReader(after))[-1]
        check_additions(before, revision, stamp, frozenset())  # contents were searched for references before
    except NotPermitted as error:
        raise SealError(f"No archive timestamp can follow the seal: {error}.") from error


def marked_boxes(geometries: Sequence[PageGeometry], indices: Sequence[int]) -> Mapping[int, Box]:
    """Return the boxes of the marks by page index, in fractions of the page's size from the bottom left."""
    boxes = {}
    for index in indices:
        width, height = geometries[index].width, geometries[index].height
        x, y, side, _ = _place(geometries[index])
        boxes[index] = (x / width, y / height, (x + side) / width, (y + side) / height)
    return boxes


def _place(geometry: PageGeometry) -> Box:
    shorter = min(geometry.width, geometry.height)
    return _MARGIN * shorter, _MARGIN * shorter, _SIDE * shorter, _SIDE * shorter


@functools.cache
def _key() -> LocalKey:
    root, sealing = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    return LocalKey(sealing, [issue_sealing(root, sealing.public_key()), issue_root(root)])


@functools.cache
def _square() -> bytes:
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(10, 10))
    page.obj.Contents = document.make_stream(b"1 0 1 rg 0 0 10 10 re f")
    return saved(document)


class _Costly(Exception):
    """How long a page takes to draw can only be found out by drawing it."""


def check_drawing(document: pypdfium2.PdfDocument, reader: PdfReader | None, nodes: Sequence[PageNode]) -> None:
    """Draw the pages that may be costly: all where ``reader``, of the same file, is ``None``. Must be called before any
    page is drawn with more memory, some of which would stay with the process. Raise PdfRefused ``too_complex`` where a
    page takes too long; the process ends where it takes too much memory."""
    estimate, began = _Estimate(reader) if reader else None, time.process_time()
    for index in range(len(document)):
        if time.process_time() - began > 2 * SECONDS:
            return  # verifying, which draws each page twice, gets no further
        if not estimate or not estimate.is_cheap(nodes[index]):
            with _in_time(), limited_memory(_MOST_MEMORY), suppress(pypdfium2.PdfiumError, ValueError):
                draw(document, index)


def check_reading(pdf: bytes, pages: Sequence[PageGeometry]) -> None:
    """Seal the file on trial, and read it as verifying does before it draws. Raise PdfRefused ``too_complex`` where
    that takes too long, ``signature_does_not_hold`` where an earlier signature would make the verdict fail, and what
    sealing raises."""
    with _in_time():
        sealed = sealed_on_trial(pdf, pages, [0])
        check_archivable(sealed)
        found = verify(sealed, [trial_root()], drawing=DrawingTime(0))
    failing = [each for each in found.signatures if not each.matches]
    # Alterations after seals of services like this one are not refused: the preflight report tells of them.
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
    """An estimate of whether pages are surely cheap to draw; what they share is examined once."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._known: dict[Ref, int] = {}
        self._plain: set[Ref] = set()

    def is_cheap(self, node: PageNode) -> bool:
        try:
            page = node.dictionary
            if any(b"/AP" in self._reader.dictionary(each) for each in self._listed(page.get(b"/Annots"))):
                return False
            streams = map(self._reader.resolve, self._listed(page.get(b"/Contents")))
            contents = b"\n".join(unpacked(each, _CHEAP) for each in streams)
            return self._cost(contents, node.get(b"/Resources"), 0) <= _CHEAP
        except (_Costly, Unsafe, PdfRefused, *CONFUSED):
            return False

    def _listed(self, value: Any) -> list[Any]:
        found = self._reader.resolve(value)
        return found if isinstance(found, list) else [] if found is None else [found]

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
        kinds = {resolve(self._reader.dictionary(font).get(b"/Subtype")) for font in fonts.values()}
        entries = [entry for state in states.values() for entry in self._reader.dictionary(state).items()]
        is_opaque = all(key in _STATE or (key in _OPAQUE and value == _OPAQUE[key]) for key, value in entries)
        if not (found.keys() <= _RESOURCES and kinds <= _FONTS and is_opaque):
            raise _Costly
        if type(value) is Ref:
            self._plain.add(value)
        return found
