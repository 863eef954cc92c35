"""A file that somebody signed before: their signature stays valid."""

import re
from io import BytesIO
from pathlib import Path

import pikepdf
import pytest
from asn1crypto import keys as asn1_keys
from asn1crypto import x509 as asn1_x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import MDPPerm
from pyhanko_certvalidator.registry import SimpleCertificateStore

from paraph.pdf.sealing.seal import Mark, Overlay, SealError
from paraph.pdf.structure.objects import Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf import forge
from tests.pdf.drawing.test_draw import HEIGHT, WIDTH, WORDS, X, Y, assert_mark, colour_at, page_of
from tests.pdf.levels import statuses_by_pyhanko
from tests.pdf.pdf_factory import paper
from tests.pdf.sealed_files import RED, WATERMARK, authority, pictures, root_file, sealed

LETTER = paper(WORDS, WORDS, page={"/Rotate": 90, "/CropBox": [50, 40, 500, 700]})
MARKS = [Mark(1, X, Y, WIDTH, HEIGHT, RED)]
ROOTS = [authority(kind).root for kind in ("p-256", "rsa-3072")]


@pytest.mark.parametrize("overlay", [None, Overlay(WATERMARK)])
def test_both_signatures_are_valid_and_what_was_signed_stays(overlay: Overlay | None, tmp_path: Path) -> None:
    first = sealed(LETTER, key=authority("rsa-3072").sealing_key).content
    second = sealed(first, appearances=pictures(), marks=MARKS, page_overlay=overlay).content
    assert second.startswith(first)
    assert [status.bottom_line for status in statuses_by_pyhanko(second, *ROOTS)] == [True, True]
    (tmp_path / "sealed.pdf").write_bytes(second)
    said = independent.pdfsig(tmp_path / "sealed.pdf", root_file(tmp_path)).split("Signature #")
    assert all("Signature is Valid" in part for part in said[1:])
    assert all("Total document signed" in part for part in said[2:])
    # Asked for the same certificate twice, poppler calls it trusted only once.
    assert any("Certificate is Trusted" in part for part in said[2:])
    with pikepdf.open(BytesIO(first)) as old, pikepdf.open(BytesIO(second)) as new:
        for before, after in zip(old.pages, new.pages, strict=True):
            assert before.obj.Contents.read_raw_bytes() == after.obj.Contents.read_raw_bytes()


def test_marks_show_upright_in_place() -> None:
    first = sealed(LETTER).content
    assert_mark(first, sealed(first, appearances=pictures(), marks=MARKS).content)
    both = page_of(sealed(first, appearances=pictures(), marks=MARKS, page_overlay=Overlay(WATERMARK)).content)
    assert colour_at(both, X + WIDTH / 2, Y + HEIGHT / 2) == (255, 0, 0)
    assert colour_at(both, both.width / 4, both.height / 4 - 17 * both.height / 2 / 842) == (0, 255, 255)


@pytest.mark.parametrize("permission", MDPPerm)
def test_certification(permission: MDPPerm) -> None:
    """No level of certification permits the field that a seal adds, nor a stamp."""
    with pytest.raises(SealError, match="permits no further seal"):
        sealed(certify(LETTER, permission))


def certify(pdf: bytes, permission: MDPPerm) -> bytes:
    """Return the file certified by its author, with pyHanko."""
    key = forge.curve_key("root").private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    others = SimpleCertificateStore()  # type: ignore[no-untyped-call]  # pyHanko annotates nothing here
    certificate = asn1_x509.Certificate.load(forge.der_of(forge.root()))
    author = signers.SimpleSigner(certificate, asn1_keys.PrivateKeyInfo.load(key), others)
    terms = signers.PdfSignatureMetadata(field_name="Author", certify=True, docmdp_permissions=permission)
    signed: BytesIO = signers.sign_pdf(IncrementalPdfFileWriter(BytesIO(pdf)), terms, signer=author)
    return signed.getvalue()


@pytest.mark.parametrize("ahead", [0, 1, 3, 7, 20])
def test_what_is_missing_stays_missing(ahead: int) -> None:
    """Some programs refer to an object that they never write, with a number that the next program would take."""
    placeholder = "/Missing".ljust(20, "x")

    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.Elsewhere = pikepdf.Name(placeholder)

    letter = paper(WORDS, prepare=prepare)
    (size,) = re.findall(rb"/Size (\d+)", letter)
    missing = int(size) + ahead
    signed = sealed(letter.replace(placeholder.encode(), (b"%d 0 R" % missing).ljust(20))).content
    again = sealed(signed, appearances=pictures(), marks=MARKS[:1]).content
    for content in (signed, again):
        assert PdfReader(content).object(Ref(missing)) is None
        assert verify(content, [authority("p-256").root]).ok
