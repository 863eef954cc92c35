"""Keys of every kind and place, and certificates of every form: each seals as others confirm, or is refused with a
sentence that names the file."""

import re
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyhanko.sign.validation.status import SignatureCoverageLevel

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import open_key
from paraph.keys.sealing import root_of
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.keys.certified_keys import ALGORITHMS, KINDS, Kind
from tests.keys.kinds import PLACES, Place, placed
from tests.keys.odd_chains import CHAINS, Lists
from tests.pdf.levels import statuses_by_pyhanko
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import authority, root_file, sealed, timestamping

CONTRACT = paper(text("A contract", 72, 700))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_everybody_finds_the_seal_valid(
    place: Place, kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with placed(place, kind, tmp_path, monkeypatch) as made:
        key = made.open()
        result = sealed(CONTRACT, key=key, timestamping=timestamping(), at=clock.now())
    assert result.signing_algorithm == ALGORITHMS[kind]
    assert result.kms_key_id == key.key_id and bool(result.kms_request_id) == (place in ("kms", "csc"))

    roots = [made.root.certificate.public_bytes(Encoding.DER), authority("p-256").root]
    found = verify(result.content, roots)
    assert found.level == "B-T" and found.ok and found.covers_whole_file, found.findings
    file = tmp_path / "sealed.pdf"
    file.write_bytes(result.content)
    (tmp_path / "ours").mkdir()
    independent.assert_sealed(file, made.root.pem(tmp_path / "ours"))
    independent.assert_cades(file, made.root.pem(tmp_path / "ours"))
    value, token = independent.signature_and_token(result.content)
    independent.assert_timestamped(token, value, root_file(tmp_path), tmp_path)
    (status,) = statuses_by_pyhanko(result.content, *roots)
    assert status.bottom_line and status.coverage is SignatureCoverageLevel.ENTIRE_FILE


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_seals_as_openssl_says_or_is_refused(kind: str, tmp_path: Path) -> None:
    odd = CHAINS[kind]()
    address, certificates = odd.write(tmp_path)
    long_term = LongTerm([DevelopmentStatuses(authority("p-256")), Lists()])
    try:
        key = open_key(str(address), certificates)
        result = sealed(CONTRACT, key=key, timestamping=timestamping(), long_term=long_term, at=clock.now())
    except DomainError as refused:
        assert odd.fate == "refused" and odd.reason in refused.message, refused.message
        assert re.fullmatch(r"[^\n]+\.", refused.message), refused.message
        # Only a first seal shows whether a certificate allows RSASSA-PSS; a start names the file (test_sealing_check).
        assert str(certificates) in refused.message or "does not allow RSASSA-PSS" in refused.message
        return
    roots = [*root_of(key), authority("p-256").root]
    found = verify(result.content, roots)
    assert result.level == found.level
    if odd.fate == "refused":  # by the trial seal when the service starts
        assert not found.ok and any(odd.reason in finding for finding in found.findings), found.findings
        return
    assert found.ok == (odd.fate == "works") == bool(root_of(key)), found.findings
    assert found.ok or not _openssl_verifies(key.certificate, certificates)
    if found.ok:
        (tmp_path / "sealed.pdf").write_bytes(result.content)
        assert found.level == "B-LTA", result.level_reasons
        independent.assert_cades(tmp_path / "sealed.pdf", certificates, signature=-2)  # the last one is a timestamp
    else:
        assert found.intact and found.level == "B-T" and key.certificate not in roots
        assert result.level_reasons and "is missing" in result.level_reasons[0]


def _openssl_verifies(certificate: bytes, certificates: Path) -> bool:
    own = certificates.with_name("own.pem")
    own.write_bytes(x509.load_der_x509_certificate(certificate).public_bytes(Encoding.PEM))
    command = [independent.need("openssl", "openssl"), "verify", "-CAfile", str(certificates), str(own)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
