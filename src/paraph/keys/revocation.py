"""Revocation lists and OCSP responses of the development authority.

The authority never revokes a certificate: an installation that loses a development key makes a new authority.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, Hash
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from paraph.keys.development import DevelopmentAuthority

VALIDITY = timedelta(days=7)
"""The validity of a list or a response, which is renewed earlier."""

_LARGEST_REQUEST = 4096


def revocation_list(authority: DevelopmentAuthority, moment: datetime) -> bytes:
    """DER of the root's certificate revocation list at ``moment`` (RFC 5280 §5)."""
    root = x509.load_der_x509_certificate(authority.root)
    key = authority.root_key.private_key
    return (
        x509.CertificateRevocationListBuilder()
        .issuer_name(root.subject)
        .last_update(moment)
        .next_update(moment + VALIDITY)
        .add_extension(x509.CRLNumber(int(moment.timestamp())), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
        .public_bytes(Encoding.DER)
    )


def status_answer(authority: DevelopmentAuthority, request: bytes, moment: datetime) -> bytes:
    """Answer an OCSPRequest with an OCSPResponse (DER, RFC 6960): a refusal if the request cannot be answered."""
    query = _read(request)
    if query is None:
        return _refusal(ocsp.OCSPResponseStatus.MALFORMED_REQUEST)
    root = x509.load_der_x509_certificate(authority.root)
    certificate = _issued(authority).get(query.serial)
    if certificate is None or query.issuer_name != _digest(query.algorithm, root.subject.public_bytes()):
        return _refusal(ocsp.OCSPResponseStatus.UNAUTHORIZED)
    answer = _good(certificate, root, query.algorithm, moment)
    if query.nonce is not None:
        answer = answer.add_extension(query.nonce, critical=False)
    return _signed(answer, authority)


def certificate_status(authority: DevelopmentAuthority, certificate: bytes, moment: datetime) -> bytes:
    """DER of the OCSPResponse for a certificate (DER) of the authority, for long-term data."""
    own, root = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(authority.root)
    return _signed(_good(own, root, SHA256(), moment), authority)


@dataclass(frozen=True)
class _StatusQuery:
    serial: int
    issuer_name: bytes
    algorithm: SHA1 | SHA256
    nonce: x509.OCSPNonce | None


def _read(request: bytes) -> _StatusQuery | None:
    if len(request) > _LARGEST_REQUEST:
        return None
    try:
        parsed = ocsp.load_der_ocsp_request(request)
        nonces = [extension.value for extension in parsed.extensions if isinstance(extension.value, x509.OCSPNonce)]
        algorithm = parsed.hash_algorithm
        if not isinstance(algorithm, SHA1 | SHA256):
            return None
        return _StatusQuery(parsed.serial_number, parsed.issuer_name_hash, algorithm, nonces[0] if nonces else None)
    except (ValueError, TypeError, NotImplementedError, UnsupportedAlgorithm, x509.DuplicateExtension):
        return None


def _issued(authority: DevelopmentAuthority) -> dict[int, x509.Certificate]:
    return {leaf.serial_number: leaf for leaf in map(x509.load_der_x509_certificate, authority.issued)}


def _good(
    certificate: x509.Certificate, root: x509.Certificate, algorithm: SHA1 | SHA256, moment: datetime
) -> ocsp.OCSPResponseBuilder:
    return (
        ocsp.OCSPResponseBuilder()
        .add_response(
            cert=certificate,
            issuer=root,
            algorithm=algorithm,
            cert_status=ocsp.OCSPCertStatus.GOOD,
            this_update=moment,
            next_update=moment + VALIDITY,
            revocation_time=None,
            revocation_reason=None,
        )
        .responder_id(ocsp.OCSPResponderEncoding.HASH, root)
    )


def _signed(answer: ocsp.OCSPResponseBuilder, authority: DevelopmentAuthority) -> bytes:
    return answer.sign(authority.root_key.private_key, SHA256()).public_bytes(Encoding.DER)


def _refusal(status: ocsp.OCSPResponseStatus) -> bytes:
    return ocsp.OCSPResponseBuilder.build_unsuccessful(status).public_bytes(Encoding.DER)


def _digest(algorithm: SHA1 | SHA256, content: bytes) -> bytes:
    digest = Hash(algorithm)
    digest.update(content)
    return digest.finalize()
