"""Signed files of other makers, with the verdict expected of each: ``expected.tsv`` in the folder ``signed`` beside
that of ``PARAPH_CORPUS``. Neither is part of the repository. docs/second-opinions.md counts the verdicts."""

import csv
import os
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from cryptography import x509

from paraph.pdf.pki.der import DerError, der_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.report import Verification
from paraph.pdf.untrusted import verify as sandboxed
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.signed_file import NotVerifiable, SignedFile
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf.sealed_files import authority, sealed

_FOLDER = Path(os.environ.get("PARAPH_CORPUS", "/nowhere")).parent / "signed"
_LINES = (_FOLDER / "expected.tsv").read_text().splitlines() if _FOLDER.is_dir() else []
_ROWS = list(csv.DictReader(_LINES, delimiter="\t"))
if not _ROWS:
    pytest.skip("PARAPH_CORPUS names no folder with signed files beside it", allow_module_level=True)
_SHORT = {
    "dss/Signature-P-HU_POL-3.pdf",
    "dss/dss-2058/dss-2058-QC-LTA-test.pdf",
    "dss/dss-2236/hide.pdf",
    "dss/pades-spoofing-replaced-reason.pdf",
    "siva/document_format_test_files/hellopades-pades-lt-sha256-sign.pdf",
}
"""Files that every run verifies: verdicts of each kind, metadata that a program rewrote, a key of an Estonian card."""
_NOT_TAKEN = {
    "dss/dss-2554/fieldmdp-include.pdf": "changes_forbidden",
    "siva/signature_policy_test_files/PadesProfileT.pdf": "too_complex",
}
"""Why the service does not take these intact files: a certification that permits no changes, and values of a megabyte,
for which pyHanko takes seconds."""
_WHY_NOT = {
    "algorithm": r"is not accepted",
    "expired": r"its certificate expired on",
    "chain": r"the critical extension .*, which is not understood",
    "authority": r"the token names another authority than its certificate",
    "strictness": r"It cannot be told whether the file was changed after",
}
"""Reasons why an intact file need not be valid, with the words of a finding that state each."""
_VERDICTS = ("valid", "refused", "open")
"""The columns of the page; refused means that a signature is unreadable or broken, or that the file was altered."""
_PAGE = Path(__file__).parents[3] / "docs" / "second-opinions.md"
pytestmark = pytest.mark.filterwarnings("ignore")
every_file = pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row["file"], marks=[] if row["file"] in _SHORT else pytest.mark.thorough) for row in _ROWS],
)


@every_file
def test_the_verdict_is_the_expected_one(row: dict[str, str]) -> None:
    found, verdict = _verified(row["file"]), _verdict(row["file"])
    match row["integrity"]:
        case "intact":
            assert verdict != "refused" and len(found.signatures) == int(row["signatures"])
            assert verdict == "valid" or _reasons(found), found.findings
        case "policy":
            assert found.ok or found.findings
        case _:
            assert verdict != "valid"
    assert row["indication"] != "INDETERMINATE" or verdict != "valid"


@every_file
def test_the_sandbox_reads_it_as_it_is_read_outside(row: dict[str, str]) -> None:
    pdf = _content(row["file"])
    said = sandboxed.verify(pdf, own_roots(pdf))
    assert said.to_json()["signatures"] == _verified(row["file"]).to_json()["signatures"]


@every_file
def test_a_seal_of_the_service_makes_no_earlier_verdict_better_or_worse(row: dict[str, str], tmp_path: Path) -> None:
    pdf = _content(row["file"])
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
    before, after = _by_poppler(pdf, tmp_path / "before.pdf"), _by_poppler(content, tmp_path / "after.pdf")
    assert after[:-1] == before and after[-1][1] == "Signature is Valid."


@pytest.mark.thorough
def test_the_page_counts_what_comes_out() -> None:
    counted = Counter((row["integrity"], _verdict(row["file"])) for row in _ROWS)
    told = re.findall(r"^\| `(\w+)`[^|]*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", _PAGE.read_text(), re.MULTILINE)
    assert {integrity: tuple(map(int, numbers)) for integrity, *numbers in told} == {
        integrity: (sum(counts := [counted[integrity, each] for each in _VERDICTS]), *counts)
        for integrity in {row["integrity"] for row in _ROWS}
    }
    reasons = Counter(
        _reasons(_verified(row["file"]))[0]
        for row in _ROWS
        if row["integrity"] == "intact" and _verdict(row["file"]) != "valid"
    )
    told = re.findall(r"^\| (\w+) \| (\d+) \| [^|]+ \|$", _PAGE.read_text(), re.MULTILINE)
    assert {reason: int(number) for reason, number in told} == reasons


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


@cache
def _verified(name: str) -> Verification:
    pdf = _content(name)
    return verify(pdf, own_roots(pdf))


def _verdict(name: str) -> str:
    found = _verified(name)
    if found.ok:
        return "valid"
    return "refused" if wrongly_told(found) or found.altered else "open"


def _reasons(found: Verification) -> list[str]:
    return [name for name, words in _WHY_NOT.items() if any(re.search(words, each) for each in found.findings)]


def wrongly_told(found: Verification) -> list[str]:
    """Return the fields of the signatures that are called unreadable, broken or altered afterwards."""
    return [
        each.field_name
        for each in found.signatures
        if not each.intact or each.altered or each.matches is False or each.coverage == "unclear"
    ]


def _by_poppler(pdf: bytes, file: Path) -> list[tuple[str, str]]:
    """Return the field name of each signature and what pdfsig says of it."""
    file.write_bytes(pdf)
    command = [independent.need("pdfsig", "poppler-utils"), "-nocert", str(file)]
    said = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    return re.findall(r"Signature Field Name: (.*)\n(?:.*\n)*?.*Signature Validation: (.*)", said)


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
