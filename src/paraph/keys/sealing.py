"""The sealing keys of an installation, and the roots that it trusts for its own seals and timestamps."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.kernel.errors import DomainError
from paraph.keys.certificates import misconfigured, read_certificates, read_roots
from paraph.keys.chains import is_root
from paraph.keys.development import development_authority, root_file
from paraph.keys.signing_key import (
    CSC_PREFIX,
    CertificateRefused,
    CscClient,
    LocalKey,
    SigningKey,
    reaches_root,
    read_private_key,
)

if TYPE_CHECKING:
    from paraph.kernel.settings import Settings

_Opener = Callable[[str, str, Sequence[x509.Certificate]], SigningKey]
_KMS = ("kms_key", "KmsKey", "kms")
_STORES = {"pkcs11": ("pkcs11_key", "Pkcs11Key", "pkcs11"), "awskms": _KMS, "arn": _KMS}
"""By the scheme of an address: the module of this package, its class of keys, and the extra that it needs."""
_PRODUCTION_PREFIX, _SANDBOX_PREFIX = "PARAPH_SEALING_", "PARAPH_SANDBOX_SEALING_"

EnvironmentName = Literal["production", "sandbox"]


@dataclass(frozen=True)
class SealingKeys:
    """The keys of one environment: two development keys, or the operator's one key twice."""

    documents: SigningKey
    proofs: SigningKey


@dataclass(frozen=True)
class OperatorKey:
    """The settings of an operator's key. ``prefix``: the beginning of their names. ``client``: for a key at a
    provider."""

    prefix: str
    address: str
    certificates: Path | None
    passphrase: str
    client: CscClient


def sealing_keys(
    settings: "Settings", environment: EnvironmentName, folder: Path, secret: bytes, *others: bytes
) -> SealingKeys:
    """Return the keys of an environment: that of ``PARAPH_SEALING_KEY`` or ``PARAPH_SANDBOX_SEALING_KEY``, or else
    those of the development authority below ``folder``, which ``secret`` or one of the ``others`` opens.

    Raise ``DomainError("configuration", …)`` when a key is missing, unreadable, expired, or has no matching
    certificate; ``DomainError("unavailable", …)`` when a token or a service does not answer.
    """
    configured = operator_key(settings, environment)
    if configured is not None:
        try:
            key = open_key(configured.address, configured.certificates, configured.passphrase, configured.client)
        except DomainError as error:  # whose sentences name the settings of production
            raise DomainError(error.code, error.message.replace(_PRODUCTION_PREFIX, configured.prefix)) from error
        return SealingKeys(key, key)
    authority = development_authority(folder, secret, settings.development_key, others)
    if environment == "sandbox":
        return SealingKeys(authority.sandbox_sealing_key, authority.sandbox_proof_key)
    return SealingKeys(authority.sealing_key, authority.proof_key)


def operator_key(settings: "Settings", environment: EnvironmentName) -> OperatorKey | None:
    """Return the key that the operator configured for an environment, or None for the development keys. Raise
    ``DomainError`` for a certificate without a key, and for one key in both environments."""
    client = CscClient(settings.csc_client_id, settings.csc_client_secret, settings.csc_pin)
    if environment == "sandbox":
        address, certificates = settings.sandbox_sealing_key, settings.sandbox_sealing_certificate
        configured = OperatorKey(_SANDBOX_PREFIX, address, certificates, settings.sandbox_sealing_passphrase, client)
    else:
        address, certificates = settings.sealing_key, settings.sealing_certificate
        configured = OperatorKey(_PRODUCTION_PREFIX, address, certificates, settings.sealing_passphrase, client)
    if not address and certificates is not None:
        raise misconfigured(f"{configured.prefix}CERTIFICATE is set but {configured.prefix}KEY is not.")
    if environment == "sandbox" and address and address == settings.sealing_key:
        raise misconfigured(f"{_SANDBOX_PREFIX}KEY must be another key than {_PRODUCTION_PREFIX}KEY.")
    if is_at_provider(settings.sealing_key) and is_at_provider(settings.sandbox_sealing_key):
        only = f"Only one of {_PRODUCTION_PREFIX}KEY and {_SANDBOX_PREFIX}KEY can be a CSC credential"
        raise misconfigured(f"{only}, since PARAPH_CSC_CLIENT_ID and PARAPH_CSC_PIN are of one.")
    return configured if address else None


def is_at_provider(address: str) -> bool:
    """Return whether a provider keeps the key at this address, which costs money at each signature."""
    return address.startswith(CSC_PREFIX)


def open_key(
    address: str, certificates: Path | None = None, passphrase: str = "", client: CscClient | None = None
) -> SigningKey:
    """Open the key at an address: the path of a PEM or PKCS#12 file, ``pkcs11:…`` (RFC 7512), ``awskms:…``, an ARN, or
    ``csc+https://…``.

    ``certificates``: PEM file of the key's own certificate and its issuers', in any order; optional with PKCS#12; for
    a key at a provider, its root. ``passphrase``: that of the file, or the PIN of the token. ``client``: the
    credentials of the operator at a provider. Raise ``DomainError`` as :func:`sealing_keys` does.
    """
    listed = read_certificates(certificates) if certificates is not None else []
    scheme = address.partition(":")[0]
    try:
        if is_at_provider(address):
            from paraph.keys.csc_key import CscKey  # noqa: PLC0415  readers of PDFs need no HTTP client

            return CscKey(address, client or CscClient(), _required(listed))
        if scheme in _STORES:
            return _opener(scheme)(address, passphrase, _required(listed))
        key, enclosed = read_private_key(Path(address), passphrase.encode())
        return LocalKey(key, _required([*listed, *enclosed]))
    except CertificateRefused as error:
        source = address if is_at_provider(address) else certificates or address
        raise DomainError(error.code, f"{source}: {error.message}") from error


def _opener(scheme: str) -> _Opener:
    module, key, extra = _STORES[scheme]
    try:
        opener: _Opener = getattr(import_module(f"paraph.keys.{module}"), key)
    except ModuleNotFoundError as error:
        sentence = f"PARAPH_SEALING_KEY: a key at {scheme}: needs the extra paraph[{extra}]."
        raise misconfigured(sentence) from error
    return opener


def _required(certificates: Sequence[x509.Certificate]) -> Sequence[x509.Certificate]:
    if not certificates:
        raise misconfigured(
            "PARAPH_SEALING_CERTIFICATE must name the certificate of the sealing key, of one at a provider the root."
        )
    return certificates


def trusted_roots(settings: "Settings", folder: Path) -> list[bytes]:
    """Return the roots (DER): the development root below ``folder``, if it exists, those of the operator's keys, and of
    ``PARAPH_TIMESTAMP_ROOTS``. Make no files, and open a key only if its certificates are not in a separate file.
    Raise ``DomainError("configuration", …)`` for a file that cannot be read."""
    files = [settings.timestamp_roots] if settings.timestamp_roots else []
    if root_file(folder).exists():
        files.append(root_file(folder))
    roots = [root for file in files for root in read_roots(file)]
    roots += [*_roots_of(settings, "production", folder), *_roots_of(settings, "sandbox", folder)]
    return list(dict.fromkeys(roots))


def _roots_of(settings: "Settings", environment: EnvironmentName, folder: Path) -> Iterator[bytes]:
    configured = operator_key(settings, environment)
    if configured is None:
        return
    if configured.certificates is not None:
        listed = read_certificates(configured.certificates)
        yield from (each.public_bytes(Encoding.DER) for each in listed if is_root(each))
    else:
        yield from root_of(sealing_keys(settings, environment, folder, b"").documents)


def root_of(key: SigningKey) -> list[bytes]:
    """Return the root (DER) of a key's certificate, at most one: none where an issuer is missing."""
    return [(key.certificate, *key.chain)[-1]] if reaches_root(key.certificate, key.chain) else []
