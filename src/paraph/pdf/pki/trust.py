"""Whether a certificate chained, at a given time, to a root that the caller trusts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from cryptography.hazmat.primitives.serialization import Encoding

from paraph.keys.chains import NoChain, find_chain
from paraph.pdf.pki.certificate import Certificate, CertificateError, load

AHEAD = timedelta(minutes=5)
"""By how much the clock of an authority may be ahead of ours."""


class Untrusted(ValueError):
    """The certificate is not trusted; the message is the reason."""


def check_chain(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> tuple[bytes, ...]:
    """Return the certificates (DER) from ``certificate`` to a root, both included, all valid at ``moment``.

    ``others``: DER of certificates that may lie between; none of them is trusted for being there. Raises
    :class:`Untrusted`. A verified chain is remembered for the time in which all of its certificates are valid.
    """
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


def _verify(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> _VerifiedChain:
    between, anchors = ([each.parsed for each in map(_loaded, some) if each] for some in (others, roots))
    if not anchors:
        raise Untrusted("no root is trusted")
    try:
        chain = find_chain(certificate.parsed, between, anchors, moment)
    except NoChain as error:
        raise Untrusted(_reason(error, certificate)) from error
    return _VerifiedChain(
        certificates=tuple(link.public_bytes(Encoding.DER) for link in chain),
        start=max(link.not_valid_before_utc for link in chain),
        end=min(link.not_valid_after_utc for link in chain),
    )


def _reason(error: NoChain, certificate: Certificate) -> str:
    if not error.fault:
        return "its certificate does not chain to a trusted root"
    if error.certificate == certificate.parsed:
        return f"its certificate {error.fault}"
    return f'the certificate "{load(error.certificate.public_bytes(Encoding.DER)).name}" {error.fault}'


def _loaded(encoded: bytes) -> Certificate | None:
    """Return ``None`` for a certificate that cannot be read or has a key of an unknown kind."""
    try:
        return load(encoded)
    except CertificateError:
        return None
