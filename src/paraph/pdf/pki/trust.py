"""Whether a certificate chained, at a given time, to a root that the caller trusts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    Policy,
    PolicyBuilder,
    Store,
    VerificationError,
)

from paraph.kernel import clock
from paraph.keys.certificates import weakness_of_certificate
from paraph.pdf.pki.certificate import Certificate, CertificateError, is_issued_by, load

_MAX_DEPTH = 8


class Untrusted(ValueError):
    """The certificate is not trusted; the message is the reason."""


def check_chain(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> tuple[bytes, ...]:
    """Return the certificates (DER) from ``certificate`` to a root, both included, all valid at ``moment``.

    ``others``: DER of certificates that may lie between; none of them is trusted for being there. Raises
    :class:`Untrusted`. A verified chain is remembered for the time in which all of its certificates are valid.
    """
    _check_validity(certificate, moment)
    if weakness := weakness_of_certificate(certificate.parsed, is_root=certificate.encoded in roots):
        raise Untrusted(f"its certificate {weakness}")
    known = _remembered(certificate.encoded, tuple(others), tuple(roots))
    for chain in known:
        if chain.start <= moment <= chain.end:
            return chain.certificates
    chain = _verify(certificate, others, roots, moment)
    known.append(chain)
    return chain.certificates


@dataclass(frozen=True)
class _VerifiedChain:
    certificates: tuple[bytes, ...]
    start: datetime
    end: datetime


@lru_cache(maxsize=512)
def _remembered(certificate: bytes, others: tuple[bytes, ...], roots: tuple[bytes, ...]) -> list[_VerifiedChain]:
    """Return the list in which verified chains of these certificates are remembered; the caller appends to it."""
    del certificate, others, roots
    return []


def _check_validity(certificate: Certificate, moment: datetime) -> None:
    parsed = certificate.parsed
    if moment < parsed.not_valid_before_utc:
        raise Untrusted(f"the certificate is valid only from {clock.iso(parsed.not_valid_before_utc)}")
    if moment > parsed.not_valid_after_utc:
        raise Untrusted(f"the certificate expired on {clock.iso(parsed.not_valid_after_utc)}")


def _verify(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> _VerifiedChain:
    weak: list[str] = []
    try:
        anchors = _strong([root for root in map(_loaded, roots) if root], weak, are_roots=True)
        if not anchors:
            raise Untrusted(*weak[:1] or ["no root is trusted"])
        between = _strong(_issuers(certificate, others), weak)
        verifier = (
            PolicyBuilder()
            .store(Store(anchors))
            .time(moment)
            .max_chain_depth(_MAX_DEPTH)
            .extension_policies(ca_policy=_issuer_policy(), ee_policy=ExtensionPolicy.permit_all())
            .build_client_verifier()
        )
        chain = verifier.verify(certificate.parsed, between).chain
    except (VerificationError, ValueError, TypeError, UnsupportedAlgorithm, x509.DuplicateExtension) as error:
        if isinstance(error, Untrusted):
            raise
        raise Untrusted(*weak[-1:] or ["its certificate does not chain to a trusted root"]) from error
    return _VerifiedChain(
        certificates=tuple(link.public_bytes(Encoding.DER) for link in chain),
        start=max(link.not_valid_before_utc for link in chain),
        end=min(link.not_valid_after_utc for link in chain),
    )


def _strong(certificates: Sequence[Certificate], weak: list[str], *, are_roots: bool = False) -> list[x509.Certificate]:
    """Return the certificates whose keys and hashes may be trusted; add to ``weak`` why the others may not."""
    strong = []
    for each in certificates:
        if weakness := weakness_of_certificate(each.parsed, is_root=are_roots or each.issuer == each.subject):
            weak.append(f'the certificate "{each.name}" {weakness}')
        else:
            strong.append(each.parsed)
    return strong


def _issuers(certificate: Certificate, others: Sequence[bytes]) -> list[Certificate]:
    """Return those of ``others`` that issued the certificate, its issuers, and so on. The verifier sees no others:
    a file may carry certificates of any kind, and an odd one must not break a good chain."""
    found, waiting = dict[bytes, Certificate](), [certificate]
    while waiting:
        child = waiting.pop()
        for other in others:
            if other not in found and child.issuer in other:
                issuer = _loaded(other)
                if issuer and issuer.subject == child.issuer and is_issued_by(child, issuer):
                    found[other] = issuer
                    waiting.append(issuer)
    return list(found.values())


def _loaded(encoded: bytes) -> Certificate | None:
    """Return ``None`` for a certificate that cannot be read or has a key of an unknown kind."""
    try:
        return load(encoded)
    except CertificateError:
        return None


def _issuer_policy() -> ExtensionPolicy:
    """Demand of every certificate above the first that it may issue certificates, and not for the web alone."""
    return (
        ExtensionPolicy.permit_all()
        .require_present(x509.BasicConstraints, Criticality.AGNOSTIC, _must_issue)
        .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, _must_sign_certificates)
        .may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _must_not_be_for_the_web_alone)
    )


def _must_issue(_policy: Policy, _certificate: x509.Certificate, constraints: x509.BasicConstraints) -> None:
    if not constraints.ca:
        raise ValueError("not an issuer")


def _must_sign_certificates(_policy: Policy, _certificate: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("not for signing certificates")


def _must_not_be_for_the_web_alone(
    _policy: Policy, _certificate: x509.Certificate, purposes: x509.ExtendedKeyUsage | None
) -> None:
    web = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
    if purposes is not None and set(purposes) <= web:
        raise ValueError("for the web alone")
