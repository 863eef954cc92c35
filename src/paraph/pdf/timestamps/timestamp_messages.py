"""RFC 3161 on the wire: the request for a timestamp, and the token in the response."""

import hashlib

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.der import DerError
from paraph.pdf.timestamps.timestamp_token import TokenRefused

_STATUS = {
    2: "refused",
    3: "is waiting",
    4: "warns that its certificate is about to be revoked",
    5: "had its certificate revoked",
}
_FAILURES = {
    0: "the hash is not accepted",
    2: "the request is not permitted",
    5: "the request has the wrong form",
    14: "its clock is not available",
    15: "the policy is not offered",
    16: "the extension is not offered",
    17: "the additional information is not available",
    25: "it has a fault of its own",
}


def timestamp_request(digest: bytes, nonce: int, policy_oid: str = "") -> bytes:
    """Encodes a TimeStampReq that asks for the certificate in the response (RFC 3161 §2.4.1)."""
    algorithm = der.sequence(der.oid(hash_of(digest)), der.tlv(der.NULL))
    return der.sequence(
        der.integer(1),
        der.sequence(algorithm, der.octet_string(digest)),
        der.oid(policy_oid) if policy_oid else b"",
        der.integer(nonce),
        der.tlv(der.BOOLEAN, b"\xff"),
    )


def hash_of(digest: bytes) -> str:
    """Returns the identifier of the hash whose digests have this length. Raises :class:`TokenRefused`."""
    for identifier, name in oids.HASHES.items():
        if hashlib.new(name).digest_size == len(digest):
            return identifier
    raise TokenRefused(f"a digest of {len(digest)} bytes cannot be stamped")


def granted_token(answer: bytes) -> bytes:
    """Returns the token (DER) of a TimeStampResp whose status is granted or grantedWithMods (RFC 3161 §2.4.2).

    Raises :class:`TokenRefused` with the authority's reason where it gave none.
    """
    try:
        fields = der.read(answer).children()
        status = fields[0].children()
        code = status[0].integer()
        if code not in {0, 1}:
            raise TokenRefused(_rejection(code, status[1:]))
        if len(fields) < 2:
            raise TokenRefused("the answer is granted but has no token")
        return fields[1].expect(der.SEQUENCE).raw
    except (DerError, IndexError) as error:
        raise TokenRefused("the answer is not one of a timestamp authority") from error


def _rejection(code: int, details: list[der.Element]) -> str:
    reasons = [_STATUS.get(code, f"answered with status {code}")]
    for detail in details:
        if detail.tag == der.BIT_STRING:
            bits = "".join(f"{byte:08b}" for byte in detail.content[1:5])
            reasons += [_FAILURES.get(bit, f"failure {bit}") for bit, value in enumerate(bits) if value == "1"]
        elif detail.tag == der.SEQUENCE:
            texts = (part.content.decode("utf-8", "replace") for part in detail.children())
            reasons += [f'"{text[:200]}"' for text in texts if text.isprintable()]
    return "the authority " + ", ".join(reasons)
