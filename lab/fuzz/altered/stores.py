"""Additions to the document security store, which are allowed, and what an attacker may hide in them."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.authorities import ALTERED_AT, authority, certificate_with
from lab.fuzz.altered.known import NotHere, Stream, number_of
from lab.fuzz.altered.spelling import opaque
from lab.fuzz.altered.tail import Tail
from lab.fuzz.altered.trailers import forged_page
from paraph.keys.development import revocation_list

Alter = Callable[[Tail, Random], None]


def honest_store(tail: Tail) -> int:
    """Add a revocation list and return the object number of the store."""
    crl = tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT)))
    return list_in_store(tail, b"/CRLs", crl)


def list_in_store(tail: Tail, key: bytes, number: int, more: bytes = b"") -> int:
    """Add a stream to the list ``key`` of the store, which is made if need be; return its object number."""
    old = tail.root.get(b"/DSS")
    place = number_of(old) if old.endswith(b" R") else tail.reserve()
    pairs = tail.change(place)
    pairs.set(key, pairs.get(key, b"[]")[:-1] + b" %d 0 R]" % number)
    if more:
        pairs.append((b"", more))
    tail.root.set(b"/DSS", b"%d 0 R" % place)
    return place


def _with(tail: Tail, _chance: Random, more: bytes) -> None:
    list_in_store(tail, b"/CRLs", tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT))), more)


def _stream_with(tail: Tail, _chance: Random, key: bytes, entries: bytes) -> None:
    looks = opaque(tail) if b"LOOKS" in entries else 0
    data = revocation_list(authority(), ALTERED_AT) if key == b"/CRLs" else authority().root
    list_in_store(tail, key, tail.add(Stream(entries.replace(b"LOOKS", b"%d 0 R" % looks), data)))


def _stream_of(tail: Tail, _chance: Random, key: bytes, data: bytes | None) -> None:
    """Add ``data`` to a list of the store; ``None``: a certificate followed by more bytes."""
    content = authority().root + b"more bytes" if data is None else data
    list_in_store(tail, key, tail.add(Stream(b"", content)))


def _number_of_data(tail: Tail, _chance: Random, number: int) -> None:
    """Give the data an object number for which readers have no room, or which they count differently."""
    tail.size = number
    list_in_store(tail, b"/CRLs", tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT))))


def _certificate(tail: Tail, _chance: Random, content: bytes) -> None:
    """Add a real certificate with PDF syntax in its bytes, where readers that repair files find it."""
    if tail.known.encryption:
        raise NotHere("bytes as they are")
    list_in_store(tail, b"/Certs", tail.add(Stream(b"", certificate_with(content))))


def _holds(tail: Tail, _chance: Random, key: bytes, which: str) -> None:
    """List an object in the store that is no evidence."""
    if which == "a forged page":
        number = number_of(forged_page(tail))
    else:
        known = tail.known
        others = {"a page": known.pages[0], "the catalog": known.root, "the content": known.amount}
        number = {**others, "the seal": known.seals[0], "itself": tail.size, "nothing": 9999}[which]
    list_in_store(tail, key, number)


def _overwritten_content(tail: Tail, _chance: Random) -> None:
    """List the forged content in the store as a certificate."""
    tail.put(tail.known.amount, tail.known.forged)
    list_in_store(tail, b"/Certs", tail.known.amount)


def _replaced(tail: Tail, _chance: Random, value: bytes) -> None:
    if value == b"null" and not tail.root.get(b"/DSS"):
        raise NotHere("a store")
    tail.root.set(b"/DSS", value)


def _direct(tail: Tail, _chance: Random) -> None:
    if tail.root.get(b"/DSS"):
        raise NotHere("no store")
    crl = tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT)))
    tail.root.set(b"/DSS", b"<</CRLs[%d 0 R]>>" % crl)


def _shortened(tail: Tail, _chance: Random) -> None:
    """Replace the store by one without its earlier lists."""
    if not tail.root.get(b"/DSS"):
        raise NotHere("a store")
    crl = tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT)))
    tail.root.set(b"/DSS", b"%d 0 R" % tail.add(b"<</Type/DSS/CRLs[%d 0 R]>>" % crl))


def _old_stream_changed(tail: Tail, _chance: Random) -> None:
    """Overwrite a stream that the store already lists."""
    if not tail.root.get(b"/DSS"):
        raise NotHere("a store")
    old = tail.dictionaries[tail.known.root].get(b"/DSS")
    number = tail.known.amount
    if old.endswith(b" R"):
        listed = tail.change(number_of(old)).get(b"/Certs", b"[0 0 R]")
        number = number_of(listed.strip(b"[ ")) or number
    tail.put(number, Stream(b"", b"\x30\x00"))


def _vri(tail: Tail, _chance: Random, entries: bytes) -> None:
    crl = tail.add(Stream(b"", revocation_list(authority(), ALTERED_AT)))
    made = entries.replace(b"CRL", b"%d 0 R" % crl).replace(b"LOOKS", b"%d 0 R" % opaque(tail))
    list_in_store(tail, b"/CRLs", crl, b"/VRI<<%b>>" % made)


_KEY = b"/" + b"0123456789ABCDEF" * 2 + b"01234567"
_STORE = {
    "an unknown key": b"/Odd 1",
    "an action": b"/AA<</O<</S/JavaScript/JS(x)>>>>",
    "another type": b"/Type/Page",
    "annotations": b"/Annots[1 0 R]",
    "kids": b"/Kids[1 0 R]",
    "a list twice": b"/CRLs[]",
    "a list twice, escaped": b"/CR#4cs[]",
    "a certificate that is a number": b"/Certs[5]",
    "a certificate that is a string": b"/Certs[(abc)]",
    "certificates that are none": b"/Certs 5",
    "nested lists": b"/OCSPs[[1 0 R]]",
    "metadata": b"/Metadata 1 0 R",
}
_STREAMS = {
    "the type of an appearance": b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]",
    "resources": b"/Resources<</XObject<</X LOOKS>>>>",
    "a page's type": b"/Type/Page",
    "a type of objects": b"/Type/ObjStm/N 1/First 4",
    "a type of cross-references": b"/Type/XRef/W[1 2 1]/Size 9",
    "an external file": b"/F(other)",
    "odd parameters": b"/DecodeParms<</Predictor 12>>",
    "an unknown key": b"/Odd 1",
    "metadata": b"/Metadata 1 0 R",
    "a filter that is none": b"/Filter/Nobody",
    "image filters": b"/Filter/DCTDecode",
    "no filter": b"/Filter null",
    "an empty filter": b"/Filter[]",
    "a false length": b"/Length 5",
    "a length twice": b"/Length 5/Length 5",
    "a length by reference": b"/Length 1 0 R",
    "the length of what is unpacked": b"/DL 10",
}
_DATA = {
    "that is empty": b"",
    "that is rubbish": b"rubbish",
    "that is a PDF": b"%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\n",
    "with an object in it": b"endstream endobj\n1 0 obj\n<</Type/Catalog>>\nendobj\n",
    "with a cross-reference in it": b"xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n",
    "with the end of a file in it": b"\nendstream\nendobj\nstartxref\n0\n%%EOF\n",
    "with more after it": None,
}
_NUMBERS = {"23 bits": 1 << 23, "31 bits": (1 << 31) - 2, "32 bits": (1 << 32) - 2, "10 digits": 9_999_999_990}
_IN_CERTIFICATES = {
    "an object": b"\n5 0 obj\n<</Length 0>>\nstream\n\nendstream\nendobj\n",
    "an object behind a comment": b"\n5 % a comment\n0 obj\n<</Length 0>>\nstream\n\nendstream\nendobj\n",
    "an object with points": b"\n5. +0 obj\n<</Length 0>>\nstream\n\nendstream\nendobj\n",
    "a trailer": b"\ntrailer\n<</Root 5 0 R/Size 9>>\n",
    "an end": b"\nstartxref\n15\n%%EOF\n",
}
_VRI = {
    "an odd key": b"/Odd<<>>",
    "a short key": b"/0123<<>>",
    "a key of small letters": b"/" + b"0123456789abcdef" * 2 + b"01234567 <<>>",
    "an action": _KEY + b" <</AA<</O<</S/JavaScript/JS(x)>>>>>>",
    "an appearance": _KEY + b" <</AP LOOKS>>",
    "a list of nothing": _KEY + b" <</CRL[9999 0 R]>>",
    "a page": _KEY + b" <</Cert[1 0 R]>>",
    "an unknown key": _KEY + b" <</CRL[CRL]/Odd 1>>",
    "a time that is a name": _KEY + b" <</TU/Now>>",
    "a timestamp that is a number": _KEY + b" <</TS 5>>",
    "a key twice": _KEY + b" <<>>" + _KEY + b" <</CRL[CRL]>>",
    "another type": _KEY + b" <</Type/Page>>",
    "a number": _KEY + b" 5",
}
_WHAT = ("a page", "the catalog", "the content", "the seal", "a forged page", "itself", "nothing")

FREEDOMS: dict[str, Alter] = {
    **{f"the store with {name}": partial(_with, more=more) for name, more in _STORE.items()},
    **{
        f"data with {name}": partial(_stream_with, key=key, entries=entries)
        for key in (b"/CRLs",)
        for name, entries in _STREAMS.items()
    },
    **{
        f"a certificate with {name}": partial(_stream_with, key=b"/Certs", entries=entries)
        for name, entries in list(_STREAMS.items())[:6]
    },
    **{f"data {name}": partial(_stream_of, key=b"/OCSPs", data=data) for name, data in _DATA.items()},
    **{f"evidence of the seal with {name}": partial(_vri, entries=entries) for name, entries in _VRI.items()},
    **{
        f"the store lists {which} in {key.decode()}": partial(_holds, key=key, which=which)
        for key in (b"/Certs", b"/CRLs")
        for which in _WHAT
    },
    **{f"data with a number of {name}": partial(_number_of_data, number=number) for name, number in _NUMBERS.items()},
    **{f"a certificate that holds {name}": partial(_certificate, content=c) for name, c in _IN_CERTIFICATES.items()},
    "a store that lists the forged content": _overwritten_content,
    "a direct store": _direct,
    "a shorter store": _shortened,
    "old data overwritten": _old_stream_changed,
    "a store that is a number": partial(_replaced, value=b"5"),
    "a store that is a page": partial(_replaced, value=b"1 0 R"),
    "a store that is null": partial(_replaced, value=b"null"),
}
