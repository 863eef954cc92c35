"""The tests' own seals, made with code other than Paraph's, which can get anything wrong."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from asn1crypto import cms, tsp
from asn1crypto import x509 as asn1_x509
from cryptography.hazmat.primitives.asymmetric import ec

from paraph.pdf.pki import der
from paraph.pdf.timestamps.timestamp import timestamp_request
from tests.pdf import forge
from tests.pdf.forge import Forge
from tests.pdf.sealed_files import LETTER, sealed_without_purpose, timestamping

ROOT = forge.der_of(forge.root())
_SHAKES = ("shake256", "shake256_len")


@cache
def with_room() -> bytes:
    """A sealed letter, with room for a value of 9,000 bytes."""
    return sealed_without_purpose(LETTER, timestamping=timestamping())


def with_value(pdf: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return the file with the value (DER) of its last signature changed."""
    *_, value = re.finditer(rb"/Contents\s*<([0-9a-f]+)>", pdf)
    old = bytes.fromhex(value[1].decode())
    changed = change(next(der.elements(old)).raw)
    assert len(changed) <= len(old)
    return pdf[: value.start(1)] + changed.ljust(len(old), b"\0").hex().encode() + pdf[value.end(1) :]


def sealed_by(make: Callable[[bytes], bytes]) -> bytes:
    """Return the letter with the signature value that ``make`` returns for the bytes it covers."""
    pdf = with_room()
    *_, span = re.finditer(rb"/ByteRange\s*\[\s*0 +(\d+) +(\d+) +(\d+)", pdf)
    before, after, rest = (int(number) for number in span.groups())
    return with_value(pdf, lambda _: make(pdf[:before] + pdf[after : after + rest]))


@dataclass
class SealForge:
    """A seal, right by default: every field is one way to be wrong, or odd."""

    hash_: str = "sha256"
    content_type: str = "data"
    certificate: dict[str, Any] = field(default_factory=dict)
    first_named: bytes | None = None
    """The bytes whose SHA-1 the ESSCertID (version 1) holds, beside the right ESSCertIDv2."""
    issuer_serial: Callable[[Any], tuple[Any, int]] | None = None
    """A function from the certificate to the issuer and serial number that the ESSCertIDv2 names."""
    authorities: Sequence[Forge] = ()
    stamped: Sequence[Callable[[bytes], bytes]] = (bytes,)
    """For each authority in turn, what it stamps instead of the signature."""
    version: str = "v1"
    in_order: bool = True
    key: Any = None
    """The signer's key; a P-256 key if not given."""
    signature_algorithm: dict[str, Any] | None = None
    """As CMS names it; ECDSA with the hash of the digest if not given."""
    sign: Callable[[bytes], bytes] | None = None

    def sealed(self) -> bytes:
        """Return the letter, sealed as these fields say, with a key below :data:`ROOT`."""
        return sealed_by(self.cms)

    def cms(self, content: bytes) -> bytes:
        key = self.key or forge.curve_key("signer")
        own = forge.certificate("Signer", key, "Test Middle", forge.curve_key("middle"), **self.certificate)
        attributes = self._attributes(content, forge.der_of(own))
        signature = (self.sign or self._sign)(attributes.dump())
        made: bytes = forge.signed_data(
            [own, forge.middle()],
            attributes if self.in_order else cms.CMSAttributes(list(attributes)[::-1]),
            self.signature_algorithm or {"algorithm": f"{self.hash_}_ecdsa"},
            signature,
            hash_=self.hash_,
            content_type=self.content_type,
            tokens=self._tokens(signature),
            version=self.version,
        ).dump()
        return made

    def _attributes(self, content: bytes, own: bytes) -> Any:
        second: dict[str, Any] = {"cert_hash": hashlib.sha256(own).digest()}
        if self.issuer_serial:
            issuer, serial = self.issuer_serial(asn1_x509.Certificate.load(own))
            name = asn1_x509.GeneralName("directory_name", issuer)
            second["issuer_serial"] = {"issuer": [name], "serial_number": serial}
        attributes: list[tuple[str, Any]] = [
            ("content_type", self.content_type),
            ("message_digest", _digest(self.hash_, content)),
            ("signing_certificate_v2", tsp.SigningCertificateV2({"certs": [tsp.ESSCertIDv2(second)]})),
        ]
        if self.first_named is not None:
            first = tsp.ESSCertID({"cert_hash": hashlib.sha1(self.first_named or own).digest()})
            attributes.append(("signing_certificate", tsp.SigningCertificate({"certs": [first]})))
        return forge.in_order(attributes)

    def _sign(self, message: bytes) -> bytes:
        return forge.curve_key("signer").sign(message, ec.ECDSA(forge.HASHES[self.hash_]))

    def _tokens(self, signature: bytes) -> list[Any]:
        pairs = zip(self.authorities, [*self.stamped, *[bytes] * len(self.authorities)], strict=False)
        answers = [
            authority.answer(timestamp_request(hashlib.sha256(over(signature)).digest(), 5), 1)
            for authority, over in pairs
        ]
        return [cms.ContentInfo.load(der.read(answer).children()[1].raw) for answer in answers]


def _digest(name: str, content: bytes) -> bytes:
    if name in _SHAKES:
        return hashlib.shake_256(content).digest(64)
    return hashlib.new(name, content).digest()
