"""Files that somebody signed before, well or badly, and what that forbids."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from random import Random

from asn1crypto import cms
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from tests.pdf import forge
from tests.pdf.odd_files.papers import Raw, filled, page, page_number, promise, some

_FIELD, _SIGNATURE, _STORE = 50, 51, 52
_ROOM = 4096  # hexadecimal digits
_RANGE = b"[%010d %010d %010d %010d]"


def earlier(
    chance: Random, *, level: int = 0, perms: bool = True, store: bool = False, attributes: bool = True
) -> bytes:
    """A file that somebody else signed; ``level`` is that of a certification (DocMDP), 0 for none."""
    return _complete(_prepared(chance, level, perms, store), attributes=attributes)


def broken(chance: Random) -> bytes:
    """A file whose earlier signature is damaged in one of many ways."""
    whole = bytearray(_complete(_prepared(chance, 0, False, False)))
    start = whole.index(b"/Contents<") + 10
    kind = chance.choice(["byte", "zeros", "rubbish", "range", "text", "short", "certificate", "changed", "filter"])
    if kind == "byte":
        at = start + 2 * chance.randrange(20, 400)
        whole[at : at + 2] = b"%02x" % chance.randrange(256)
    elif kind == "zeros":
        whole[start : start + _ROOM] = b"0" * _ROOM
    elif kind == "rubbish":
        whole[start : start + _ROOM] = chance.randbytes(_ROOM // 2).hex().encode()
    elif kind == "short":
        whole[start + 100 : start + _ROOM] = b"0" * (_ROOM - 100)
    elif kind == "text":
        whole[start : start + 4] = b"zz z"
    elif kind == "certificate":
        at = whole.index(b"2a8648ce3d0201", start)  # the identifier of its kind of key
        whole[at : at + 14] = b"2a8648ce3d020f"
    elif kind == "changed":
        whole[-30:-30] = b"% more\n"
    elif kind == "filter":
        at = whole.index(b"/adbe.pkcs7.detached")
        whole[at : at + 20] = chance.choice([b"/adbe.x509.rsa_sha1 ", b"/adbe.pkcs7.sha1    ", b"/Nobody             "])
    else:
        at = whole.index(b"/ByteRange[") + 11
        whole[at : at + 10] = b"%010d" % chance.choice([1, 9999999999, 5])
    return bytes(whole)


def without_value(chance: Random) -> bytes:
    """A signature field without a value, or with a value that is no signature."""
    value = chance.choice([b"", b"/V null", b"/V 99 0 R", b"/V<<>>", b"/V(x)", b"/V<</Type/Sig>>"])
    return bytes(_with_field(chance, value, b"").close())


def _prepared(chance: Random, level: int, perms: bool, store: bool) -> Raw:
    parameters = b"/TransformParams<</Type/TransformParams/V/1.2/P %d>>"
    reference = b"/Reference[<</Type/SigRef/TransformMethod/DocMDP" + parameters + b">>]"
    catalog = b"/Perms<</DocMDP %d 0 R>>" % _SIGNATURE if level and perms else b""
    if store:
        catalog += b"/DSS %d 0 R" % _STORE
    raw = _with_field(chance, b"/V %d 0 R" % _SIGNATURE, catalog)
    body = b"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/ByteRange%b/Contents<%b>%b>>"
    raw.put(_SIGNATURE, body % (_RANGE % (0, 0, 0, 0), b"0" * _ROOM, reference % level if level else b""))
    if store:
        raw.stream(_STORE + 1, chance.choice([_foreign_certificate(), chance.randbytes(90), b""]))
        odd = [b"<</Certs[%d 0 R]>>", b"<</Certs[%d 0 R null 7]/VRI 3>>", b"<</Certs %d 0 R/OCSPs(x)>>"]
        raw.put(_STORE, chance.choice(odd) % (_STORE + 1))
    return raw.close()


def _with_field(chance: Random, value: bytes, catalog: bytes) -> Raw:
    form = b"/AcroForm<</Fields[%d 0 R]/SigFlags 3>>" % _FIELD
    contents = [promise(which) for which in some(chance, chance.choice([1, 2]))]
    raw = filled(Raw(), contents, catalog=form + catalog)
    raw.put(page_number(0), page(0, b"/Annots[%d 0 R]" % _FIELD))
    widget = b"<</Type/Annot/Subtype/Widget/FT/Sig/T(Before)/F 132/Rect[0 0 0 0]/P %d 0 R%b>>"
    return raw.put(_FIELD, widget % (page_number(0), value))


def _complete(raw: Raw, *, attributes: bool = True) -> bytes:
    """Fill in the range and the signature over it."""
    content = bytearray(bytes(raw))
    start = content.index(b"/Contents<") + 9
    end = start + _ROOM + 2
    at = content.index(b"/ByteRange[") + 10
    whole = _RANGE % (0, start, end, len(content) - end)
    content[at : at + len(whole)] = whole
    made = _cms(bytes(content[:start] + content[end:]), attributes=attributes).hex().encode()
    content[start + 1 : start + 1 + len(made)] = made
    return bytes(content)


def _cms(data: bytes, *, attributes: bool) -> bytes:
    """Return a detached CMS signature over signed attributes or over the data, the same every time."""
    key, certificate = _signer()
    digested = {"type": "message_digest", "values": [hashlib.sha256(data).digest()]}
    signed_attributes = cms.CMSAttributes([{"type": "content_type", "values": ["data"]}, digested])
    to_sign = signed_attributes.dump() if attributes else data
    signature = key.sign(to_sign, ec.ECDSA(SHA256(), deterministic_signing=True))
    carried, algorithm = signed_attributes if attributes else None, {"algorithm": "sha256_ecdsa"}
    message = forge.signed_data([certificate], carried, algorithm, signature, hash_="sha256", content_type="data")
    return bytes(message.dump())


@cache
def _signer() -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.derive_private_key(20_310_506, ec.SECP256R1())
    return key, _certificate(key)


def _foreign_certificate() -> bytes:
    """Return a certificate with a kind of key that no verifier knows."""
    numbers = rsa.RSAPublicNumbers(65537, (1 << 2047) + 12345678901)
    key = ec.derive_private_key(7, ec.SECP256R1())
    found = forge.der_of(_certificate(key, numbers.public_key()))
    return found.replace(bytes.fromhex("2a864886f70d010101"), bytes.fromhex("2a864886f70d01017f"))


def _certificate(key: ec.EllipticCurvePrivateKey, other: rsa.RSAPublicKey | None = None) -> x509.Certificate:
    """Return a certificate that is the same every time."""
    name = forge.named("Somebody")
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(other or key.public_key())
    builder = builder.serial_number(7).not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
    return builder.not_valid_after(datetime(2050, 1, 1, tzinfo=UTC)).sign(key, SHA256(), ecdsa_deterministic=True)


CLASSES: dict[str, Callable[[Random], bytes]] = {
    "signed: whole": earlier,
    "signed: broken": broken,
    "signed: no attributes": partial(earlier, attributes=False),
    "signed: field without a signature": without_value,
    "signed: odd security store": partial(earlier, store=True),
    **{f"signed: certified, P={level}": partial(earlier, level=level) for level in (1, 2, 3)},
    **{f"signed: certified, P={level}, no /Perms": partial(earlier, level=level, perms=False) for level in (1, 2, 3)},
}
