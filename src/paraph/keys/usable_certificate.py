"""The certificate of a signing key, checked when the key is opened, and for its expiry at each signature."""

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys.certificates import algorithm_of, chain_above, check_strength, check_usable, public_key, subject


@dataclass(frozen=True)
class UsableCertificate:
    """A certificate that may sign, with its chain, in the form of :class:`~paraph.keys.signing_key.SigningKey`."""

    own: x509.Certificate
    certificate: bytes
    chain: tuple[bytes, ...]
    algorithm: str

    def check_not_expired(self) -> None:
        """Raises ``DomainError("configuration", …)`` once the certificate has expired."""
        if clock.now() > self.own.not_valid_after_utc:
            until = clock.iso(self.own.not_valid_after_utc)
            raise DomainError("configuration", f"{subject(self.own)} expired on {until}.")


def usable_certificate(own: x509.Certificate, others: Sequence[x509.Certificate]) -> UsableCertificate:
    """Checks a key's own certificate and finds its issuers among ``others``. Raises ``DomainError("configuration", …)``
    when it may not sign now."""
    check_usable(own)
    issuers = chain_above(own, others)
    check_strength(own, issuers)
    chain = tuple(issuer.public_bytes(Encoding.DER) for issuer in issuers)
    return UsableCertificate(own, own.public_bytes(Encoding.DER), chain, algorithm_of(public_key(own)))
