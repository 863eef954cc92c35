"""Revocation lists (CRLs) and status answers (OCSP), and what they prove of a certificate."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.certificates import weakness_of_certificate, weakness_of_hash
from paraph.keys.chains import is_issued_by
from paraph.pdf.pki.certificate import Certificate, load
from paraph.pdf.pki.revocation_list import read_list


class Revoked(ValueError):
    """A certificate was revoked before the time that counts; the message names it and the time."""


@dataclass(frozen=True)
class LongTermData:
    """The content of a document security store, each item as DER (ISO 32000-2, 12.8.4.3)."""

    certificates: tuple[bytes, ...] = ()
    crls: tuple[bytes, ...] = ()
    ocsps: tuple[bytes, ...] = ()

    def __add__(self, other: "LongTermData") -> "LongTermData":
        """Join two sets of data; each item appears once."""
        pairs = zip(self.lists, other.lists, strict=True)
        return LongTermData(*(tuple(dict.fromkeys((*ours, *theirs))) for ours, theirs in pairs))

    def __bool__(self) -> bool:
        return any(self.lists)

    @property
    def lists(self) -> tuple[tuple[bytes, ...], ...]:
        """Certificates, CRLs and OCSP answers, in this order."""
        return self.certificates, self.crls, self.ocsps

    def holds(self, other: "LongTermData") -> bool:
        """Return whether every item of the other data is in this."""
        return all(set(theirs) <= set(ours) for ours, theirs in zip(self.lists, other.lists, strict=True))

    def proves(self, chain: Sequence[bytes], moment: datetime) -> bool:
        """Return whether the data proves that no certificate of ``chain`` below the root was revoked at ``moment``.

        ``chain``: DER, the leaf first, the root last. Raise :class:`Revoked` where it proves the contrary.
        """
        links = [load(link) for link in chain]
        # A list, so that a revocation further up is found also behind a certificate whose status is unknown.
        proven = [self._proves_one(child, issuer, moment) for child, issuer in pairwise(links)]
        return all(proven)

    def _proves_one(self, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
        by_crl = [_crl_proves(crl, child, issuer, moment) for crl in self.crls]
        by_ocsp = [_ocsp_proves(answer, child, issuer, moment) for answer in self.ocsps]
        return any(by_crl) or any(by_ocsp)


def _crl_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
    """Return whether the CRL is the issuer's, covers the certificate, was in force at ``moment``, and does not list it.
    One that covers others, or is signed with an outdated hash, proves no more than a revocation."""
    found = read_list(encoded, issuer)
    if found is None:
        return False
    when = found.revoked.get(child.serial)
    if when is not None and when <= moment:
        raise Revoked(f"{child.name} was revoked on {clock.iso(when)}")
    crl = found.parsed
    in_force = crl.next_update_utc is None or crl.next_update_utc >= moment
    return in_force and found.covers(child) and not weakness_of_hash(crl.signature_hash_algorithm)


def _ocsp_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime) -> bool:
    """Return whether the answer is the issuer's or its responder's, was in force at ``moment``, and says "good". One
    that is signed with an outdated hash or key, or holds something critical that is not understood, proves no more than
    a revocation."""
    genuine = _genuine_ocsp(encoded, child, issuer)
    if genuine is None:
        return False
    single, may_be_good = genuine
    if single.certificate_status is ocsp.OCSPCertStatus.REVOKED:
        when = single.revocation_time_utc
        if when is not None and when <= moment:
            raise Revoked(f"{child.name} was revoked on {clock.iso(when)}")
    elif single.certificate_status is not ocsp.OCSPCertStatus.GOOD:
        return False
    return may_be_good and (single.next_update_utc is None or single.next_update_utc >= moment)


@lru_cache(maxsize=256)
def _genuine_ocsp(
    encoded: bytes, child: Certificate, issuer: Certificate
) -> tuple[ocsp.OCSPSingleResponse, bool] | None:
    """Return the part of the answer about the certificate, where the issuer or its responder signed it, and whether
    that may prove something good: strong keys and hashes, and nothing critical that is not understood. Remembered, as
    every file brings the same answers."""
    try:
        response = ocsp.load_der_ocsp_response(encoded)
        if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
            return None
        single = next((one for one in response.responses if _is_about(one, child, issuer)), None)
        responder = _responder(response, issuer)
        if single is None or responder is None:
            return None
        weakness = weakness_of_hash(response.signature_hash_algorithm) or weakness_of_certificate(
            responder, is_root=responder == issuer.parsed
        )
        return single, not weakness and _is_understood(response)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 — an answer from anywhere makes the reader raise anything
        return None


def _is_about(single: ocsp.OCSPSingleResponse, child: Certificate, issuer: Certificate) -> bool:
    """The issuer is named by the digest of its name as it stands in the certificate (RFC 6960 §4.1.1), or in its
    own."""
    named = (hashlib.new(single.hash_algorithm.name, name).digest() for name in (child.issuer, issuer.subject))
    return single.serial_number == child.serial and single.issuer_name_hash in named


def _is_understood(response: ocsp.OCSPResponse) -> bool:
    """Return whether nothing critical is in the answer but the nonce. What came with one of several certificates cannot
    be read, which counts as critical."""
    try:
        extensions = [*response.extensions, *response.single_extensions]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 — as for the answer itself, whose revocation counts
        return False
    return all(not each.critical or isinstance(each.value, x509.OCSPNonce) for each in extensions)


def _responder(response: ocsp.OCSPResponse, issuer: Certificate) -> x509.Certificate | None:
    """Return the certificate of who signed: the issuer, or a responder certified by it (RFC 6960 §4.2.2.2)."""
    responders = [issuer.parsed]
    for candidate in response.certificates:
        try:
            purposes = candidate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
            if ExtendedKeyUsageOID.OCSP_SIGNING in purposes:
                responders += [candidate] if is_issued_by(candidate, issuer.parsed) else []
        except Exception:  # noqa: BLE001, S112 — an unreadable certificate; another one may be the responder's
            continue
    return next((responder for responder in responders if _signed_by(response, responder)), None)


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
