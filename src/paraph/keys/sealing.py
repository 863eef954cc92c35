"""Which keys seal: the operator's, or the development authority's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cryptography import x509

from paraph.kernel.errors import DomainError
from paraph.keys.certificates import read_certificates
from paraph.keys.development import development_authority
from paraph.keys.local_key import LocalKey, read_private_key
from paraph.keys.signing_key import SigningKey

if TYPE_CHECKING:
    from paraph.kernel.settings import Settings

_Opener = Callable[[str, str, Sequence[x509.Certificate]], SigningKey]
_MODULES = {"pkcs11": ("pkcs11_key", "pkcs11"), "awskms": ("kms_key", "kms"), "arn": ("kms_key", "kms")}
"""By the scheme of an address: the module here, and the extra that it needs."""
_OF_PRODUCTION, _OF_SANDBOX = "PARAPH_SEALING_", "PARAPH_SANDBOX_SEALING_"

EnvironmentName = Literal["production", "sandbox"]


@dataclass(frozen=True)
class SealingKeys:
    """What seals the files of one environment: two development keys, or twice the operator's one."""

    documents: SigningKey
    proofs: SigningKey


@dataclass(frozen=True)
class OperatorKey:
    """What the settings say of a key. ``names``: what the names of the settings begin with."""

    names: str
    address: str
    certificates: Path | None
    passphrase: str


def sealing_keys(settings: "Settings", environment: EnvironmentName, folder: Path, secret: bytes) -> SealingKeys:
    """The key of ``PARAPH_SEALING_KEY``, for sandbox files of ``PARAPH_SANDBOX_SEALING_KEY``, or the development
    authority's below ``folder``.

    Raises ``DomainError("configuration", …)`` when the key is missing, unreadable, expired, or has no matching
    certificate; ``DomainError("unavailable", …)`` when a token or a service does not answer.
    """
    chosen = operator_key(settings, environment)
    if chosen is not None:
        key = _open_chosen(chosen)
        return SealingKeys(key, key)
    own = development_authority(folder, secret, settings.development_key)
    if environment == "sandbox":
        return SealingKeys(own.sandbox_sealing_key, own.sandbox_proof_key)
    return SealingKeys(own.sealing_key, own.proof_key)


def operator_key(settings: "Settings", environment: EnvironmentName) -> OperatorKey | None:
    """``None`` where development keys seal. Raises ``DomainError`` for a certificate without a key, and for one key in
    both environments."""
    if environment == "sandbox":
        address, certificates = settings.sandbox_sealing_key, settings.sandbox_sealing_certificate
        chosen = OperatorKey(_OF_SANDBOX, address, certificates, settings.sandbox_sealing_passphrase)
    else:
        address, certificates = settings.sealing_key, settings.sealing_certificate
        chosen = OperatorKey(_OF_PRODUCTION, address, certificates, settings.sealing_passphrase)
    if not address and certificates is not None:
        raise DomainError("configuration", f"{chosen.names}CERTIFICATE is set but {chosen.names}KEY is not.")
    if environment == "sandbox" and address and address == settings.sealing_key:
        raise DomainError("configuration", f"{_OF_SANDBOX}KEY must be another key than {_OF_PRODUCTION}KEY.")
    return chosen if address else None


def _open_chosen(chosen: OperatorKey) -> SigningKey:
    """Errors name the settings as those of production are named."""
    try:
        return open_key(chosen.address, chosen.certificates, chosen.passphrase)
    except DomainError as error:
        raise DomainError(error.code, error.message.replace(_OF_PRODUCTION, chosen.names)) from error


def open_key(address: str, certificates: Path | None = None, passphrase: str = "") -> SigningKey:
    """The key at an address: the path of a PEM or PKCS#12 file, ``pkcs11:…`` (RFC 7512), ``awskms:…`` or an ARN.

    ``certificates``: PEM file of the key's own and those above it, in any order; only PKCS#12 may do without.
    ``passphrase``: of the file, or the PIN of the token. Raises ``DomainError`` as :func:`sealing_keys` does.
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
