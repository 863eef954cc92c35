"""What other programs leave in a file before it is sealed: signatures that nobody can read, odd long-term data."""

from typing import Any

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from pikepdf import Array, Dictionary, Name

from tests.pdf import forge
from tests.pdf.hostile import deflated
from tests.pdf.pdf_factory import Stream, made, paper, text
from tests.pdf.sealed_files import ROOT

WORDS = text("A contract", 100, 700)


def signature(**changed: object) -> dict[str, Any]:
    """A signature dictionary whose CMS is not one; ``changed``: entries to set, None to leave one out."""
    entries: dict[str, Any] = {
        "Type": Name.Sig,
        "Filter": Name("/Adobe.PPKLite"),
        "SubFilter": Name("/adbe.pkcs7.detached"),
        "ByteRange": [0, 10, 20, 30],
        "Contents": b"\x30\x03\x02\x01\x01" + bytes(100),
    }
    return {key: value for key, value in (entries | changed).items() if value is not None}


BROKEN_SIGNATURES: dict[str, Any] = {
    "no CMS": signature(),
    "empty": {},
    "a number": 5,
    "a string": "signed",
    "an array": [1, 2],
    "no /ByteRange": signature(ByteRange=None),
    "an empty /ByteRange": signature(ByteRange=[]),
    "an odd /ByteRange": signature(ByteRange=[0, 1, 2]),
    "a long /ByteRange": signature(ByteRange=[0, 1, 2, 3, 4, 5]),
    "a /ByteRange of reals": signature(ByteRange=[0, 1.5, 2, 3]),
    "a negative /ByteRange": signature(ByteRange=[0, -5, -1, 10]),
    "a huge /ByteRange": signature(ByteRange=[0, 10**15, 10**16, 10**17]),
    "a /ByteRange that is a string": signature(ByteRange="0 1 2 3"),
    "a nested /ByteRange": signature(ByteRange=[[0], 1, 2, 3]),
    "no /Contents": signature(Contents=None),
    "empty /Contents": signature(Contents=b""),
    "/Contents of garbage": signature(Contents=b"\xff" * 500),
    "/Contents of zeros": signature(Contents=bytes(500_000)),
    "/Contents that is a name": signature(Contents=Name.Signed),
    "no /SubFilter": signature(SubFilter=None),
    "a /SubFilter of old": signature(SubFilter=Name("/adbe.x509.rsa_sha1")),
    "an unknown /SubFilter": signature(SubFilter=Name.Nobodys),
    "a /SubFilter that is a string": signature(SubFilter="/ETSI.CAdES.detached"),
    "no /Type": signature(Type=None),
    "a /Type that is a string": signature(Type="Sig"),
    "a document timestamp": signature(Type=Name.DocTimeStamp, SubFilter=Name("/ETSI.RFC3161")),
    "impossible times": signature(M="D:99999999999999"),
    "odd references": signature(Reference=[5, {"TransformMethod": 5}]),
}


def signed_by(value: Any, *, direct: bool = False, **field: Any) -> bytes:
    """A page with one signature field called Old, which has ``value``; ``field``: entries of the field to set."""

    def prepare(document: pikepdf.Pdf) -> None:
        given = made(document, value)
        document.pages[0].obj.Annots[0].V = given if direct else document.make_indirect(given)

    entries = {"Subtype": Name.Widget, "Rect": [0, 0, 0, 0], "FT": Name.Sig, "T": "Old"} | field
    widget = {key: entry for key, entry in entries.items() if entry is not None}
    return paper(WORDS, annotations=[widget], prepare=prepare)


def field_in_a_circle() -> bytes:
    """A page with a field that is its own value and its own child, listed twice."""

    def prepare(document: pikepdf.Pdf) -> None:
        field = document.make_indirect(Dictionary(FT=Name.Sig, T="Old"))
        field.V = field
        field.Kids = Array([field])
        document.Root.AcroForm = Dictionary(Fields=Array([field, field]))

    return paper(WORDS, prepare=prepare)


def _of_edwards_curve() -> bytes:
    name, key = x509.load_der_x509_certificate(ROOT).subject, ed25519.Ed25519PrivateKey.generate()
    return forge.der_of(forge.issued(name, key.public_key(), name, key))


_OF_CURVES = bytes.fromhex("06072a8648ce3d0201")
_P_256 = bytes.fromhex("06082a8648ce3d030107")
OF_UNKNOWN_KEY = ROOT.replace(_OF_CURVES, _OF_CURVES[:-1] + b"\x63")
OF_UNKNOWN_CURVE = ROOT.replace(_P_256, _P_256[:-1] + b"\x63")
OF_EDWARDS_CURVE = _of_edwards_curve()
"""Certificates (DER) named as the development root, with keys that nobody knows, or that are not accepted."""
_KEY = forge.curve_key("stranger")
STRANGER = forge.der_of(forge.certificate("Stranger", _KEY, "Stranger", _KEY, ca=True))
"""A sound certificate that has nothing to do with anything here."""


def _lists(*contents: bytes) -> list[Stream]:
    return [Stream(each) for each in contents]


_UNDECODABLE = [
    Stream(b"no such data", Filter=Name.FlateDecode, DecodeParms={"Predictor": 12, "Columns": -1}),
    *(Stream(b"no such data", Filter=Name(each)) for each in ("/JBIG2Decode", "/Nobodys", "/ASCII85Decode")),
]
_BOMB = [Stream(deflated(bytes(1 << 20), 40, filters), Filter=[Name.FlateDecode] * filters) for filters in (1, 2)]
ODD_STORES: dict[str, Any] = {
    "a number": 5,
    "an array": [{}],
    "a stream": Stream(b"x"),
    "lists that are none": {"Certs": 5, "CRLs": {}, "OCSPs": "x"},
    "items that are no streams": {"Certs": [5, {}, "x"]},
    "undecodable streams": dict.fromkeys(("Certs", "CRLs", "OCSPs"), _UNDECODABLE),
    "a bomb": {"Certs": _BOMB, "CRLs": _BOMB},
    "garbage": dict.fromkeys(("Certs", "CRLs", "OCSPs"), _lists(b"garbage", bytes(5000))),
    "a certificate of an unknown kind of key": {"Certs": _lists(OF_UNKNOWN_KEY, STRANGER)},
    "a certificate on an unknown curve": {"Certs": _lists(OF_UNKNOWN_CURVE, STRANGER)},
    "a certificate with a key not accepted": {"Certs": _lists(OF_EDWARDS_CURVE, STRANGER)},
    "half a certificate": {"Certs": _lists(ROOT[:200], STRANGER)},
}
READABLE_STORES = [name for name in ODD_STORES if "certificate" in name or name == "garbage"]


def with_store(store: Any) -> bytes:
    """A page, with this document security store."""
    return paper(WORDS, catalog={"DSS": store})
