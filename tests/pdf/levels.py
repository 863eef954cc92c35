"""What the tests of the upper PAdES levels share: our own statuses, and the verdicts of pyHanko and OpenSSL."""

import asyncio
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
from asn1crypto import x509 as asn1_x509
from asn1crypto.cms import ContentInfo
from asn1crypto.crl import CertificateList
from asn1crypto.pem import armor
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.ades.report import AdESPassed
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.ades import ades_lta_validation, ades_with_time_validation
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko.sign.validation.errors import NoDSSFoundError
from pyhanko.sign.validation.policy_decl import (
    LocalKnowledge,
    PdfSignatureValidationSpec,
    RevinfoOnlineFetchingRule,
    RevocationInfoGatheringSpec,
    SignatureValidationSpec,
)
from pyhanko.sign.validation.status import PdfSignatureStatus, StandardCMSSignatureStatus
from pyhanko_certvalidator import ValidationContext
from pyhanko_certvalidator.context import CertValidationPolicySpec
from pyhanko_certvalidator.policy_decl import REQUIRE_REVINFO, CertRevTrustPolicy
from pyhanko_certvalidator.registry import SimpleTrustManager
from pyhanko_certvalidator.revinfo.archival import CRLContainer

from paraph.keys import DevelopmentAuthority
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from tests.independent import openssl
from tests.pdf.sealed_files import LETTER, OWN, sealed_now


def long_term(*, archive: bool = True, own: DevelopmentAuthority | None = None) -> LongTerm:
    """Statuses by the development authority, which also answers for timestamps."""
    own = own or OWN
    chain = (own.timestamp_key.certificate, own.root)
    sources = {id(each): DevelopmentStatuses(each) for each in (own, OWN)}
    return LongTerm(list(sources.values()), archive, chain)


def sealed_at_the_highest(pdf: bytes = LETTER, **drawn: Any) -> bytes:
    """Return the file sealed now at B-LTA."""
    return sealed_now(pdf, long_term=long_term(), **drawn)


def statuses_by_pyhanko(pdf: bytes, *roots: bytes) -> list[PdfSignatureStatus]:
    """Return pyHanko's verdict on each signature, which includes later changes to the file."""
    context = ValidationContext(trust_roots=list(map(asn1_x509.Certificate.load, roots)), allow_fetching=False)
    reader = PdfFileReader(BytesIO(pdf))
    return [validate_pdf_signature(signature, context) for signature in reader.embedded_signatures]


def level_by_pyhanko(pdf: bytes, *roots: bytes) -> str:
    """Return the level of the first seal as pyHanko validates it by ETSI EN 319 102-1, with nothing fetched: B-LTA
    if it passes by its archive timestamp (§5.6.3), B-LT if it passes by the statuses in the file (§5.5), else ""."""
    trust = SimpleTrustManager.build(trust_roots=list(map(asn1_x509.Certificate.load, roots)))
    reader = PdfFileReader(BytesIO(pdf))
    seal = reader.embedded_regular_signatures[0]
    spec = SignatureValidationSpec(
        CertValidationPolicySpec(trust, CertRevTrustPolicy(REQUIRE_REVINFO)),
        RevocationInfoGatheringSpec(RevinfoOnlineFetchingRule.LOCAL_ONLY),
        local_knowledge=_carried(reader),
    )
    archived = asyncio.run(ades_lta_validation(seal, PdfSignatureValidationSpec(spec)))
    if archived.ades_subindic is AdESPassed.OK and archived.oldest_evidence_record_timestamp is not None:
        assert isinstance(archived.api_status, PdfSignatureStatus) and archived.api_status.bottom_line
        return "B-LTA"
    timed = asyncio.run(ades_with_time_validation(seal.signed_data, spec, raw_digest=seal.compute_digest()))
    stamped = isinstance(timed.api_status, StandardCMSSignatureStatus) and timed.api_status.timestamp_validity
    return "B-LT" if timed.ades_subindic is AdESPassed.OK and stamped else ""


def _carried(reader: PdfFileReader) -> LocalKnowledge:
    try:
        store = DocumentSecurityStore.read_dss(reader)
    except NoDSSFoundError:
        return LocalKnowledge()
    lists = [CRLContainer(CertificateList.load(item.get_object().data)) for item in store.crls]
    return LocalKnowledge(known_crls=lists, known_certs=list(store.load_certs()))


def assert_archived(pdf: bytes, root_pem: Path, folder: Path) -> None:
    """Assert that OpenSSL verifies the last signature as a timestamp token over everything else in the file, with the
    certificates of the file's security store."""
    first, start, end, rest = map(int, re.findall(rb"/ByteRange \[(\d+) (\d+) (\d+) (\d+)\]", pdf)[-1])
    token = ContentInfo.load(bytes.fromhex(pdf[start + 1 : end - 1].decode())).dump()
    (folder / "archive.tsr").write_bytes(token)
    (folder / "archived.bin").write_bytes(pdf[first:start] + pdf[end : end + rest])
    with pikepdf.open(BytesIO(pdf)) as document:
        stored = [armor("CERTIFICATE", each.read_bytes()) for each in document.Root.DSS.Certs]
    (folder / "stored.pem").write_bytes(b"".join(stored))
    words = "ts -verify -token_in -in archive.tsr -data archived.bin -untrusted stored.pem -CAfile"
    said = openssl(*words.split(), root_pem, folder=folder)
    assert "Verification: OK" in said, said
