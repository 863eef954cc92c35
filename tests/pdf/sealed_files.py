"""What the tests of sealing share: keys of each kind, pictures, and one way to seal."""

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority, KeyKind, development_authority
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
from paraph.pdf.sealing.seal import Mark, Overlay, SealedPdf, seal
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamping
from tests import first_start, independent
from tests.pdf.pdf_factory import paper, saved, text

AT = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
DOCUMENT, PROOF = document_purpose(71, "production"), proof_purpose(71, "production")
RED, GREEN, BLUE, WATERMARK = 0, 1, 2, 3  # pages of :func:`pictures`


@cache
def authority(kind: KeyKind) -> DevelopmentAuthority:
    """Return an authority that is the same for all processes of a test run: RSA keys take seconds to make."""
    run = os.environ.get(first_start.FOLDER) or mkdtemp(prefix="paraph-keys-")
    return development_authority(Path(run, kind), b"a secret of the tests that is long", kind)


OWN = authority("p-256")
ROOT, ROOTS = OWN.root, [OWN.root]
LETTER = paper(text("A contract", 100, 700))


def on(moment: datetime) -> Any:
    """Return a context manager in which the time is ``moment``."""
    return patch.object(clock, "now", lambda: moment)


def timestamping() -> Timestamping:
    return Timestamping([BuiltInAuthority(OWN.timestamp_key)], ROOTS)


@cache
def pictures() -> bytes:
    """Three rectangles of 100 by 50 points in a colour with a black lower left corner, and a watermark of A4 size."""
    document = pikepdf.new()
    for colour in ("1 0 0", "0 1 0", "0 0 1"):
        page = document.add_blank_page(page_size=(100, 50))
        page.obj.Contents = document.make_stream(f"{colour} rg 0 0 100 50 re f 0 g 0 0 20 10 re f".encode())
    page = document.add_blank_page(page_size=(595, 842))
    page.obj.Contents = document.make_stream(b"0 1 1 rg 0 400 595 8 re f")
    return saved(document)


DRAWING: dict[str, Any] = {
    "appearances": pictures(),
    "marks": [Mark(1, 100, 100, 100, 50, RED)],
    "page_overlay": Overlay(WATERMARK),
}
"""A red mark on the first page, and the watermark on all."""


def sealed(pdf: bytes, **arguments: Any) -> SealedPdf:
    """Return the file sealed with the key of :func:`authority`; without a timestamp unless asked for."""
    defaults: dict[str, Any] = {"key": OWN.sealing_key, "purpose": DOCUMENT, "timestamping": None, "at": AT}
    return seal(pdf, **{**defaults, **arguments})


def sealed_now(pdf: bytes = LETTER, **arguments: Any) -> bytes:
    """Return the file sealed now, with a timestamp."""
    return sealed(pdf, **{"at": clock.now(), "timestamping": timestamping(), **arguments}).content


@cache
def stamped() -> bytes:
    """Return :data:`LETTER`, sealed with a timestamp: one file for all tests."""
    return sealed_now()


def sealed_without_purpose(pdf: bytes, **arguments: Any) -> bytes:
    """Return the file with a seal that does not say what it is for, as earlier versions made seals."""
    with patch("paraph.pdf.sealing.draft.check"):  # would refuse to hand it out
        return sealed(pdf, **{"at": clock.now(), **arguments, "purpose": _Unsaid("document", 0, "")}).content


class _Unsaid(Purpose):
    attribute = b""


def assert_trusted(content: bytes, folder: Path, *, kind: KeyKind = "p-256", signatures: int = 1) -> None:
    """Assert that poppler finds the seals valid, trusted and over the whole file, and qpdf finds the file sound."""
    file = folder / "sealed.pdf"
    file.write_bytes(content)
    independent.assert_sealed(file, root_file(folder, kind), signatures)


def root_file(folder: Path, kind: KeyKind = "p-256") -> Path:
    """Write the root certificate as PEM, and return its path."""
    path = folder / "root.pem"
    path.write_bytes(x509.load_der_x509_certificate(authority(kind).root).public_bytes(Encoding.PEM))
    return path
