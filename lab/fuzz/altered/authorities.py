"""Keys that are the same in every process, so that a sealed file has the same bytes wherever it is made again.

RSA with PKCS#1 v1.5 signs deterministically. The primes are derived from a seed because a private key in the
repository would alarm everybody who scans for keys.
"""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from unittest.mock import patch

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from paraph.keys import DevelopmentAuthority, development
from paraph.keys.signing_key import LocalKey
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import Timestamping, granted_token, timestamp_request

SEALED_AT = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
ALTERED_AT = SEALED_AT + timedelta(days=30)
_BITS, _EXPONENT = 2048, 65537
_SMALL_PRIMES = [
    number for number in range(3, 2000) if all(number % other for other in range(2, math.isqrt(number) + 1))
]
_NONCE = 20_250_601


@contextmanager
def steady(moment: datetime = SEALED_AT, seed: str = "") -> Iterator[None]:
    """Stop the clock at ``moment`` and make every random value the same each time, within the context."""
    chance = Random(f"{moment} {seed}")
    with ExitStack() as stack:
        stack.enter_context(patch("paraph.kernel.clock.now", lambda: moment))
        stack.enter_context(patch("paraph.kernel.tokens.random_bytes", chance.randbytes))
        stack.enter_context(patch("cryptography.x509.random_serial_number", lambda: chance.getrandbits(100) + 1))
        yield


@cache
def authority() -> DevelopmentAuthority:
    """Return the authority that every check here trusts: a root, and the keys that it certified."""
    with steady():
        root_key = _key("root")
        root = development.issue_root(root_key)

        def issued(certificate: x509.Certificate, name: str) -> LocalKey:
            return LocalKey(_key(name), [certificate, root])

        seal = issued(development.issue_sealing(root_key, _key("seal").public_key()), "seal")
        proof = issued(development.issue_proof_sealing(root_key, _key("proof").public_key()), "proof")
        stamp = issued(development.issue_timestamp(root_key, _key("timestamp").public_key()), "timestamp")
        own = LocalKey(root_key, [root])
        return DevelopmentAuthority(seal, proof, seal, proof, stamp, own.certificate, own)


@cache
def signer() -> LocalKey:
    """Return the key of a person whose certificate is trusted."""
    with steady(seed="signer"):
        root_key = _key("root")
        certificate = development.issue_sealing(root_key, _key("signer").public_key(), "Jonas Brandt")
        return LocalKey(_key("signer"), [certificate, x509.load_der_x509_certificate(authority().root)])


@cache
def stranger() -> LocalKey:
    """Return a key whose certificate is self-signed and trusted by nobody."""
    key, name = _key("stranger"), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Paraph Development Seal")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(7).not_valid_before(SEALED_AT - timedelta(days=9))
    return LocalKey(key, [builder.not_valid_after(SEALED_AT + timedelta(days=9000)).sign(key, SHA256())])


def certificate_with(content: bytes) -> bytes:
    """Return a stranger's certificate (DER) with any ``content`` in an extension."""
    key, name = _key("stranger"), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Paraph Development Seal")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(8).not_valid_before(SEALED_AT - timedelta(days=9))
    builder = builder.not_valid_after(SEALED_AT + timedelta(days=9000))
    holds = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.32473.1"), content)
    return builder.add_extension(holds, critical=False).sign(key, SHA256()).public_bytes(Encoding.DER)


@cache
def untrusted_timestamps() -> BuiltInAuthority:
    """Return a timestamp authority below a root that nobody trusts."""
    with steady(seed="untrusted"):
        root_key = _key("stranger")
        certificate = development.issue_timestamp(root_key, _key("signer").public_key())
        return BuiltInAuthority(LocalKey(_key("signer"), [certificate, development.issue_root(root_key)]))


@cache
def trusted_timestamps() -> BuiltInAuthority:
    return BuiltInAuthority(authority().timestamp_key)


def timestamping() -> Timestamping:
    return Timestamping([trusted_timestamps()], [authority().root])


def token(digest: bytes, issuer: BuiltInAuthority, moment: datetime = ALTERED_AT) -> bytes:
    """Return a timestamp token over a SHA-256: an authority stamps whatever it is asked to."""
    with steady(moment, digest.hex()):
        asked = timestamp_request(digest, _NONCE)
        return granted_token(issuer.answer(asked))


@cache
def _key(name: str) -> rsa.RSAPrivateKey:
    chance = Random(f"Paraph's attacks, {name}")
    p, q = _prime(chance), _prime(chance)
    d = pow(_EXPONENT, -1, math.lcm(p - 1, q - 1))
    public = rsa.RSAPublicNumbers(_EXPONENT, p * q)
    crt = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, *crt, public).private_key()


def _prime(chance: Random) -> int:
    half = _BITS // 2
    while True:
        number = chance.getrandbits(half) | 3 << half - 2 | 1
        possible = all(number % small for small in _SMALL_PRIMES) and math.gcd(number - 1, _EXPONENT) == 1
        if possible and all(pow(base, number - 1, number) == 1 for base in (2, 3, 5)):
            return number
