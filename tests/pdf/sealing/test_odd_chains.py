"""Every form of key and certificates seals as OpenSSL says, or is refused with a sentence that names the file."""

import re
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import open_key
from paraph.keys.sealing import root_of
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from paraph.pdf.sealing.seal import seal
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.keys.odd_chains import CHAINS, Lists
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import DOCUMENT, authority, timestamping


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_seals_as_openssl_says_or_is_refused(kind: str, tmp_path: Path) -> None:
    odd = CHAINS[kind]()
    address, certificates = odd.write(tmp_path)
    long_term = LongTerm([DevelopmentStatuses(authority("p-256")), Lists()])
    try:
        key = open_key(str(address), certificates)
        sealed = seal(
            paper(text("A contract", 72, 700)),
            key=key,
            purpose=DOCUMENT,
            timestamping=timestamping(),
            long_term=long_term,
            at=clock.now(),
        )
    except DomainError as refused:
        assert odd.fate == "refused" and odd.reason in refused.message, refused.message
        assert re.fullmatch(r"[^\n]+\.", refused.message), refused.message
        # What a certificate says of RSASSA-PSS is read with the first seal; a start adds the file (test_sealing_check).
        assert str(certificates) in refused.message or "does not allow RSASSA-PSS" in refused.message
        return
    roots = [*root_of(key), authority("p-256").root]
    found = verify(sealed.content, roots)
    assert sealed.level == found.level
    if odd.fate == "refused":  # by the trial seal of a start
        assert not found.ok and any(odd.reason in finding for finding in found.findings), found.findings
        return
    assert found.ok == (odd.fate == "works") == bool(root_of(key)), found.findings
    assert found.ok or not _openssl_verifies(key.certificate, certificates)
    if found.ok:
        (tmp_path / "sealed.pdf").write_bytes(sealed.content)
        assert found.level == "B-LTA", sealed.level_reasons
        independent.assert_cades(tmp_path / "sealed.pdf", certificates, signature=-2)  # the last one is a timestamp
    else:
        assert found.intact and found.level == "B-T" and key.certificate not in roots
        assert sealed.level_reasons and "is missing" in sealed.level_reasons[0]


def _openssl_verifies(certificate: bytes, certificates: Path) -> bool:
    own = certificates.with_name("own.pem")
    own.write_bytes(x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM))
    command = [independent.need("openssl", "openssl"), "verify", "-CAfile", str(certificates), str(own)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
