"""Long-term data: the revocation lists and status answers that a file carries, and what they say of a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.pdf.pki.certificate import Certificate, load


class Revoked(ValueError):
    """A certificate was revoked before the moment that counts; the message says which and when."""


@dataclass(frozen=True)
class LongTermData:
    """DER of what a document security store holds (ISO 32000-2, 12.8.4.3)."""

    certificates: tuple[bytes, ...] = ()
    crls: tuple[bytes, ...] = ()
    ocsps: tuple[bytes, ...] = ()

    def __add__(self, other: "LongTermData") -> "LongTermData":
        """Both, each item once."""
        pairs = zip(self.lists, other.lists, strict=True)
        return LongTermData(*(tuple(dict.fromkeys((*ours, *theirs))) for ours, theirs in pairs))

    def __bool__(self) -> bool:
        return any(self.lists)

    @property
    def lists(self) -> tuple[tuple[bytes, ...], ...]:
        """Certificates, revocation lists, status answers."""
        return self.certificates, self.crls, self.ocsps

    def proves(self, chain: Sequence[bytes], moment: datetime) -> bool:
        """Whether it says of every certificate of ``chain`` below the root that it was not revoked at ``moment``.

        ``chain``: DER, the leaf first, the root last. Raises :class:`Revoked`.
        """
        links = [load(link) for link in chain]
        proven = [self._proves_one(child, issuer, moment) for child, issuer in pairwise(links)]
        return all(proven)

    def _proves_one(self, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
        by_list = [_by_list(crl, child, issuer, moment) for crl in self.crls]
        by_answer = [_by_answer(answer, child, issuer, moment) for answer in self.ocsps]
        return any(by_list) or any(by_answer)


def _by_list(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
    """Whether the list is the issuer's, was in force, and does not name the certificate."""
    crl = _genuine_list(encoded, issuer)
    if crl is None:
        return False
    try:
        entry = crl.get_revoked_certificate_by_serial_number(child.serial)
    except ValueError:
        return False
    if entry is not None and entry.revocation_date_utc <= moment:
        raise Revoked(f"{child.name} was revoked on {clock.iso(entry.revocation_date_utc)}")
    return crl.next_update_utc is None or crl.next_update_utc >= moment


@lru_cache(maxsize=64)
def _genuine_list(encoded: bytes, issuer: Certificate) -> x509.CertificateRevocationList | None:
    """The list, where the issuer signed it. Remembered: each file brings the same ones."""
    try:
        crl = x509.load_der_x509_crl(encoded)
        genuine = crl.issuer == issuer.parsed.subject and crl.is_signature_valid(issuer.public_key)
    except Exception:  # noqa: BLE001 — a list from anywhere makes the reader raise anything
        return None
    return crl if genuine else None


def _by_answer(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
    """Whether the answer is the issuer's or its responder's, was in force, and says that the certificate is good."""
    single = _genuine_answer(encoded, child, issuer)
    if single is None:
        return False
    if single.certificate_status is ocsp.OCSPCertStatus.REVOKED:
        when = single.revocation_time_utc
        if when is not None and when <= moment:
            raise Revoked(f"{child.name} was revoked on {clock.iso(when)}")
    elif single.certificate_status is not ocsp.OCSPCertStatus.GOOD:
        return False
    return single.next_update_utc is None or single.next_update_utc >= moment


@lru_cache(maxsize=256)
def _genuine_answer(encoded: bytes, child: Certificate, issuer: Certificate) -> ocsp.OCSPSingleResponse | None:
    """What the answer says of the certificate, where the issuer or its responder signed it. Remembered, as above."""
    try:
        response = ocsp.load_der_ocsp_response(encoded)
        if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
            return None
        single = next((one for one in response.responses if _is_about(one, child, issuer)), None)
        return single if single is not None and _is_signed_for(response, issuer) else None
    except Exception:  # noqa: BLE001 — as above
        return None


def _is_about(single: ocsp.OCSPSingleResponse, child: Certificate, issuer: Certificate) -> bool:
    digest = hashes.Hash(single.hash_algorithm)
    digest.update(issuer.parsed.subject.public_bytes())
    return single.serial_number == child.serial and single.issuer_name_hash == digest.finalize()


def _is_signed_for(response: ocsp.OCSPResponse, issuer: Certificate) -> bool:
    """By the issuer itself, or by a responder that the issuer certified for this (RFC 6960 §4.2.2.2)."""
    responders = [issuer.parsed]
    for candidate in response.certificates:
        try:
            purposes = candidate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
            if ExtendedKeyUsageOID.OCSP_SIGNING in purposes:
                candidate.verify_directly_issued_by(issuer.parsed)
                responders.append(candidate)
        except Exception:  # noqa: BLE001, S112 — as above; another one may be the responder
            continue
    return any(_signed_by(response, responder) for responder in responders)


def _signed_by(response: ocsp.OCSPResponse, responder: x509.Certificate) -> bool:
    key, algorithm = responder.public_key(), response.signature_hash_algorithm
    if algorithm is None:
        return False
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(response.signature, response.tbs_response_bytes, PKCS1v15(), algorithm)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(response.signature, response.tbs_response_bytes, ec.ECDSA(algorithm))
        else:
            return False
    except InvalidSignature:
        return False
    return True
