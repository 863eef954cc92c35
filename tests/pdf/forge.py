"""The tests' own timestamp authority, made with code other than Paraph's, which can get anything wrong."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Literal

from asn1crypto import algos, cms, core, crl, tsp
from asn1crypto import ocsp as asn1_ocsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.kernel import clock

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
Entry = x509.RevokedCertificate
Scheme = Literal["pkcs1", "pss", "ecdsa"]
SHA256 = hashes.SHA256()
POLICY = "1.3.6.1.4.1.4146.2.3"
HASHES: dict[str, hashes.HashAlgorithm] = {
    "sha1": hashes.SHA1(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha3_256": hashes.SHA3_256(),
}


USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
    "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


def usage(*uses: str) -> tuple[x509.ExtensionType, bool]:
    """Return the key usage extension with ``uses``, and that it is critical."""
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
    hash_: hashes.HashAlgorithm = SHA256,
) -> x509.Certificate:
    """Return a certificate. ``hash_``: of its signature, also one with which cryptography refuses to sign."""
    basics: list[tuple[x509.ExtensionType, bool]] = [(x509.BasicConstraints(ca=ca, path_length=None), True)]
    basics += [(x509.ExtendedKeyUsage(purposes), critical)] if purposes else []
    of, stated = issuer if isinstance(issuer, x509.Name) else named(issuer), [*basics, *extensions]
    made = issued(named(name), key.public_key(), of, issuer_key, start=start, end=end, extensions=stated)
    return made if hash_ is SHA256 else x509.load_der_x509_certificate(anew(made, issuer_key, lambda _: None, hash_))


def issued(
    subject: x509.Name,
    public: Any,
    issuer: x509.Name,
    issuer_key: Any,
    *,
    start: timedelta = timedelta(days=-1),
    end: timedelta = timedelta(days=365),
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
    hash_: hashes.SHA224 | hashes.SHA256 | hashes.SHA384 = SHA256,
    is_pss: bool = False,
) -> x509.Certificate:
    """Return a certificate with these extensions alone, besides the identifiers of its keys. ``start`` and ``end``
    count from now; ``hash_`` is for a key that does not hash for itself."""
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(clock.now() + start)
        .not_valid_after(clock.now() + end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    way = padding.PSS(padding.MGF1(hash_), 32) if is_pss else None
    return builder.sign(issuer_key, hash_ if isinstance(issuer_key, Key) else None, rsa_padding=way)


def der_of(parsed: x509.Certificate | x509.CertificateRevocationList | ocsp.OCSPResponse) -> bytes:
    return parsed.public_bytes(Encoding.DER)


def revoked(about: x509.Certificate | int, when: datetime, *stated: tuple[x509.ExtensionType, bool]) -> Entry:
    """Return what a revocation list says about a certificate or a serial number."""
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


def answer(
    about: x509.Certificate,
    issuer: x509.Certificate,
    key: Key,
    *,
    by: Sequence[x509.Certificate] = (),
    revoked_at: datetime | None = None,
    this: datetime | None = None,
    end: datetime | None = None,
    extensions: Sequence[tuple[x509.ExtensionType, bool]] = (),
) -> ocsp.OCSPResponse:
    """Return an answer about a certificate. ``by``: the responder's own certificates, none for the issuer itself."""
    this = this or clock.now()
    status = ocsp.OCSPCertStatus.REVOKED if revoked_at else ocsp.OCSPCertStatus.GOOD
    builder = ocsp.OCSPResponseBuilder().add_response(about, issuer, hashes.SHA1(), status, this, end, revoked_at, None)
    builder = builder.responder_id(ocsp.OCSPResponderEncoding.HASH, by[0] if by else issuer)
    builder = builder.certificates(by) if by else builder
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(key, hashes.SHA256())


Signed = x509.Certificate | x509.CertificateRevocationList | ocsp.OCSPResponse


def anew(made: Signed, key: Key, change: Callable[[Any], object], hash_: hashes.HashAlgorithm | None = None) -> bytes:
    """Return a certificate, list or answer as DER, changed and signed again. ``change`` gets the signed part as an
    object of asn1crypto; ``hash_``: one that cryptography refuses to sign with."""
    encoded = der_of(made)
    if isinstance(made, ocsp.OCSPResponse):
        whole = asn1_ocsp.OCSPResponse.load(encoded)
        holder, content, signature = whole["response_bytes"]["response"].parsed, "tbs_response_data", "signature"
    elif isinstance(made, x509.Certificate):
        whole = holder = asn1_x509.Certificate.load(encoded)
        content, signature = "tbs_certificate", "signature_value"
    else:
        whole = holder = crl.CertificateList.load(encoded)
        content, signature = "tbs_cert_list", "signature"
    if hash_:
        algorithm = {"algorithm": f"{hash_.name}_{'rsa' if isinstance(key, rsa.RSAPrivateKey) else 'ecdsa'}"}
        holder["signature_algorithm"] = algorithm
        if holder is whole:
            whole[content]["signature"] = algorithm
    change(holder[content])
    message, hash_ = holder[content].dump(force=True), hash_ or hashes.SHA256()
    if isinstance(key, rsa.RSAPrivateKey):
        holder[signature] = key.sign(message, padding.PKCS1v15(), hash_)
    else:
        holder[signature] = key.sign(message, ec.ECDSA(hash_))
    if holder is not whole:
        whole["response_bytes"]["response"] = core.ParsableOctetString(holder.dump(force=True))
    return bytes(whole.dump(force=True))


@cache
def root() -> x509.Certificate:
    return certificate("Test Root", curve_key("root"), "Test Root", curve_key("root"), ca=True)


@cache
def middle() -> x509.Certificate:
    return certificate("Test Middle", curve_key("middle"), "Test Root", curve_key("root"), ca=True)


def leaf(key: Key, **wrong: Any) -> x509.Certificate:
    """Return a certificate for timestamps, issued by :func:`middle` and correct except for what ``wrong`` says."""
    arguments: dict[str, Any] = {"purposes": [ExtendedKeyUsageOID.TIME_STAMPING]}
    return certificate("Test Timestamps", key, "Test Middle", curve_key("middle"), **(arguments | wrong))


@dataclass
class Forge:
    """A timestamp authority, right by default: every field is one way to be wrong."""

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
        signature, named = self._sign(key, attributes.dump()), {"hash_": self.hash_, "content_type": self.content_type}
        return signed_data(carried, attributes, self._algorithm(), signature, content=info, **named)

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
        return in_order(attributes)

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


def in_order(attributes: Sequence[tuple[str, Any]]) -> Any:
    made = (cms.CMSAttribute({"type": kind, "values": [value]}) for kind, value in attributes)
    return cms.CMSAttributes(sorted(made, key=lambda attribute: attribute.dump()))


def signed_data(
    certificates: Sequence[x509.Certificate],
    attributes: Any,
    algorithm: dict[str, Any],
    signature: bytes,
    *,
    hash_: str,
    content_type: str,
    content: bytes | None = None,
    tokens: Sequence[Any] = (),
    version: str = "v3",
) -> Any:
    """Return a CMS message signed by the first of the certificates. ``tokens``: timestamps of the signature."""
    carried = [asn1_x509.Certificate.load(der_of(each)) for each in certificates]
    named = cms.IssuerAndSerialNumber({"issuer": carried[0].issuer, "serial_number": carried[0].serial_number})
    signer: dict[str, Any] = {
        "version": "v1",
        "sid": cms.SignerIdentifier("issuer_and_serial_number", named),
        "digest_algorithm": algos.DigestAlgorithm({"algorithm": hash_}),
        "signed_attrs": attributes,
        "signature_algorithm": algorithm,
        "signature": signature,
    }
    if tokens:
        signer["unsigned_attrs"] = [cms.CMSAttribute({"type": "signature_time_stamp_token", "values": tokens})]
    signed = {
        "version": version,
        "digest_algorithms": [{"algorithm": hash_}],
        "encap_content_info": {"content_type": content_type},
        "certificates": carried,
        "signer_infos": [signer],
    }
    if content is not None:
        signed["encap_content_info"] = {"content_type": content_type, "content": core.ParsableOctetString(content)}
    return cms.ContentInfo({"content_type": "signed_data", "content": cms.SignedData(signed)})


def long_ago() -> datetime:
    return datetime(2020, 1, 1, tzinfo=UTC)
