"""Revocation lists (CRLs) and status answers (OCSP), and what they prove about a certificate.

A list may be about some certificates or some reasons only, or continue another list (RFC 5280 §6.3.3): that a
certificate is not on such a list says nothing. That it is on such a list counts, whatever else the list says.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from cryptography import x509
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.certificates import extension, is_made_by, may_sign, weakness_of_signature
from paraph.keys.chains import fault_of, is_issued_by, same_name
from paraph.pdf.pki.certificate import AHEAD, Certificate, load
from paraph.pdf.verdict import or_else

_UNDERSTOOD = (x509.AuthorityKeyIdentifier, x509.IssuerAlternativeName, x509.CRLNumber, x509.AuthorityInformationAccess)
_UNDERSTOOD_IN_ENTRIES = (x509.CRLReason, x509.InvalidityDate)

_Value = TypeVar("_Value", bound=x509.ExtensionType)
_Extensions = Sequence[x509.Extension[x509.ExtensionType]] | None
_GRACE = timedelta(days=7)
"""How long an answer or list holds if it does not state its end."""


@dataclass(frozen=True)
class RevocationList:
    """A list that the issuer of the certificates signed."""

    parsed: x509.CertificateRevocationList
    revoked: Mapping[int, datetime]
    """When certificates of the issuer were revoked, by serial number."""
    is_complete: bool
    """Whether everything critical in the list is understood, it continues no other list, and the issuer may sign lists
    and was valid when it signed this one."""
    scope: x509.IssuingDistributionPoint | None
    """The certificates and reasons that the list says it is about; ``None`` for all."""

    def covers(self, certificate: Certificate) -> bool:
        """Return whether the certificate would be on the list if it had been revoked, for whatever reason."""
        scope = self.scope
        if scope is None or not self.is_complete:
            return self.is_complete
        if scope.indirect_crl or scope.only_some_reasons or scope.only_contains_attribute_certs or scope.relative_name:
            return False
        constraints = extension(certificate.parsed, x509.BasicConstraints)
        is_authority = constraints is not None and constraints.ca
        if scope.only_contains_user_certs if is_authority else scope.only_contains_ca_certs:
            return False
        return not scope.full_name or not set(scope.full_name).isdisjoint(_distribution_points(certificate.parsed))


@lru_cache(maxsize=64)
def read_list(encoded: bytes, issuer: Certificate) -> RevocationList | None:
    """Read a CRL (DER); ``None`` where it is not a CRL or ``issuer`` did not sign it. Remembered, as every file
    brings the same lists."""
    try:
        parsed = x509.load_der_x509_crl(encoded)
        if not same_name(parsed.issuer, issuer.parsed.subject) or not is_made_by(
            issuer.parsed, parsed, parsed.tbs_certlist_bytes
        ):
            return None
        entries = [(entry, _extensions(entry)) for entry in parsed]
    except MemoryError:  # or a revocation would be overlooked
        raise
    except Exception:  # noqa: BLE001 — a list from outside can make the reader raise anything
        return None
    extensions = _extensions(parsed)
    scope = _value(extensions, x509.IssuingDistributionPoint)
    is_delta = _value(extensions, x509.DeltaCRLIndicator) is not None
    revoked = dict[int, datetime]()
    for entry in _own(entries, issuer, is_indirect=scope is not None and scope.indirect_crl, is_delta=is_delta):
        when = entry.revocation_date_utc
        revoked[entry.serial_number] = min(when, revoked.get(entry.serial_number, when))
    return RevocationList(
        parsed,
        revoked,
        is_complete=not is_delta
        and _may_sign_lists(issuer.parsed)
        and not fault_of(issuer.parsed, parsed.last_update_utc, is_root=True)
        and _are_understood(extensions, (*_UNDERSTOOD, x509.IssuingDistributionPoint))
        and all(_are_understood(of_entry, _UNDERSTOOD_IN_ENTRIES) for _, of_entry in entries),
        scope=scope,
    )


def _own(
    entries: Iterable[tuple[x509.RevokedCertificate, _Extensions]],
    issuer: Certificate,
    *,
    is_indirect: bool,
    is_delta: bool,
) -> Iterator[x509.RevokedCertificate]:
    """Yield the entries that revoke certificates of the issuer. In an indirect list an entry may name another issuer,
    which holds for the entries after it too (§5.3.3); an entry of a delta list may take a revocation back."""
    is_of_issuer = True
    for entry, extensions in entries:
        named = _value(extensions, x509.CertificateIssuer) if is_indirect else None
        if named is not None:
            names = (each.value for each in named if isinstance(each, x509.DirectoryName))
            is_of_issuer = any(same_name(each, issuer.parsed.subject) for each in names)
        reason = _value(extensions, x509.CRLReason)
        is_taken_back = is_delta and reason is not None and reason.reason is x509.ReasonFlags.remove_from_crl
        if is_of_issuer and not is_taken_back:
            yield entry


@or_else(None)
def _extensions(holder: x509.CertificateRevocationList | x509.RevokedCertificate) -> _Extensions:
    """Return ``None`` where the extensions cannot be read: the list still revokes what it names."""
    return list(holder.extensions)


def _value(extensions: _Extensions, kind: type[_Value]) -> _Value | None:
    return next((each.value for each in extensions or () if isinstance(each.value, kind)), None)


def _are_understood(extensions: _Extensions, kinds: tuple[type[x509.ExtensionType], ...]) -> bool:
    """Return whether all extensions can be read, and all critical ones are of these kinds."""
    return extensions is not None and all(not each.critical or isinstance(each.value, kinds) for each in extensions)


def _may_sign_lists(issuer: x509.Certificate) -> bool:
    """Return whether the issuer's key usage allows signing lists, or is absent (RFC 5280 §6.3.3 f)."""
    usage = extension(issuer, x509.KeyUsage)
    return usage is None or usage.crl_sign


def _distribution_points(certificate: x509.Certificate) -> list[x509.GeneralName]:
    """Return the names under which the issuer publishes lists of all reasons for the certificate: those in the
    certificate, and the issuer's own name."""
    names: list[x509.GeneralName] = [x509.DirectoryName(certificate.issuer)]
    for point in extension(certificate, x509.CRLDistributionPoints) or ():
        if not point.reasons and not point.crl_issuer:
            names += point.full_name or ()
    return names


class Revoked(ValueError):
    """A certificate was revoked before the time that counts; the message names it and the time."""

    def __init__(self, certificate: Certificate, when: datetime) -> None:
        super().__init__(f"{certificate.name} was revoked on {clock.iso(when)}")
        self.certificate, self.when = certificate, when


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

    def until(self, moment: datetime) -> "LongTermData":
        """Return the data without lists and answers that say that they were made later."""
        crls = tuple(each for each in self.crls if _is_list_there(each, moment))
        ocsps = tuple(each for each in self.ocsps if _is_answer_there(each, moment))
        return LongTermData(self.certificates, crls, ocsps)

    def holds(self, other: "LongTermData") -> bool:
        """Return whether every item of the other data is in this."""
        return all(set(theirs) <= set(ours) for ours, theirs in zip(self.lists, other.lists, strict=True))

    def proves(self, chain: Sequence[bytes], moment: datetime, stamped: Mapping[bytes, datetime] | None = None) -> bool:
        """Return whether the data proves that no certificate of ``chain`` below the root was revoked at ``moment``.
        ``chain``: DER, the leaf first, the root last; ``stamped``: when lists and answers are known to have existed, by
        their bytes; all others, now. Raise :class:`Revoked` where it proves the contrary."""
        known = {item: clock.now() for item in (*self.crls, *self.ocsps)} | dict(stamped or {})
        is_proven = True
        for child, issuer in pairwise(map(load, chain)):
            # Check all, so that a revocation is found even behind a certificate or an answer that proves nothing.
            by_crl = [_crl_proves(crl, child, issuer, moment, known[crl]) for crl in self.crls]
            by_ocsp = [_ocsp_proves(answer, child, issuer, moment, known[answer]) for answer in self.ocsps]
            is_proven = is_proven and any(by_crl + by_ocsp)
        return is_proven


@or_else(default=True)  # what cannot be read proves nothing anyhow
def _is_list_there(encoded: bytes, moment: datetime) -> bool:
    return x509.load_der_x509_crl(encoded).last_update_utc <= moment


@or_else(default=True)
def _is_answer_there(encoded: bytes, moment: datetime) -> bool:
    return ocsp.load_der_ocsp_response(encoded).produced_at_utc <= moment


def _holds(made: datetime, end: datetime, child: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether a list or answer speaks about ``moment``: it was in force then, or ``made`` later. It may not
    say that it was made after the time at which it is ``known`` to have existed, nor after the certificate expired:
    lists and responders forget the revocation of an expired one (RFC 5280 §3.3)."""
    return made <= min(known + AHEAD, end, child.parsed.not_valid_after_utc) and moment <= end


def _crl_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether the CRL is the issuer's, covers the certificate, holds at ``moment``, and does not list it. One
    that covers other certificates, has an outdated hash, or is signed by an issuer that was not valid then can prove
    only a revocation."""
    found = read_list(encoded, issuer)
    if found is None:
        return False
    when = found.revoked.get(child.serial)
    if when is not None and when <= moment:
        raise Revoked(child, when)
    made = found.parsed.last_update_utc
    holds = _holds(made, found.parsed.next_update_utc or made + _GRACE, child, moment, known)
    return holds and found.covers(child) and not weakness_of_signature(found.parsed, made)


def _ocsp_proves(encoded: bytes, child: Certificate, issuer: Certificate, moment: datetime, known: datetime) -> bool:
    """Return whether the answer is the issuer's or its responder's, holds at ``moment``, and says "good". One that is
    signed with an outdated hash, or by a responder that may not sign or was not valid then, or holds something critical
    that is not understood, can prove only a revocation."""
    genuine = _genuine_ocsp(encoded, child, issuer)
    if genuine is None:
        return False
    single, made, may_be_good = genuine
    if single.certificate_status is ocsp.OCSPCertStatus.REVOKED:
        when = single.revocation_time_utc
        if when is not None and when <= moment:
            raise Revoked(child, when)
    elif single.certificate_status is not ocsp.OCSPCertStatus.GOOD:
        return False
    end = single.next_update_utc or single.this_update_utc + _GRACE
    return may_be_good and _holds(made, end, child, moment, known)


@lru_cache(maxsize=256)
@or_else(None)
def _genuine_ocsp(
    encoded: bytes, child: Certificate, issuer: Certificate
) -> tuple[ocsp.OCSPSingleResponse, datetime, bool] | None:
    """Return, if the issuer or its responder signed the answer: its part about the certificate; when it was made, the
    later of the two times that it states; and whether its "good" counts, which takes a strong hash, a responder that
    could answer then, and nothing critical that is not understood. Remembered, as every file brings the same answers.
    """
    response = ocsp.load_der_ocsp_response(encoded)
    if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
        return None
    single = next((one for one in response.responses if _is_about(one, child, issuer)), None)
    responders = _responders(response, issuer)
    if single is None or not responders:
        return None
    made = max(response.produced_at_utc, single.this_update_utc)
    is_in_order = any(_may_answer(responder, issuer.parsed, made) for responder in responders)
    weakness = weakness_of_signature(response, made)
    return single, made, is_in_order and not weakness and _is_understood(response)


def _is_about(single: ocsp.OCSPSingleResponse, child: Certificate, issuer: Certificate) -> bool:
    """Return whether an answer is about the certificate. The issuer is named by the digest of its name as it stands in
    the certificate (RFC 6960 §4.1.1), or in the issuer's own."""
    named = (hashlib.new(single.hash_algorithm.name, name).digest() for name in (child.issuer, issuer.subject))
    return single.serial_number == child.serial and single.issuer_name_hash in named


@or_else(default=False)  # such an answer can still prove a revocation
def _is_understood(response: ocsp.OCSPResponse) -> bool:
    """Return whether nothing critical is in the answer but the nonce. The extensions of an answer about several
    certificates cannot be read, which counts as critical."""
    extensions = [*response.extensions, *response.single_extensions]
    return all(not each.critical or isinstance(each.value, x509.OCSPNonce) for each in extensions)


def _may_answer(responder: x509.Certificate, issuer: x509.Certificate, made: datetime) -> bool:
    """Return whether the responder may answer, and it and the issuer were valid when the answer was ``made``. An issuer
    that may sign lists may answer, too."""
    is_for_answers = may_sign(responder) or (responder == issuer and _may_sign_lists(responder))
    return is_for_answers and not any(fault_of(each, made, is_root=each == issuer) for each in (responder, issuer))


def _responders(response: ocsp.OCSPResponse, issuer: Certificate) -> list[x509.Certificate]:
    """Return the certificates whose key signed: the issuer's, or that of a responder it certified (RFC 6960
    §4.2.2.2)."""
    responders = [issuer.parsed]
    for candidate in response.certificates:
        try:
            purposes = extension(candidate, x509.ExtendedKeyUsage) or ()
            if ExtendedKeyUsageOID.OCSP_SIGNING in purposes and is_issued_by(candidate, issuer.parsed):
                responders.append(candidate)
        except Exception:  # noqa: BLE001, S112 — an unreadable certificate; another one may be the responder's
            continue
    return [responder for responder in responders if is_made_by(responder, response, response.tbs_response_bytes)]
