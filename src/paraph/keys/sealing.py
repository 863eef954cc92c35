"""Which key seals: the operator's, or the development authority's."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509

from paraph.kernel.errors import DomainError
from paraph.keys.certificates import read_certificates
from paraph.keys.development import development_authority
from paraph.keys.local import LocalKey, read_private_key
from paraph.keys.signing_key import SigningKey

if TYPE_CHECKING:
    from paraph.kernel.environment import Environment

_Opener = Callable[[str, str, Sequence[x509.Certificate]], SigningKey]
_MODULES = {"pkcs11": ("pkcs11_key", "pkcs11"), "awskms": ("kms_key", "kms"), "arn": ("kms_key", "kms")}
"""By the scheme of an address: the module here, and the extra that it needs."""


def sealing_key(environment: "Environment", folder: Path, secret: bytes) -> SigningKey:
    """The key of ``PARAPH_SEALING_KEY``, or the development authority's below ``folder``.

    Raises ``DomainError("configuration", …)`` when the key is missing, unreadable, expired, or has no matching
    certificate; ``DomainError("unavailable", …)`` when a token or a service does not answer.
    """
    if not environment.sealing_key:
        if environment.sealing_certificate is not None:
            raise DomainError("configuration", "PARAPH_SEALING_CERTIFICATE is set but PARAPH_SEALING_KEY is not.")
        return development_authority(folder, secret, environment.development_key).sealing_key
    return open_key(environment.sealing_key, environment.sealing_certificate, environment.sealing_passphrase)


def open_key(address: str, certificates: Path | None = None, passphrase: str = "") -> SigningKey:
    """The key at an address: the path of a PEM or PKCS#12 file, ``pkcs11:…`` (RFC 7512), ``awskms:…`` or an ARN.

    ``certificates``: PEM file of the key's own and those above it, in any order; only PKCS#12 may do without.
    ``passphrase``: of the file, or the PIN of the token. Raises ``DomainError`` as :func:`sealing_key` does.
    """
    given = read_certificates(certificates) if certificates is not None else []
    scheme = address.partition(":")[0]
    if scheme in _MODULES:
        return _opener(scheme)(address, passphrase, _needed(given))
    key, enclosed = read_private_key(Path(address), passphrase.encode())
    return LocalKey(key, _needed([*given, *enclosed]))


def _opener(scheme: str) -> _Opener:
    module, extra = _MODULES[scheme]
    try:
        opener: _Opener = import_module(f"paraph.keys.{module}").open_address
    except ModuleNotFoundError as error:
        sentence = f"PARAPH_SEALING_KEY: a key at {scheme}: needs the extra paraph[{extra}]."
        raise DomainError("configuration", sentence) from error
    return opener


def _needed(certificates: Sequence[x509.Certificate]) -> Sequence[x509.Certificate]:
    if not certificates:
        raise DomainError("configuration", "PARAPH_SEALING_CERTIFICATE must name the certificate of the sealing key.")
    return certificates
