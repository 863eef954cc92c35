"""Which key seals: the operator's, or the development authority's."""

from pathlib import Path

from paraph.kernel.environment import Environment
from paraph.kernel.errors import DomainError
from paraph.keys.certificates import read_certificates
from paraph.keys.development import development_authority
from paraph.keys.local import LocalKey, read_private_key
from paraph.keys.signing_key import SigningKey


def sealing_key(environment: Environment, folder: Path, secret: bytes) -> SigningKey:
    """The key of ``PARAPH_SEALING_KEY``, or the development authority's below ``folder``.

    Raises ``DomainError("configuration", …)`` when the key is missing, unreadable, expired, or has no matching
    certificate.
    """
    if environment.sealing_key is None:
        if environment.sealing_certificate is not None:
            raise DomainError("configuration", "PARAPH_SEALING_CERTIFICATE is set but PARAPH_SEALING_KEY is not.")
        return development_authority(folder, secret, environment.development_key).sealing_key
    key, certificates = read_private_key(environment.sealing_key, environment.sealing_passphrase.encode())
    if environment.sealing_certificate is not None:
        certificates = [*read_certificates(environment.sealing_certificate), *certificates]
    if not certificates:
        raise DomainError("configuration", "PARAPH_SEALING_CERTIFICATE must name the certificate of the sealing key.")
    return LocalKey(key, certificates)
