"""Certification paths (RFC 5280 §6): from a certificate through its issuers to a root.

Algorithms, curves and critical extensions are accepted only where they are listed. A certificate with any other takes
no part in a chain.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from string import ascii_uppercase
from typing import Literal, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock
from paraph.keys.certificates import extension, is_made_by, weakness_of_certificate

_LONGEST = 10  # certificates
_MOST_TRIED = 200  # possible issuers, whose signatures are verified
_WHITE = re.compile(r"[ \t\n\v\f\r]+")
_LOWER = {ord(letter): letter.lower() for letter in ascii_uppercase}
PROOF_SEALING = x509.ObjectIdentifier("2.25.324937775215045409694553624539473797935")
"""The extended key usage of certificates that seal only proofs (in the arc of UUIDs, ITU-T X.667)."""
FOR_DOCUMENTS = frozenset(
    {
        ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
        ExtendedKeyUsageOID.EMAIL_PROTECTION,
        PROOF_SEALING,
        x509.ObjectIdentifier("1.3.6.1.5.5.7.3.36"),  # document signing (RFC 9336)
        x509.ObjectIdentifier("1.3.6.1.4.1.311.10.3.12"),  # document signing, of Microsoft
        x509.ObjectIdentifier("1.2.840.113583.1.1.5"),  # authentic documents trust, of Adobe
    }
)
"""The extended key usages of which a certificate for documents, and each of its issuers, has one if it has any."""
_FOR_TIMESTAMPS = frozenset({ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE, ExtendedKeyUsageOID.TIME_STAMPING})
_UNDERSTOOD = (
    x509.BasicConstraints,
    x509.KeyUsage,
    x509.ExtendedKeyUsage,
    x509.NameConstraints,
    x509.SubjectAlternativeName,
    x509.AuthorityKeyIdentifier,
    x509.SubjectKeyIdentifier,
    x509.CRLDistributionPoints,
    x509.CertificatePolicies,
)
"""The extensions that may be critical. No policy is demanded, so any policy is accepted."""

_Kind = Literal[
    "OUT_OF_BOUNDS_NO_POE",
    "CRYPTO_CONSTRAINTS_FAILURE_NO_POE",
    "CHAIN_CONSTRAINTS_FAILURE",
    "NO_CERTIFICATE_CHAIN_FOUND",
]
_Name = list[frozenset[tuple[x509.ObjectIdentifier, str | bytes]]]


class Fault(NamedTuple):
    """Why no chain may contain a certificate: the sub-indication of ETSI EN 319 102-1, and the end of a sentence."""

    kind: _Kind
    told: str


class NoChain(ValueError):
    """No chain holds. ``fault``: why none may contain ``certificate``, as the end of a sentence; empty where its issuer
    is missing. ``issuers``: those of the first certificate that were found, nearest first."""

    def __init__(
        self, certificate: x509.Certificate, fault: Fault | None, issuers: tuple[x509.Certificate, ...] = ()
    ) -> None:
        self.fault = fault.told if fault else ""
        super().__init__(self.fault or "the issuer is missing")
        self.certificate, self.issuers = certificate, issuers
        self.kind: _Kind = fault.kind if fault else "NO_CERTIFICATE_CHAIN_FOUND"


def find_chain(
    certificate: x509.Certificate,
    others: Sequence[x509.Certificate],
    roots: Sequence[x509.Certificate],
    moment: datetime,
) -> tuple[x509.Certificate, ...]:
    """Return the shortest chain of certificates from ``certificate`` to one of the ``roots``, both included, all valid
    at ``moment``. ``others``: certificates in any order that may lie between; what belongs to no chain does no harm.
    Raise :class:`NoChain`."""
    if fault := fault_of(certificate, moment, is_root=certificate in roots):
        raise NoChain(certificate, fault)
    own = extension(certificate, x509.ExtendedKeyUsage)
    is_authority = own is not None and set(own) == {ExtendedKeyUsageOID.TIME_STAMPING}
    faults, reached = list[NoChain](), {certificate}
    chain: tuple[x509.Certificate, ...] = (certificate,)
    waiting, tried = deque([chain]), 0
    while waiting:
        chain = waiting.popleft()
        if chain[-1] in roots:
            broken = next(_broken_rules(chain), None)
            if broken is None:
                return chain
            faults.append(broken)
        named, _ = _names(chain[-1])
        for issuer in (*roots, *others) if named is not None and len(chain) < _LONGEST else ():
            if issuer in reached or _names(issuer)[1] != named:
                continue
            tried += 1
            if tried > _MOST_TRIED:
                raise NoChain(certificate, _broken("has too many possible issuers"))
            if not is_issued_by(chain[-1], issuer):
                continue
            reached.add(issuer)
            fault = fault_of(issuer, moment, is_root=issuer in roots)
            if fault := fault or _fault_of_issuer(issuer, is_authority=is_authority):
                faults.append(NoChain(issuer, fault))
            else:
                waiting.append((*chain, issuer))
    raise faults[0] if faults else NoChain(chain[-1], None, chain[1:])


@lru_cache(maxsize=1024)
def is_issued_by(child: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Return whether the child names the issuer and the issuer's key signed it."""
    try:
        return same_name(child.issuer, issuer.subject) and is_made_by(issuer, child, child.tbs_certificate_bytes)
    except ValueError:
        return False


def is_root(certificate: x509.Certificate) -> bool:
    """Return whether the certificate is signed by its own key, in its own name."""
    return is_issued_by(certificate, certificate)


def same_name(one: x509.Name, other: x509.Name) -> bool:
    """Compare names by RFC 5280 §7.1, as OpenSSL does: whatever the type of their strings, without regard to the case
    of ASCII letters and to the amount of white space."""
    return one == other or _folded(one) == _folded(other)


def _folded(name: x509.Name) -> _Name:
    return [frozenset((each.oid, _folded_text(each.value)) for each in part) for part in name.rdns]


def _folded_text(value: str | bytes) -> str | bytes:
    return value if isinstance(value, bytes) else _WHITE.sub(" ", value.translate(_LOWER)).strip(" ")


@lru_cache(maxsize=4096)
def _names(certificate: x509.Certificate) -> tuple[_Name | None, _Name | None]:
    """Return the names of issuer and subject; None for both where one cannot be read."""
    try:
        return _folded(certificate.issuer), _folded(certificate.subject)
    except ValueError:
        return None, None


def fault_of(certificate: x509.Certificate, moment: datetime, *, is_root: bool) -> Fault | None:
    """Return why no chain may contain this certificate at ``moment``; ``None`` where one may."""
    if moment < certificate.not_valid_before_utc:
        return Fault("OUT_OF_BOUNDS_NO_POE", f"is valid only from {clock.iso(certificate.not_valid_before_utc)}")
    if moment > certificate.not_valid_after_utc:
        return Fault("OUT_OF_BOUNDS_NO_POE", f"expired on {clock.iso(certificate.not_valid_after_utc)}")
    if weakness := weakness_of_certificate(certificate, moment, is_root=is_root):
        return Fault("CRYPTO_CONSTRAINTS_FAILURE_NO_POE", weakness)
    try:
        odd = [each.oid for each in certificate.extensions if each.critical and not isinstance(each.value, _UNDERSTOOD)]
    except (ValueError, UnsupportedAlgorithm, x509.DuplicateExtension):
        return _broken("has extensions that cannot be read")
    return _broken(f"has the critical extension {odd[0].dotted_string}, which is not understood") if odd else None


def _broken(told: str) -> Fault:
    return Fault("CHAIN_CONSTRAINTS_FAILURE", told)


def _fault_of_issuer(certificate: x509.Certificate, *, is_authority: bool) -> Fault | None:
    """Return why a certificate may not issue others; ``None`` where it may. ``is_authority``: whether the chain begins
    with the certificate of a timestamp authority."""
    constraints = extension(certificate, x509.BasicConstraints)
    usage = extension(certificate, x509.KeyUsage)
    purposes = extension(certificate, x509.ExtendedKeyUsage)
    if constraints is None or not constraints.ca or (usage is not None and not usage.key_cert_sign):
        return _broken("may not issue certificates")
    if purposes is not None and (_FOR_TIMESTAMPS if is_authority else FOR_DOCUMENTS).isdisjoint(purposes):
        return _broken(f"may not issue certificates for {'timestamps' if is_authority else 'documents'}")
    return None


def _broken_rules(chain: tuple[x509.Certificate, ...]) -> Iterator[NoChain]:
    """Yield each demand of a certificate of the chain that those below it do not meet (RFC 5280 §6.1.4)."""
    for position, issuer in enumerate(chain[1:], start=1):
        below = chain[:position]
        constraints = extension(issuer, x509.BasicConstraints)
        longest = constraints.path_length if constraints else None
        if longest is not None and sum(not same_name(each.issuer, each.subject) for each in below[1:]) > longest:
            yield NoChain(issuer, _broken(f"allows at most {longest} issuers below it"))
        names = extension(issuer, x509.NameConstraints)
        if names is not None and not all(_allows(names, each) for each in below):
            yield NoChain(issuer, _broken("does not allow the names of certificates below it"))


def _allows(constraints: x509.NameConstraints, certificate: x509.Certificate) -> bool:
    """Return whether the constraints allow the certificate's names. Only directory names are compared; a constraint on
    names of another kind allows no name of that kind."""
    alternative = extension(certificate, x509.SubjectAlternativeName)
    names = [x509.DirectoryName(certificate.subject)] if certificate.subject.rdns else []
    kinds = {type(each) for each in (*names, *(alternative or ()))}
    if certificate.subject.get_attributes_for_oid(NameOID.EMAIL_ADDRESS):
        kinds.add(x509.RFC822Name)
    directory = [each.value for each in (*names, *(alternative or ())) if isinstance(each, x509.DirectoryName)]
    for trees, wanted in ((constraints.permitted_subtrees, True), (constraints.excluded_subtrees, False)):
        if any(not isinstance(tree, x509.DirectoryName) and type(tree) in kinds for tree in trees or ()):
            return False
        bases = [_folded(tree.value) for tree in trees or () if isinstance(tree, x509.DirectoryName)]
        within = [any(_folded(name)[: len(base)] == base for base in bases) for name in directory]
        if bases and (not all(within) if wanted else any(within)):
            return False
    return True
