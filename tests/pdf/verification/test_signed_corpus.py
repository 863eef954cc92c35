"""Signed files of other makers, and what is expected of each: ``expected.tsv`` of the folder ``signed`` beside that of
``PARAPH_CORPUS``. Neither is part of the repository."""

import csv
import os
from pathlib import Path

import pytest
from cryptography import x509

from paraph.pdf.pki.der import DerError, der_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.report import Verification
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.signed_file import NotVerifiable, SignedFile
from paraph.pdf.verification.verify import verify
from tests.pdf.sealed_files import authority, sealed

_FOLDER = Path(os.environ.get("PARAPH_CORPUS", "/nowhere")).parent / "signed"
_LINES = (_FOLDER / "expected.tsv").read_text().splitlines() if _FOLDER.is_dir() else []
_ROWS = list(csv.DictReader(_LINES, delimiter="\t"))
if not _ROWS:
    pytest.skip("PARAPH_CORPUS names no folder with signed files beside it", allow_module_level=True)
_NOT_TAKEN = {
    "dss/Signature-P-HU_POL-3.pdf": "signature_does_not_hold",
    "dss/dss-1696/Test.signed_Certipost-2048-SHA512.extended.extended-2019-07-02.pdf": "signature_does_not_hold",
    "dss/dss-2554/fieldmdp-include.pdf": "changes_forbidden",
    "dss/dss-818/Signature-P-SK-1 (HASH_FAILURE).pdf": "signature_does_not_hold",
    "siva/signature_policy_test_files/PadesProfileT.pdf": "too_complex",
}
"""Why the service does not take those that are intact."""
pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["file"])
def test_the_verdict_is_the_expected_one(row: dict[str, str]) -> None:
    pdf = (_FOLDER / row["file"]).read_bytes()
    found = verify(pdf, own_roots(pdf))
    if row["integrity"] == "intact":
        assert wrongly_told(found) == [] and len(found.signatures) == int(row["signatures"])
    elif row["integrity"] == "policy":
        assert found.ok or found.findings
    else:
        assert not found.ok


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["file"])
def test_a_seal_of_the_service_makes_no_earlier_verdict_better_or_worse(row: dict[str, str]) -> None:
    pdf = (_FOLDER / row["file"]).read_bytes()
    try:
        inspection = inspect(pdf, page_limit=2000)
    except PdfRefused as refused:
        assert row["integrity"] != "intact" or refused.reason == _NOT_TAKEN.get(row["file"])
        return
    assert row["file"] not in _NOT_TAKEN
    content = sealed(inspection.prepared or pdf).content
    assert verify(content, [authority("p-256").root]).ok, "what is accepted and sealed is valid"
    found = verify(content, [*own_roots(pdf), authority("p-256").root])
    if row["integrity"] == "intact":
        assert wrongly_told(found) == []
    elif row["integrity"] != "policy" and int(row["signatures"]):
        assert not found.ok


def wrongly_told(found: Verification) -> list[str]:
    """Return the signatures that are called unreadable, broken or altered after."""
    return [
        each.field_name
        for each in found.signatures
        if not each.intact or each.altered or each.matches is False or each.coverage == "unclear"
    ]


def own_roots(pdf: bytes) -> list[bytes]:
    """Return the certificates of the file's own chains whose issuer is not among them."""
    try:
        file = SignedFile(pdf)
    except NotVerifiable:
        return []
    found = {encoded: name for field in file.signatures for encoded, name in _certificates(field.contents)}
    found |= {encoded: name for each in file.long_term_data().certificates for encoded, name in _certificates(each)}
    return [
        encoded
        for encoded, (issuer, _) in found.items()
        if issuer not in {subject for other, (_, subject) in found.items() if other != encoded}
    ]


def _certificates(value: bytes) -> list[tuple[bytes, tuple[bytes, bytes]]]:
    """Return every certificate that stands anywhere in a message, with its issuer and subject."""
    try:
        value = der_of(value)
    except DerError:
        return []
    found, place = [], value.find(b"\x30\x82")
    while place >= 0:
        piece = value[place : place + 4 + int.from_bytes(value[place + 2 : place + 4], "big")]
        try:
            parsed = x509.load_der_x509_certificate(piece)
            found.append((piece, (parsed.issuer.public_bytes(), parsed.subject.public_bytes())))
        except ValueError:
            pass
        place = value.find(b"\x30\x82", place + 1)
    return found
