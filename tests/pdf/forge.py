"""A timestamp authority of the tests' own, made with other code than Paraph's, that can get anything wrong."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Literal

from asn1crypto import algos, cms, core, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
Entry = x509.RevokedCertificate
Scheme = Literal["pkcs1", "pss", "ecdsa"]
POLICY = "1.3.6.1.4.1.4146.2.3"
HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha1": hashes.SHA1(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha3_256": hashes.SHA3_256(),
}


USES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


def usage(*uses: str) -> tuple[x509.ExtensionType, bool]:
    """What a key is for, and that this is critical."""
    return x509.KeyUsage(**{use: use in uses for use in USES}), True


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def curve_key(name: str = "authority") -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def named(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def certificate(
    name: str,
    key: Key,
    issuer: str | x509.Name,
    issuer_key: Key,
    *,
    ca: bool = False,
    purposes: Sequence[x509.ObjectIdentifier] = (),
    critical: bool = True,
    start: timedelta = timedelta(days=-1),
    end: timedelta = timedelta(days=365),
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
) -> x509.Certificate:
    now = clock.now()
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(issuer if isinstance(issuer, x509.Name) else named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + start)
        .not_valid_after(now + end)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=critical)
    for extension, is_critical in extensions:
        builder = builder.add_extension(extension, is_critical)
    return builder.sign(issuer_key, hashes.SHA256() if isinstance(issuer_key, Key) else None)


def der_of(parsed: x509.Certificate | x509.CertificateRevocationList) -> bytes:
    return parsed.public_bytes(Encoding.DER)


def revoked(about: x509.Certificate | int, when: datetime, *stated: tuple[x509.ExtensionType, bool]) -> Entry:
    """What a list says of a certificate, or of a serial number."""
    serial = about if isinstance(about, int) else about.serial_number
    builder = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(when)
    for extension, critical in stated:
        builder = builder.add_extension(extension, critical=critical)
    return builder.build()


def revocation_list(
    issuer: x509.Certificate,
    key: Key | ed25519.Ed25519PrivateKey,
    *entries: Entry,
    ago: timedelta = timedelta(minutes=1),
    holds: timedelta = timedelta(days=1),
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
) -> x509.CertificateRevocationList:
    now = clock.now()
    builder = x509.CertificateRevocationListBuilder().issuer_name(issuer.subject)
    builder = builder.last_update(now - ago).next_update(now + holds)
    for entry in entries:
        builder = builder.add_revoked_certificate(entry)
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(key, hashes.SHA256() if isinstance(key, Key) else None)


@cache
def root() -> x509.Certificate:
    return certificate("Test Root", curve_key("root"), "Test Root", curve_key("root"), ca=True)


@cache
def middle() -> x509.Certificate:
    return certificate("Test Middle", curve_key("middle"), "Test Root", curve_key("root"), ca=True)


def leaf(key: Key, **wrong: Any) -> x509.Certificate:
    """A right certificate for timestamps below :func:`middle`, but for what is asked to be ``wrong``."""
    arguments: dict[str, Any] = {"purposes": [ExtendedKeyUsageOID.TIME_STAMPING]}
    return certificate("Test Timestamps", key, "Test Middle", curve_key("middle"), **(arguments | wrong))


@dataclass
class Forge:
    """Right by default: every field is one way to be wrong."""

    scheme: Scheme = "ecdsa"
    hash_: str = "sha256"
    name: str = "forge"
    wrong_certificate: dict[str, Any] = field(default_factory=dict)
    with_middle: bool = True
    named: Literal["v1", "v2", "other", "none"] = "v2"
    status: int = 0
    text: str = ""
    failure: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    content_type: str = "tst_info"
    tamper: Callable[[bytes], bytes] = bytes
    asked: list[bytes] = field(default_factory=list)

    def answer(self, request: bytes, timeout: float) -> bytes:
        self.asked.append(request)
        return self.tamper(self._response(tsp.TimeStampReq.load(request)))

    def _response(self, request: Any) -> bytes:
        status: dict[str, Any] = {"status": self.status}
        if self.text:
            status["status_string"] = [self.text]
        if self.failure:
            status["fail_info"] = {self.failure}
        parts: bytes = tsp.PKIStatusInfo(status).dump()
        if self.status in {0, 1}:
            parts += self.token(self._info(request)).dump()
        made: bytes = core.Sequence(contents=parts).dump()
        return made

    def _info(self, request: Any) -> bytes:
        fields: dict[str, Any] = {
            "version": "v1",
            "policy": POLICY,
            "message_imprint": request["message_imprint"],
            "serial_number": 7,
            "gen_time": clock.now(),
            "nonce": request["nonce"].native,
        }
        made: bytes = tsp.TSTInfo(fields | self.info).dump()
        return made

    def token(self, info: bytes) -> Any:
        key: Key = curve_key() if self.scheme == "ecdsa" else rsa_key()
        own = leaf(key, **self.wrong_certificate)
        attributes = self._attributes(info, der_of(own))
        carried = [own, middle()] if self.with_middle else [own]
        loaded = asn1_x509.Certificate.load(der_of(own))
        signer = cms.SignerInfo(
            {
                "version": "v1",
                "sid": cms.SignerIdentifier(
                    "issuer_and_serial_number",
                    cms.IssuerAndSerialNumber({"issuer": loaded.issuer, "serial_number": loaded.serial_number}),
                ),
                "digest_algorithm": algos.DigestAlgorithm({"algorithm": self.hash_}),
                "signed_attrs": attributes,
                "signature_algorithm": self._algorithm(),
                "signature": self._sign(key, attributes.dump()),
            }
        )
        signed = {
            "version": "v3",
            "digest_algorithms": [{"algorithm": self.hash_}],
            "encap_content_info": {"content_type": self.content_type, "content": core.ParsableOctetString(info)},
            "certificates": [asn1_x509.Certificate.load(der_of(link)) for link in carried],
            "signer_infos": [signer],
        }
        return cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(signed)})

    def _attributes(self, info: bytes, own: bytes) -> Any:
        digest = hashlib.new(self.hash_, info).digest()
        attributes = [("content_type", self.content_type), ("message_digest", digest)]
        if self.named == "v1":
            named = tsp.ESSCertID({"cert_hash": hashlib.sha1(own).digest()})
            attributes.append(("signing_certificate", tsp.SigningCertificate({"certs": [named]})))
        elif self.named != "none":
            stated = own if self.named == "v2" else b"another"
            second = tsp.ESSCertIDv2({"cert_hash": hashlib.sha256(stated).digest()})
            attributes.append(("signing_certificate_v2", tsp.SigningCertificateV2({"certs": [second]})))
        return cms.CMSAttributes(
            sorted(
                (cms.CMSAttribute({"type": kind, "values": [value]}) for kind, value in attributes),
                key=lambda attribute: attribute.dump(),
            )
        )

    def _algorithm(self) -> dict[str, Any]:
        if self.scheme == "pss":
            hash_ = {"algorithm": self.hash_}
            mask = {"algorithm": "mgf1", "parameters": hash_}
            salt = HASHES[self.hash_].digest_size
            parameters = {"hash_algorithm": hash_, "mask_gen_algorithm": mask, "salt_length": salt}
            return {"algorithm": "rsassa_pss", "parameters": parameters}
        return {"algorithm": f"{self.hash_}_{'ecdsa' if self.scheme == 'ecdsa' else 'rsa'}"}

    def _sign(self, key: Key, message: bytes) -> bytes:
        hash_ = HASHES[self.hash_]
        if isinstance(key, ec.EllipticCurvePrivateKey):
            return key.sign(message, ec.ECDSA(hash_))
        if self.scheme == "pss":
            return key.sign(message, padding.PSS(padding.MGF1(hash_), hash_.digest_size), hash_)
        return key.sign(message, padding.PKCS1v15(), hash_)


def long_ago() -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC)
