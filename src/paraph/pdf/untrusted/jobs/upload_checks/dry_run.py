"""A dry run of sealing: a throw-away key, a mark on each page that is compared, and an archive timestamp afterwards."""

import functools
import io
from collections.abc import Mapping, Sequence

import pikepdf
from cryptography.hazmat.primitives.asymmetric import ec

from paraph.kernel import clock
from paraph.keys.issuing import issue_root, issue_sealing
from paraph.keys.local_key import LocalKey
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.pki.purpose import document_purpose
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import SealError
from paraph.pdf.sealing.draft import archive_revision
from paraph.pdf.sealing.seal import seal
from paraph.pdf.structure.pages import Box, PageGeometry
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signature_fields import existing_signatures, signed_fields
from paraph.pdf.verification.appended.additions import check_additions
from paraph.pdf.verification.appended.revision import read_revision
from paraph.pdf.verification.appended.view import NotPermitted

COLOUR = (255, 0, 255)
_MARGIN, _SIDE = 0.02, 0.05  # relative to the shorter side: a corner, where pages show next to nothing
_ROOM = 8  # bytes for a timestamp that is never made


def sealed_on_trial(pdf: bytes, geometries: Sequence[PageGeometry], indices: Sequence[int]) -> bytes:
    """Return the file with a seal and the marks of :func:`marked_boxes`; raise what sealing raises."""
    marks = [Mark(index + 1, *_place(geometries[index]), 0) for index in indices]
    purpose = document_purpose(0, "trial")  # never leaves the sandbox
    now = clock.now()
    return seal(pdf, key=_key(), purpose=purpose, timestamping=None, appearances=_square(), marks=marks, at=now).content


def trial_root() -> bytes:
    """Return the certificate (DER) below which the trial seal is trusted."""
    return _key().chain[-1]


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
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
