"""The certificates that made a file's last seal and its timestamps, whether trusted or not."""

import hashlib
from dataclasses import dataclass

from paraph.pdf.pki import oids
from paraph.pdf.pki.cms import read_signed_data
from paraph.pdf.timestamps.timestamp_token import check_token
from paraph.pdf.verification.embedded_signatures import SignedFile


@dataclass(frozen=True)
class SignerCertificates:
    """DER of the certificates; None where there is no such timestamp."""

    seal: bytes
    timestamp: bytes | None
    archive_timestamp: bytes | None


def signer_certificates(pdf: bytes) -> SignerCertificates:
    """Return those of the last seal, of the timestamp in it, and of the first document timestamp after it.

    Raises ``ValueError`` for a file without a seal that can be read.
    """
    signatures = [embedded for embedded in SignedFile(pdf).signatures if not embedded.fault]
    seals = [position for position, embedded in enumerate(signatures) if not embedded.is_document_timestamp]
    if not seals:
        raise ValueError("the file has no seal")
    signed = read_signed_data(signatures[seals[-1]].contents)
    tokens = signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN)
    token = check_token(tokens[0].raw, lambda name: hashlib.new(name, signed.signature).digest()) if tokens else None
    later = signatures[seals[-1] + 1 :]
    archive = check_token(later[0].contents, later[0].digest) if later else None
    return SignerCertificates(
        seal=signed.signer.encoded,
        timestamp=token.signer.encoded if token else None,
        archive_timestamp=archive.signer.encoded if archive else None,
    )
