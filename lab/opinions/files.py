"""Sealed files of every kind that the service makes. One authority, made for them, certifies all keys of one kind."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import pikepdf
import typst
from asn1crypto import keys as asn1_keys
from asn1crypto import x509 as asn1_x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pikepdf import Dictionary, Name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import PdfSignatureMetadata, SimpleSigner, sign_pdf
from pyhanko_certvalidator.registry import SimpleCertificateStore

from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority, KeyKind, SigningKey, development, development_authority
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from paraph.pdf.sealing.seal import seal
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.typesetting.proof import proof
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import DOCUMENT, GREEN, PROOF, pictures
from tests.pdf.typesetting.test_proof import CONTENT

_WORDS = text("I owe 1,000 EUR", 100, 700)


@dataclass(frozen=True)
class SealedFile:
    """An upload, and how it is sealed."""

    upload: Callable[[DevelopmentAuthority], bytes]
    level: str = "B-LTA"
    kind: KeyKind = "p-256"
    is_proof: bool = False

    def by(self, issuer: DevelopmentAuthority) -> bytes:
        """Seal with the keys of ``issuer``; whatever the upload contains was signed under our own authority."""
        how: dict[str, Any] = {"appearances": pictures(), "marks": [Mark(1, 400, 60, 100, 50, GREEN)]}
        if self.is_proof:
            how = {"purpose": PROOF}
        return _sealed(self.upload(authority(self.kind)), issuer, self.level, key=self.key_of(issuer), **how)

    def key_of(self, issuer: DevelopmentAuthority) -> SigningKey:
        return issuer.proof_key if self.is_proof else issuer.sealing_key


@cache
def authority(kind: KeyKind, whose: str = "ours") -> DevelopmentAuthority:
    """Return an authority of ours or of a ``stranger``, both with the same names in their certificates."""
    return development_authority(Path(mkdtemp(prefix=f"paraph-{whose}-")), b"a secret that is long enough", kind)


def _sealed(pdf: bytes, by: DevelopmentAuthority, level: str = "B-LTA", **how: Any) -> bytes:
    stamps = Timestamping([BuiltInAuthority(by.timestamp_key)], [by.root]) if level != "B-B" else None
    chain = (by.timestamp_key.certificate, by.root)
    term = LongTerm([DevelopmentStatuses(by)], level == "B-LTA", chain) if "B-L" in level else None
    usual = {"key": by.sealing_key, "purpose": DOCUMENT, "at": clock.now()}
    made = seal(pdf, **{**usual, **how}, timestamping=stamps, long_term=term)
    assert made.level == level, made.level_reasons
    return made.content


def _letter(**save: Any) -> bytes:
    return paper(_WORDS, compress_streams=False, **save)


def _signed(own: DevelopmentAuthority) -> bytes:
    """Return a letter that a person signed with another program."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = development.issue_sealing(own.root_key.private_key, key.public_key(), "Jonas Brandt")
    person = SimpleSigner(
        asn1_x509.Certificate.load(certificate.public_bytes(Encoding.DER)),
        asn1_keys.PrivateKeyInfo.load(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())),
        SimpleCertificateStore(),  # type: ignore[no-untyped-call]
    )
    output = BytesIO()
    sign_pdf(IncrementalPdfFileWriter(BytesIO(_letter())), PdfSignatureMetadata("Person"), person, output=output)
    return output.getvalue()


def _image(side: int = 2650) -> bytes:
    """Return a page with an image that cannot be compressed."""

    def add(document: pikepdf.Pdf) -> None:
        image = document.make_stream(Random("21 MB").randbytes(3 * side * side))
        image.Type, image.Subtype, image.ColorSpace = Name.XObject, Name.Image, Name.DeviceRGB
        image.Width, image.Height, image.BitsPerComponent = side, side, 8
        document.pages[0].obj.Resources.XObject = Dictionary(I=image)

    return paper(f"q 300 0 0 300 100 300 cm /I Do Q {_WORDS}", prepare=add, compress_streams=False)


FILES: dict[str, SealedFile] = {
    "B-B": SealedFile(lambda _: _letter(), "B-B"),
    "B-T": SealedFile(lambda _: _letter(), "B-T"),
    "B-LT": SealedFile(lambda _: _letter(), "B-LT"),
    "B-LTA": SealedFile(lambda _: _letter()),
    "RSA": SealedFile(lambda _: _letter(), kind="rsa-3072"),
    "encrypted": SealedFile(lambda _: _letter(encryption=pikepdf.Encryption(owner="owner", user="", R=6))),
    "signed before": SealedFile(_signed),
    "sealed before": SealedFile(lambda own: _sealed(_letter(), own)),
    "21 MB": SealedFile(lambda _: _image()),
    "PDF 2.0": SealedFile(lambda _: _letter(force_version="2.0")),
    "PDF/A": SealedFile(lambda _: typst.compile(b"I owe 1,000 EUR", format="pdf", pdf_standards="a-2b")),
    "proof": SealedFile(lambda _: proof(CONTENT), is_proof=True),
}
"""Files by what sets each apart; unless stated otherwise, a letter sealed with P-256 at B-LTA."""


@cache
def sealed(name: str) -> bytes:
    file = FILES[name]
    return file.by(authority(file.kind))
