"""Revocation lists (CRLs) and status answers (OCSP), and what they prove of a certificate."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.certificates import may_sign, weakness_of_hash
from paraph.keys.chains import fault_of, is_issued_by
from paraph.pdf.pki.certificate import Certificate, load
from paraph.pdf.pki.revocation_list import may_sign_lists, read_list
from paraph.pdf.pki.trust import AHEAD

_GRACE = timedelta(days=7)
"""For how long an answer or list holds that does not state its end."""


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

    def proves(self, chain: Sequence[bytes], moment: datetime, stamped: Mapping[bytes, datetime] | None = None) -> bool:
        """Return whether the data proves that no certificate of ``chain`` below the root was revoked at ``moment``.

        ``chain``: DER, the leaf first, the root last; ``stamped``: when lists and answers are known to have existed, by
        their bytes, now for others. Raise :class:`Revoked` where it proves the contrary.
        """
        known = {item: clock.now() for item in (*self.crls, *self.ocsps)} | dict(stamped or {})
        links = [load(link) for link in chain]
        # A list, so that a revocation further up is found also behind a certificate whose status is unknown.
        proven = [self._proves_one(child, issuer, moment, known) for child, issuer in pairwise(links)]
        return all(proven)

    def _proves_one(
        self, child: Certificate, issuer: Certificate, moment: datetime, known: Mapping[bytes, datetime]
    ) -> bool:
        by_crl = [_crl_proves(crl, child, issuer, moment, known[crl]) for crl in self.crls]
        by_ocsp = [_ocsp_proves(answer, child, issuer, moment, known[answer]) for answer in self.ocsps]
        return any(by_crl) or any(by_ocsp)


def _holds(made: datetime, end: datetime, child: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether a list or answer says something of ``moment``: it was in force then, or ``made`` later. It may not
    say that it was made after the time at which it is ``known`` to have existed, nor after the certificate expired:
    lists and responders forget the revocation of an expired one (RFC 5280 §3.3)."""
    return made <= min(known + AHEAD, end, child.parsed.not_valid_after_utc) and moment <= end


def _crl_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether the CRL is the issuer's, covers the certificate, holds at ``moment``, and does not list it. One
    that covers others, or is signed with an outdated hash or by an issuer that was not valid then, proves no more than
    a revocation."""
    found = read_list(encoded, issuer)
    if found is None:
        return False
    when = found.revoked.get(child.serial)
    if when is not None and when <= moment:
        raise Revoked(f"{child.name} was revoked on {clock.iso(when)}")
    made = found.parsed.last_update_utc
    holds = _holds(made, found.parsed.next_update_utc or made + _GRACE, child, moment, known)
    return holds and found.covers(child) and not weakness_of_hash(found.parsed.signature_hash_algorithm)


def _ocsp_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether the answer is the issuer's or its responder's, holds at ``moment``, and says "good". One that is
    signed with an outdated hash, or by a responder that may not sign or was not valid then, or holds something critical
    that is not understood, proves no more than a revocation."""
    genuine = _genuine_ocsp(encoded, child, issuer)
    if genuine is None:
        return False
    single, made, may_be_good = genuine
    if single.certificate_status is ocsp.OCSPCertStatus.REVOKED:
        when = single.revocation_time_utc
        if when is not None and when <= moment:
            raise Revoked(f"{child.name} was revoked on {clock.iso(when)}")
    elif single.certificate_status is not ocsp.OCSPCertStatus.GOOD:
        return False
    end = single.next_update_utc or single.this_update_utc + _GRACE
    return may_be_good and _holds(made, end, child, moment, known)


@lru_cache(maxsize=256)
def _genuine_ocsp(
    encoded: bytes, child: Certificate, issuer: Certificate
) -> tuple[ocsp.OCSPSingleResponse, datetime, bool] | None:
    """Return the part of the answer about the certificate, where the issuer or its responder signed it, when it was
    made, the later time of two that it states, and whether it may prove something good: a strong hash, a responder that
    was in order then, and nothing critical that is not understood. Remembered, as every file brings the same answers.
    """
    try:
        response = ocsp.load_der_ocsp_response(encoded)
        if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
            return None
        single = next((one for one in response.responses if _is_about(one, child, issuer)), None)
        responders = _responders(response, issuer)
        if single is None or not responders:
            return None
        made = max(response.produced_at_utc, single.this_update_utc)
        is_in_order = any(_may_answer(responder, issuer.parsed, made) for responder in responders)
        weakness = weakness_of_hash(response.signature_hash_algorithm)
        return single, made, is_in_order and not weakness and _is_understood(response)
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


def _may_answer(responder: x509.Certificate, issuer: x509.Certificate, made: datetime) -> bool:
    """Return whether responder and issuer were in order when the answer was ``made``. An issuer that may sign lists may
    answer, too."""
    is_for_answers = may_sign(responder) or (responder == issuer and may_sign_lists(responder))
    return is_for_answers and not any(fault_of(each, made, is_root=each == issuer) for each in (responder, issuer))


def _responders(response: ocsp.OCSPResponse, issuer: Certificate) -> list[x509.Certificate]:
    """Return the certificates of whose key signed: the issuer's, or a responder's that it certified (RFC 6960
    §4.2.2.2)."""
    responders = [issuer.parsed]
    for candidate in response.certificates:
        try:
            purposes = candidate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
            if ExtendedKeyUsageOID.OCSP_SIGNING in purposes:
                responders += [candidate] if is_issued_by(candidate, issuer.parsed) else []
        except Exception:  # noqa: BLE001, S112 — an unreadable certificate; another one may be the responder's
            continue
    return [responder for responder in responders if _signed_by(response, responder)]


def _signed_by(response: ocsp.OCSPResponse, responder: x509.Certificate) -> bool:
    algorithm = response.signature_hash_algorithm
    if algorithm is None:
        return False
    try:
        key = responder.public_key()
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(response.signature, response.tbs_response_bytes, PKCS1v15(), algorithm)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(response.signature, response.tbs_response_bytes, ec.ECDSA(algorithm))
        else:
            return False
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True
