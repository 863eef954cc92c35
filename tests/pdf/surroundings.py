"""What other programs leave in a file before it is sealed: signatures that nobody can read, odd long-term data."""

import zlib
from collections.abc import Callable
from typing import Any

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from pikepdf import Array, Dictionary, Name, String

from tests.pdf import forge
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import authority

Make = Callable[[pikepdf.Pdf], Any]

_OF_CURVES = bytes.fromhex("06072a8648ce3d0201")
_P_256 = bytes.fromhex("06082a8648ce3d030107")


def signature(**changed: object) -> Make:
    """A signature dictionary whose CMS is not one; ``changed``: entries to set, None to leave one out."""

    def make(_document: pikepdf.Pdf) -> Any:
        entries: dict[str, object] = {
            "Type": Name.Sig,
            "Filter": Name("/Adobe.PPKLite"),
            "SubFilter": Name("/adbe.pkcs7.detached"),
            "ByteRange": Array([0, 10, 20, 30]),
            "Contents": String(b"\x30\x03\x02\x01\x01" + bytes(100)),
        }
        entries |= {key: value() if callable(value) else value for key, value in changed.items()}
        return Dictionary({f"/{key}": value for key, value in entries.items() if value is not None})

    return make


BROKEN_SIGNATURES: dict[str, Make] = {
    "no CMS": signature(),
    "empty": lambda _: Dictionary(),
    "a number": lambda _: 5,
    "a string": lambda _: String("signed"),
    "an array": lambda _: Array([1, 2]),
    "no /ByteRange": signature(ByteRange=None),
    "an empty /ByteRange": signature(ByteRange=lambda: Array([])),
    "an odd /ByteRange": signature(ByteRange=lambda: Array([0, 1, 2])),
    "a long /ByteRange": signature(ByteRange=lambda: Array([0, 1, 2, 3, 4, 5])),
    "a /ByteRange of reals": signature(ByteRange=lambda: Array([0, 1.5, 2, 3])),
    "a negative /ByteRange": signature(ByteRange=lambda: Array([0, -5, -1, 10])),
    "a huge /ByteRange": signature(ByteRange=lambda: Array([0, 10**15, 10**16, 10**17])),
    "a /ByteRange that is a string": signature(ByteRange=lambda: String("0 1 2 3")),
    "a nested /ByteRange": signature(ByteRange=lambda: Array([Array([0]), 1, 2, 3])),
    "no /Contents": signature(Contents=None),
    "empty /Contents": signature(Contents=lambda: String(b"")),
    "/Contents of garbage": signature(Contents=lambda: String(b"\xff" * 500)),
    "/Contents of zeros": signature(Contents=lambda: String(bytes(500_000))),
    "/Contents that is a name": signature(Contents=lambda: Name.Signed),
    "no /SubFilter": signature(SubFilter=None),
    "a /SubFilter of old": signature(SubFilter=lambda: Name("/adbe.x509.rsa_sha1")),
    "an unknown /SubFilter": signature(SubFilter=lambda: Name.Nobodys),
    "a /SubFilter that is a string": signature(SubFilter=lambda: String("/ETSI.CAdES.detached")),
    "no /Type": signature(Type=None),
    "a /Type that is a string": signature(Type=lambda: String("Sig")),
    "a document timestamp": signature(Type=lambda: Name.DocTimeStamp, SubFilter=lambda: Name("/ETSI.RFC3161")),
    "impossible times": signature(M=lambda: String("D:99999999999999")),
    "odd references": signature(Reference=lambda: Array([5, Dictionary(TransformMethod=5)])),
}


def signed_by(value: Make, *, direct: bool = False, **field: Any) -> bytes:
    """A page with one signature field called Old, which has ``value``; ``field``: entries of the field to set."""

    def prepare(document: pikepdf.Pdf) -> None:
        made = value(document)
        entries = {"FT": Name.Sig, "T": "Old", "V": made if direct else document.make_indirect(made)} | field
        widget = Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=Array([0, 0, 0, 0]))
        for key, entry in entries.items():
            if entry is not None:
                widget[f"/{key}"] = Array(entry) if isinstance(entry, list) else entry
        reference = document.make_indirect(widget)
        document.pages[0].obj.Annots = Array([reference])
        document.Root.AcroForm = Dictionary(Fields=Array([reference]))

    return paper(text("A contract", 100, 700), prepare=prepare)


def with_form(make: Make) -> bytes:
    """A page, with what ``make`` returns as its form."""

    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.AcroForm = make(document)

    return paper(text("A contract", 100, 700), prepare=prepare)


def field_in_a_circle(document: pikepdf.Pdf) -> pikepdf.Object:
    """A field that is its own value and its own child, listed twice."""
    field = document.make_indirect(Dictionary(FT=Name.Sig, T="Old"))
    field.V = field
    field.Kids = Array([field])
    return Dictionary(Fields=Array([field, field]))


def of_unknown_key() -> bytes:
    """A certificate (DER) named as the development root, with a key of a kind that nobody knows."""
    return authority("p-256").root.replace(_OF_CURVES, _OF_CURVES[:-1] + b"\x63")


def of_unknown_curve() -> bytes:
    """A certificate (DER) named as the development root, with a key on a curve that nobody knows."""
    return authority("p-256").root.replace(_P_256, _P_256[:-1] + b"\x63")


def of_edwards_curve() -> bytes:
    """A certificate (DER) named as the development root, with a kind of key that is known, but not accepted."""
    name = x509.load_der_x509_certificate(authority("p-256").root).subject
    key = ed25519.Ed25519PrivateKey.generate()
    return forge.der_of(forge.issued(name, key.public_key(), name, key))


def stranger() -> bytes:
    """A sound certificate that has nothing to do with anything here."""
    return authority("rsa-3072").root


def _store(**lists: object) -> Make:
    def make(document: pikepdf.Pdf) -> pikepdf.Object:
        made = {f"/{key}": value(document) if callable(value) else value for key, value in lists.items()}
        return Dictionary(made)

    return make


def _streams(*contents: Callable[[], bytes]) -> Callable[[pikepdf.Pdf], pikepdf.Object]:
    return lambda document: Array([document.make_stream(content()) for content in contents])


def _undecodable(document: pikepdf.Pdf) -> pikepdf.Object:
    named = [document.make_stream(b"no such data") for _ in range(4)]
    for stream, filters in zip(named, ("/FlateDecode", "/JBIG2Decode", "/Nobodys", "/ASCII85Decode"), strict=True):
        stream.Filter = Name(filters)
    named[0].DecodeParms = Dictionary(Predictor=12, Columns=-1)
    return Array(named)


def _bomb(document: pikepdf.Pdf) -> pikepdf.Object:
    """Two streams of too many zeros, one behind one filter and one behind two."""
    once = zlib.compress(bytes(40_000_000), 1)
    plain, twice = document.make_stream(once), document.make_stream(zlib.compress(once, 9))
    plain.Filter, twice.Filter = Name.FlateDecode, Array([Name.FlateDecode, Name.FlateDecode])
    return Array([plain, twice])


ODD_STORES: dict[str, Make] = {
    "a number": lambda _: 5,
    "an array": lambda _: Array([Dictionary()]),
    "a stream": lambda document: document.make_stream(b"x"),
    "lists that are none": _store(Certs=5, CRLs=lambda _: Dictionary(), OCSPs=lambda _: String("x")),
    "items that are no streams": _store(Certs=lambda _: Array([5, Dictionary(), String("x")])),
    "undecodable streams": _store(Certs=_undecodable, CRLs=_undecodable, OCSPs=_undecodable),
    "a bomb": _store(Certs=_bomb, CRLs=_bomb),
    "garbage": _store(**dict.fromkeys(("Certs", "CRLs", "OCSPs"), _streams(lambda: b"garbage", lambda: bytes(5000)))),
    "a certificate of an unknown kind of key": _store(Certs=_streams(of_unknown_key, stranger)),
    "a certificate on an unknown curve": _store(Certs=_streams(of_unknown_curve, stranger)),
    "a certificate with a key not accepted": _store(Certs=_streams(of_edwards_curve, stranger)),
    "half a certificate": _store(Certs=_streams(lambda: authority("p-256").root[:200], stranger)),
}
READABLE_STORES = [name for name in ODD_STORES if "certificate" in name or name == "garbage"]


def with_store(make: Make) -> bytes:
    """A page, with what ``make`` returns as its document security store."""

    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.DSS = make(document)

    return paper(text("A contract", 100, 700), prepare=prepare)
