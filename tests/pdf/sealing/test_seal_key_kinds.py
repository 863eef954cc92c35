"""Files sealed by keys of every kind and place, as poppler, OpenSSL, qpdf, pyHanko and we ourselves judge them."""

from io import BytesIO
from pathlib import Path

import pytest
from asn1crypto import x509 as asn1_x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.status import SignatureCoverageLevel
from pyhanko_certvalidator import ValidationContext

from paraph.kernel import clock
from paraph.pdf.sealing.seal import seal
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.keys.certified_keys import ALGORITHMS, KINDS, Kind
from tests.keys.kinds import PLACES, Place, placed
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import DOCUMENT, authority, root_file, timestamping
from tests.pdf_parts import signature_and_token


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_everybody_finds_the_seal_valid(
    place: Place, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with placed(place, kind, tmp_path, monkeypatch) as made:
        key = made.open()
        contract = paper(text("A contract", 72, 700))
        result = seal(contract, key=key, purpose=DOCUMENT, timestamping=timestamping(), at=clock.now())
    assert result.signing_algorithm == ALGORITHMS[kind]
    assert result.kms_key_id == key.key_id and bool(result.kms_request_id) == (place in ("kms", "csc"))

    root = made.root.certificate.public_bytes(Encoding.DER)
    found = verify(result.content, [root, authority("p-256").root])
    assert found.level == "B-T" and found.ok and found.covers_whole_file, found.findings
    file = tmp_path / "sealed.pdf"
    file.write_bytes(result.content)
    (tmp_path / "ours").mkdir()
    independent.assert_sealed(file, made.root.pem(tmp_path / "ours"))
    independent.assert_cades(file, made.root.pem(tmp_path / "ours"))
    value, token = signature_and_token(result.content)
    independent.assert_timestamped(token, value, root_file(tmp_path), tmp_path)
    (signature,) = PdfFileReader(BytesIO(result.content)).embedded_signatures
    context = ValidationContext(
        trust_roots=[asn1_x509.Certificate.load(der) for der in (root, authority("p-256").root)], allow_fetching=False
    )
    status = validate_pdf_signature(signature, context)
    assert status.bottom_line and status.coverage is SignatureCoverageLevel.ENTIRE_FILE
