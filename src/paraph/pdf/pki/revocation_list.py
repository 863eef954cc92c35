"""One revocation list (CRL): which certificates it says are revoked, and which it covers at all (RFC 5280 §6.3.3).

A list may be about some certificates or some reasons only, or continue another list: that a certificate is not on such
a list says nothing. That it is on the list counts whatever else the list says.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from cryptography import x509

from paraph.keys.chains import fault_of, same_name
from paraph.pdf.pki.certificate import Certificate

_UNDERSTOOD = (x509.AuthorityKeyIdentifier, x509.IssuerAlternativeName, x509.CRLNumber, x509.AuthorityInformationAccess)
_UNDERSTOOD_IN_ENTRIES = (x509.CRLReason, x509.InvalidityDate)

_Value = TypeVar("_Value", bound=x509.ExtensionType)
_Extensions = Sequence[x509.Extension[x509.ExtensionType]] | None


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
    """What the list says of the certificates and reasons that it is about; ``None`` for all."""

    def covers(self, certificate: Certificate) -> bool:
        """Return whether the certificate would be on the list if it had been revoked, for whatever reason."""
        scope = self.scope
        if scope is None or not self.is_complete:
            return self.is_complete
        if scope.indirect_crl or scope.only_some_reasons or scope.only_contains_attribute_certs or scope.relative_name:
            return False
        is_authority = _is_authority(certificate.parsed)
        if scope.only_contains_user_certs if is_authority else scope.only_contains_ca_certs:
            return False
        return not scope.full_name or not set(scope.full_name).isdisjoint(_distribution_points(certificate.parsed))


@lru_cache(maxsize=64)
def read_list(encoded: bytes, issuer: Certificate) -> RevocationList | None:
    """Read a CRL (DER); ``None`` where it is none or ``issuer`` did not sign it. Remembered, as every file brings the
    same ones."""
    try:
        parsed = x509.load_der_x509_crl(encoded)
        if not same_name(parsed.issuer, issuer.parsed.subject) or not parsed.is_signature_valid(issuer.public_key):
            return None
        entries = [(entry, _extensions(entry)) for entry in parsed]
    except MemoryError:  # or a revocation would be overlooked
        raise
    except Exception:  # noqa: BLE001 — a list from anywhere makes the reader raise anything
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
        and may_sign_lists(issuer.parsed)
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
    """Yield the entries that revoke certificates of the issuer.

    In an indirect list an entry may name another issuer, which holds for those after it too (§5.3.3); an entry of a
    delta list may take a revocation back.
    """
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


def _extensions(holder: x509.CertificateRevocationList | x509.RevokedCertificate) -> _Extensions:
    """Return ``None`` where the extensions cannot be read: the list still revokes what it names."""
    try:
        return list(holder.extensions)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 — as for the list itself
        return None


def _value(extensions: _Extensions, kind: type[_Value]) -> _Value | None:
    return next((each.value for each in extensions or () if isinstance(each.value, kind)), None)


def _are_understood(extensions: _Extensions, kinds: tuple[type[x509.ExtensionType], ...]) -> bool:
    """Return whether all can be read, and all critical ones are of these kinds."""
    return extensions is not None and all(not each.critical or isinstance(each.value, kinds) for each in extensions)


def may_sign_lists(issuer: x509.Certificate) -> bool:
    """Return whether the key is for lists, or nothing is said of what it is for (§6.3.3 f)."""
    try:
        return issuer.extensions.get_extension_for_class(x509.KeyUsage).value.crl_sign
    except x509.ExtensionNotFound:
        return True


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _distribution_points(certificate: x509.Certificate) -> list[x509.GeneralName]:
    """Return the names under which the issuer publishes lists of all reasons for the certificate: those in the
    certificate, and the issuer's own name."""
    names: list[x509.GeneralName] = [x509.DirectoryName(certificate.issuer)]
    try:
        points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    except x509.ExtensionNotFound:
        return names
    for point in points:
        if not point.reasons and not point.crl_issuer:
            names += point.full_name or ()
    return names
