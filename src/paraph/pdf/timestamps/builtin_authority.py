"""The built-in RFC 3161 timestamp authority: DER of a request in, DER of a response out."""

import hashlib

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys.signing_key import ECDSA_SHA256, SigningKey
from paraph.pdf.pki import der, oids
from paraph.pdf.pki.certificate import load, without_root
from paraph.pdf.pki.der import DerError

POLICY_OID = "2.25.207415320811283467123150942803476521089"
"""The policy of the built-in authority: an identifier made from a UUID, which needs no registration."""

_LARGEST_REQUEST = 4096
_GRANTED, _REJECTION = 0, 2
_BAD_ALGORITHM, _BAD_REQUEST, _BAD_FORMAT = 0, 2, 5
_UNACCEPTED_POLICY, _UNACCEPTED_EXTENSION, _SYSTEM_FAILURE = 15, 16, 25
_EXTENSIONS = der.CONTEXT | der.CONSTRUCTED


class _Rejected(ValueError):
    def __init__(self, failure: int, text: str) -> None:
        super().__init__(text)
        self.failure = failure


class BuiltInAuthority:
    """An authority with one key. What all of its tokens have in common is encoded once."""

    name = "built-in"

    def __init__(self, key: SigningKey) -> None:
        """Take a key whose certificate has the critical, sole purpose timeStamping. Raises
        ``DomainError("configuration", …)`` for any other."""
        certificate = load(key.certificate)
        if not certificate.for_timestamps_only:
            raise DomainError("configuration", f"The certificate {certificate.name} is not one for timestamps alone.")
        self._key = key
        sha256 = der.sequence(der.oid(oids.SHA256))
        self._digest_algorithm = sha256
        self._signature_algorithm = (
            der.sequence(der.oid(oids.ECDSA_SHA256))
            if key.algorithm == ECDSA_SHA256
            else der.sequence(der.oid(oids.RSA_SHA256), der.tlv(der.NULL))
        )
        self._certificates = der.tlv(der.CONTEXT | der.CONSTRUCTED, *sorted(without_root(key.certificate, key.chain)))
        self._signer = der.sequence(certificate.issuer, der.integer(certificate.serial))
        self._subject = der.tlv(0xA0, der.tlv(0xA4, certificate.subject))
        self._content_type = _attribute(oids.CONTENT_TYPE, der.oid(oids.TST_INFO))
        named = der.sequence(der.octet_string(certificate.digest("sha256")))  # SHA-256 is the default, so unnamed
        self._named_certificate = _attribute(oids.SIGNING_CERTIFICATE_V2, der.sequence(der.sequence(named)))

    def answer(self, request: bytes, timeout: float = 0) -> bytes:
        """Return a TimeStampResp (DER): a token, or a rejection with its reason (RFC 3161 §2.4.2)."""
        del timeout
        try:
            imprint, nonce, certificate_wanted = _read_request(request)
            return der.sequence(der.sequence(der.integer(_GRANTED)), self._token(imprint, nonce, certificate_wanted))
        except _Rejected as rejected:
            return _rejection(rejected.failure, str(rejected))
        except DomainError as error:
            return _rejection(_SYSTEM_FAILURE, error.message)

    def _token(self, imprint: bytes, nonce: bytes, certificate_wanted: bool) -> bytes:
        info = der.sequence(
            der.integer(1),
            der.oid(POLICY_OID),
            imprint,
            der.integer(int.from_bytes(tokens.random_bytes(16), "big") >> 1),
            der.generalized_time(clock.now()),
            der.sequence(der.integer(1)),  # accurate to a second
            nonce,
            self._subject,
        )
        attributes = der.set_of(
            self._content_type,
            self._named_certificate,
            _attribute(oids.MESSAGE_DIGEST, der.octet_string(hashlib.sha256(info).digest())),
        )
        signer = der.sequence(
            der.integer(1),
            self._signer,
            self._digest_algorithm,
            b"\xa0" + attributes[1:],
            self._signature_algorithm,
            der.octet_string(self._key.sign(attributes).value),
        )
        content = der.sequence(der.oid(oids.TST_INFO), der.tlv(0xA0, der.octet_string(info)))
        signed_data = der.sequence(
            der.integer(3),
            der.tlv(der.SET, self._digest_algorithm),
            content,
            self._certificates if certificate_wanted else b"",
            der.tlv(der.SET, signer),
        )
        return der.sequence(der.oid(oids.SIGNED_DATA), der.tlv(0xA0, signed_data))


def _attribute(name: str, value: bytes) -> bytes:
    return der.sequence(der.oid(name), der.tlv(der.SET, value))


def _read_request(request: bytes) -> tuple[bytes, bytes, bool]:
    """Return the encoded imprint and nonce, and whether the request asks for the certificate."""
    if len(request) > _LARGEST_REQUEST:
        raise _Rejected(_BAD_FORMAT, "The request is too large.")
    try:
        version, imprint, *optional = der.read(request).children()
        if version.integer() != 1:
            raise _Rejected(_BAD_REQUEST, "Only version 1 is known.")
        _check_imprint(imprint)
        return imprint.raw, *_read_optional(optional)
    except (DerError, ValueError) as error:
        if isinstance(error, _Rejected):
            raise
        raise _Rejected(_BAD_FORMAT, "The request is not a TimeStampReq.") from error


def _check_imprint(imprint: der.Element) -> None:
    algorithm, digest = imprint.children()
    name = oids.HASHES.get(algorithm.children()[0].oid()) if algorithm.children() else None
    if name is None:
        raise _Rejected(_BAD_ALGORITHM, "The hash must be SHA-256, SHA-384 or SHA-512.")
    if len(digest.octets()) != hashlib.new(name).digest_size:
        raise _Rejected(_BAD_FORMAT, "The digest does not have the length of its hash.")


def _read_optional(optional: list[der.Element]) -> tuple[bytes, bool]:
    nonce, certificate_wanted = b"", False
    for field in optional:
        if field.tag == der.OID and field.oid() != POLICY_OID:
            raise _Rejected(_UNACCEPTED_POLICY, f"The only policy offered is {POLICY_OID}.")
        if field.tag == _EXTENSIONS:
            raise _Rejected(_UNACCEPTED_EXTENSION, "No extension is offered.")
        if field.tag not in {der.OID, der.INTEGER, der.BOOLEAN}:
            raise _Rejected(_BAD_FORMAT, "The request has a field that is not known.")
        if field.tag == der.INTEGER:
            field.integer()
            nonce = field.raw
        elif field.tag == der.BOOLEAN:
            certificate_wanted = field.content != b"\0"
    return nonce, certificate_wanted


def _rejection(failure: int, text: str) -> bytes:
    last = failure % 8
    bits = bytes((7 - last,)) + b"\0" * (failure // 8) + bytes((0x80 >> last,))
    status = der.sequence(
        der.integer(_REJECTION),
        der.sequence(der.tlv(der.UTF8_STRING, text.encode())),
        der.tlv(der.BIT_STRING, bits),
    )
    return der.sequence(status)
