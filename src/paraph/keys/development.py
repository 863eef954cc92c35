"""The development authority that a first start makes: a root, four sealing keys, a timestamp key, and the
revocation data saying that none of their certificates was revoked.

The authority never revokes one: an installation that loses a development key makes a new authority.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import write_private
from paraph.keys.certificates import PublicKey, misconfigured, read_certificates
from paraph.keys.chains import PROOF_SEALING
from paraph.keys.signing_key import LocalKey, PrivateKey, SigningKey, encrypted_pem, read_private_key

ROOT_NAME = "Paraph Development Root"
SEALING_NAME = "Paraph Development Seal"
PROOF_NAME = "Paraph Development Proof"
SANDBOX_SEALING_NAME = "Paraph Development sandbox Seal"
SANDBOX_PROOF_NAME = "Paraph Development sandbox Proof"
TIMESTAMP_NAME = "Paraph Development Timestamp Authority"

_ROOT_YEARS = 20
_LEAF_YEARS = 10
_USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
    "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip
_SIGNING = "digital_signature"
_Extension = tuple[x509.ExtensionType, bool]
_BACKDATED = timedelta(hours=1)  # for readers whose clocks are slow


def issue_root(key: PrivateKey) -> x509.Certificate:
    """Return a self-signed root that may sign end-entity certificates and revocation lists."""
    constraints, usage = x509.BasicConstraints(ca=True, path_length=0), _usage("key_cert_sign", "crl_sign", _SIGNING)
    return _issued(ROOT_NAME, key.public_key(), key, _ROOT_YEARS, [(constraints, True), (usage, True)])


def issue_sealing(root_key: PrivateKey, key: PublicKey, name: str = SEALING_NAME) -> x509.Certificate:
    """Return a sealing certificate: digital signature and content commitment (non-repudiation)."""
    return _leaf(name, root_key, key, (_usage(_SIGNING, "content_commitment"), True))


def issue_proof_sealing(root_key: PrivateKey, key: PublicKey, name: str = PROOF_NAME) -> x509.Certificate:
    """Return a certificate that seals proofs: :data:`PROOF_SEALING`, and e-mail protection, without which programs that
    judge every certificate by the rules of S/MIME would refuse it."""
    purposes = x509.ExtendedKeyUsage([PROOF_SEALING, ExtendedKeyUsageOID.EMAIL_PROTECTION])
    return _leaf(name, root_key, key, (_usage(_SIGNING, "content_commitment"), True), (purposes, False))


def is_of_development(certificate: x509.Certificate) -> bool:
    """Return whether the certificate names a development authority as its issuer. Only its chain proves that."""
    return certificate.issuer == _name(ROOT_NAME)


def issue_timestamp(root_key: PrivateKey, key: PublicKey) -> x509.Certificate:
    """Return a timestamp authority's certificate: timeStamping as its only and critical purpose (RFC 3161 §2.3)."""
    purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
    return _leaf(TIMESTAMP_NAME, root_key, key, (_usage(_SIGNING), True), (purpose, True))


def _leaf(name: str, root_key: PrivateKey, key: PublicKey, *extensions: _Extension) -> x509.Certificate:
    constraints = x509.BasicConstraints(ca=False, path_length=None)
    return _issued(name, key, root_key, _LEAF_YEARS, [(constraints, True), *extensions])


def _issued(
    name: str, key: PublicKey, root_key: PrivateKey, years: int, extensions: Sequence[_Extension]
) -> x509.Certificate:
    """Return a certificate that the root issues. ``extensions``: each extension, and whether it is critical."""
    start = clock.now() - _BACKDATED
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(ROOT_NAME))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=365 * years))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(root_key, SHA256())


def _name(common: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Paraph (development, not for production)"),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _usage(*uses: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{use: use in uses for use in _USES})


KeyKind = Literal["p-256", "rsa-3072"]

_FOLDER, _ROOT = "development", "root"

_Issue = Callable[[PrivateKey, PublicKey], x509.Certificate]
_LEAVES: dict[str, _Issue] = {
    "sealing": issue_sealing,
    "timestamp": issue_timestamp,
    "proof": issue_proof_sealing,
    "sandbox-sealing": lambda root, own: issue_sealing(root, own, SANDBOX_SEALING_NAME),
    "sandbox-proof": lambda root, own: issue_proof_sealing(root, own, SANDBOX_PROOF_NAME),
}
"""The function that issues each certificate, by the name of its files and of its key in the authority."""
VALIDITY = timedelta(days=7)
"""The validity of a list or a response, which is renewed earlier."""
_LARGEST_REQUEST = 4096


@dataclass(frozen=True)
class DevelopmentAuthority:
    """Keys with certificates that nobody outside this installation trusts."""

    sealing_key: SigningKey
    """For documents of production."""
    proof_key: SigningKey
    """For proofs of production."""
    sandbox_sealing_key: SigningKey
    sandbox_proof_key: SigningKey
    timestamp_key: SigningKey
    root: bytes
    """DER of the root certificate."""
    root_key: LocalKey
    """Signs revocation lists and OCSP responses."""

    @property
    def issued(self) -> tuple[bytes, ...]:
        """DER of the certificates below the root."""
        keys = (self.sealing_key, self.proof_key, self.sandbox_sealing_key, self.sandbox_proof_key, self.timestamp_key)
        return tuple(key.certificate for key in keys)


def root_file(folder: Path) -> Path:
    """Return the PEM file of the root certificate of :func:`development_authority`."""
    return folder / _FOLDER / f"{_ROOT}.pem"


def passphrase(secret: bytes) -> bytes:
    """Return the passphrase that encrypts the private keys, derived from this secret."""
    return tokens.derive(secret, "development-authority").hex().encode()


def development_authority(
    folder: Path, secret: bytes, kind: KeyKind = "p-256", others: Sequence[bytes] = ()
) -> DevelopmentAuthority:
    """Make the authority at the first call and load it afterwards. Its files lie in ``folder / "development"``.

    The private keys are encrypted with a key derived from ``secret``, in files of mode 0600; files that one of the
    ``others`` opens are read as well. Processes that start at the same time agree on one authority, since it is made in
    another folder and renamed as a whole. ``kind`` matters only at the first call. Raise
    ``DomainError("configuration", …)`` when a file is missing, unreadable, damaged, expired or of another key.
    """
    home = folder / _FOLDER
    passphrases = [passphrase(each) for each in (secret, *others)]
    try:
        if not home.exists():
            _create(home, passphrases[0], kind)
    except OSError as error:
        raise misconfigured(f"The development keys {home} cannot be made: {error.strerror}.") from error
    root = read_certificates(home / f"{_ROOT}.pem")[0]
    keys = {f"{name.replace('-', '_')}_key": _load_pair(home, name, root, passphrases) for name in (_ROOT, *_LEAVES)}
    return DevelopmentAuthority(root=root.public_bytes(Encoding.DER), **keys)


def _create(home: Path, passphrase: bytes, kind: KeyKind) -> None:
    temporary = home.with_name(f"{home.name}.{os.getpid()}.{tokens.random_hex(4)}")
    temporary.mkdir(mode=0o700, parents=True)
    try:
        keys = {name: _generate(kind) for name in (_ROOT, *_LEAVES)}
        for name, key in keys.items():
            root_key = keys[_ROOT]
            issued = _LEAVES[name](root_key, key.public_key()) if name in _LEAVES else issue_root(root_key)
            write_private(temporary / f"{name}.key", encrypted_pem(key, passphrase))
            write_private(temporary / f"{name}.pem", issued.public_bytes(Encoding.PEM))
        _move_into_place(temporary, home)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _generate(kind: KeyKind) -> PrivateKey:
    if kind == "rsa-3072":
        return rsa.generate_private_key(public_exponent=65537, key_size=3072)
    return ec.generate_private_key(ec.SECP256R1())


def _move_into_place(temporary: Path, home: Path) -> None:
    """Rename the folder. A rename cannot replace a folder with files in it, so the first of several processes wins."""
    try:
        temporary.rename(home)
    except OSError:
        if not home.exists():
            raise
    handle = os.open(home.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _load_pair(home: Path, name: str, root: x509.Certificate, passphrases: Sequence[bytes]) -> LocalKey:
    certificates = read_certificates(home / f"{name}.pem")
    key = _read_key(home / f"{name}.key", passphrases)
    loaded = LocalKey(key, [*certificates, root])
    if name != _ROOT and not loaded.chain:
        raise misconfigured(f"The certificate {home / f'{name}.pem'} was not issued by {_ROOT}.pem.")
    return loaded


def _read_key(path: Path, passphrases: Sequence[bytes]) -> PrivateKey:
    *others, last = passphrases
    for each in others:
        try:
            return read_private_key(path, each)[0]
        except DomainError:
            continue
    return read_private_key(path, last)[0]


def not_yet_under(folder: Path, secret: bytes) -> list[Path]:
    """Return the files of development keys that this secret does not open."""
    return [path for path in sorted((folder / _FOLDER).glob("[!.]*.key")) if not _opens(path, secret)]


def encrypt_anew(path: Path, secret: bytes, others: Sequence[bytes]) -> None:
    """Replace the file as a whole by one that ``secret`` opens. Raise ``DomainError("configuration", …)`` where none
    of the ``others`` opens it."""
    key = _read_key(path, [passphrase(each) for each in (*others, secret)])
    draft = path.with_name(f".{path.name}.{os.getpid()}.{tokens.random_hex(4)}")
    try:
        write_private(draft, encrypted_pem(key, passphrase(secret)))
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise misconfigured(f"{path} cannot be written: {error.strerror}.") from error


def _opens(path: Path, secret: bytes) -> bool:
    try:
        read_private_key(path, passphrase(secret))
    except DomainError:
        return False
    return True


def revocation_list(authority: DevelopmentAuthority, moment: datetime) -> bytes:
    """Return the DER of the root's certificate revocation list at ``moment`` (RFC 5280 §5)."""
    root = x509.load_der_x509_certificate(authority.root)
    key = authority.root_key.private_key
    return (
        x509.CertificateRevocationListBuilder()
        .issuer_name(root.subject)
        .last_update(moment)
        .next_update(moment + VALIDITY)
        .add_extension(x509.CRLNumber(int(moment.timestamp())), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
        .public_bytes(Encoding.DER)
    )


def status_answer(authority: DevelopmentAuthority, request: bytes, moment: datetime) -> bytes:
    """Answer an OCSPRequest with an OCSPResponse (DER, RFC 6960): a refusal if the request cannot be answered."""
    try:
        query = ocsp.load_der_ocsp_request(request) if len(request) <= _LARGEST_REQUEST else None
        nonces = [each.value for each in query.extensions if isinstance(each.value, x509.OCSPNonce)] if query else []
        algorithm = query.hash_algorithm if query else None
    except (ValueError, TypeError, NotImplementedError, UnsupportedAlgorithm, x509.DuplicateExtension):
        query = algorithm = None
    if query is None or not isinstance(algorithm, SHA1 | SHA256):
        return _refusal(ocsp.OCSPResponseStatus.MALFORMED_REQUEST)
    root, leaves = x509.load_der_x509_certificate(authority.root), map(x509.load_der_x509_certificate, authority.issued)
    certificate = next((leaf for leaf in leaves if leaf.serial_number == query.serial_number), None)
    issuer_name = hashlib.new(algorithm.name, root.subject.public_bytes(), usedforsecurity=False).digest()
    if certificate is None or query.issuer_name_hash != issuer_name:
        return _refusal(ocsp.OCSPResponseStatus.UNAUTHORIZED)
    good, end = ocsp.OCSPCertStatus.GOOD, moment + VALIDITY
    answer = ocsp.OCSPResponseBuilder().add_response(certificate, root, algorithm, good, moment, end, None, None)
    answer = answer.responder_id(ocsp.OCSPResponderEncoding.HASH, root)
    for nonce in nonces[:1]:
        answer = answer.add_extension(nonce, critical=False)
    return answer.sign(authority.root_key.private_key, SHA256()).public_bytes(Encoding.DER)


def _refusal(status: ocsp.OCSPResponseStatus) -> bytes:
    return ocsp.OCSPResponseBuilder.build_unsuccessful(status).public_bytes(Encoding.DER)
