"""What somebody does to a sealed file whose upload waited for it (:mod:`~lab.fuzz.altered.waiting_uploads`)."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from lab.fuzz.altered.authorities import certificate_with
from lab.fuzz.altered.covers import STAMP, add_signature, trusted_token
from lab.fuzz.altered.genuine import (
    CATALOG,
    DISGUISED,
    GROWING,
    NOT_THERE,
    REFERRING,
    SHARED,
    STORE,
    WAITING,
    genuine,
)
from lab.fuzz.altered.known import NotHere, Stream, number_of
from lab.fuzz.altered.stores import list_in_store
from lab.fuzz.altered.tail import Tail
from lab.fuzz.altered.waiting_uploads import DIGEST, LENGTH, XMP
from paraph.pdf.structure.reader import PdfReader

Alter = Callable[[Tail, Random], None]
_FORGED = b"\n) ] > Q Q\nq 1 1 0.9 rg 90 590 300 60 re f 0 g BT /F1 12 Tf 100 600 Td (I owe 9,000,000) Tj ET Q\n"


def _certificate_at(tail: Tail, number: int) -> None:
    """A certificate that is content as well, as one more in the store."""
    list_in_store(tail, b"/Certs", tail.put(number, Stream(b"", certificate_with(_FORGED))))


def _in_shared_list(tail: Tail, _chance: Random) -> None:
    """The list of certificates is that of the contents of a page."""
    store = tail.change(number_of(tail.root.get(b"/DSS")))
    place, added = number_of(store.get(b"/Certs")), tail.add(Stream(b"", certificate_with(_FORGED)))
    listed = re.search(rb"\n%d 0 obj\s*\[(.*?)\]" % place, tail.known.pdf, re.DOTALL)
    if listed is None:
        raise NotHere("a list")
    tail.put(place, b"[%b %d 0 R]" % (re.sub(rb"%[^\n]*\n", b"", listed[1]), added))


def _drawn_property(tail: Tail, _chance: Random) -> None:
    """What wrote the file last is a form, and the properties are those that a page draws."""
    looks = b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]"
    number = tail.add(Stream(looks, _FORGED))
    tail.change(number_of(tail.known.trailer.get(b"/Info"))).set(b"/Producer", b"%d 0 R" % number)


def _text_property(tail: Tail, _chance: Random) -> None:
    tail.change(number_of(tail.known.trailer.get(b"/Info"))).set(b"/Producer", b"(Another)")


def _font_in_catalog(tail: Tail, _chance: Random) -> None:
    tail.root.set(b"/Extensions", b"<</ADBE<</BaseVersion/1.7/ExtensionLevel 8>>>>")


def _font_in_data(tail: Tail, _chance: Random) -> None:
    store = tail.change(number_of(tail.root.get(b"/DSS")))
    tail.change(number_of(store.get(b"/VRI"))).set(DIGEST, b"<<>>")


def _store_for_objects(tail: Tail, _chance: Random) -> None:
    """A true store, in the place of the stream in which all objects are."""
    data = tail.add(Stream(b"", certificate_with(b"")))
    tail.put(number_of(tail.root.get(b"/DSS")), b"<</Type/DSS/Certs[%d 0 R]>>" % data)


def _contents_as_metadata(tail: Tail, _chance: Random) -> None:
    """The metadata says the same, and is the content of a page as well."""
    number = number_of(tail.root.get(b"/Metadata"))
    tail.put(number, Stream(b"/Type/Metadata/Subtype/XML", XMP % (b">" + _FORGED)))


def _hole(tail: Tail) -> int:
    """The number that the file leaves out, or else the next one."""
    listed = PdfReader(tail.known.pdf).crossreference
    return next((number for number in range(1, tail.size) if listed.entry(number) is None), tail.size)


def _filled(tail: Tail, _chance: Random) -> None:
    _certificate_at(tail, _hole(tail))


def _filled_by_properties(tail: Tail, _chance: Random) -> None:
    """What wrote the file last, as all programs state it."""
    number = tail.put(_hole(tail), b"<</Producer(and 9,000,000 EUR besides)>>")
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))


def _filled_by_a_string(tail: Tail, _chance: Random) -> None:
    """The same, in an object of its own."""
    text = tail.put(_hole(tail), b"(and 9,000,000 EUR besides)")
    number = tail.add(b"<</Producer %d 0 R>>" % text)
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))


def _grown(tail: Tail, _chance: Random) -> None:
    """A timestamp, behind as much white space as is missing."""
    add_signature(tail, trusted_token, STAMP)
    tail.lead = b"\n" * (LENGTH - len(tail.write().pdf))


def _all() -> Iterator[tuple[str, str, Alter]]:
    yield SHARED, "a list of certificates that a page draws", _in_shared_list
    yield SHARED, "a property that a page draws", _drawn_property
    yield SHARED, "a property that a page could draw", _text_property
    yield CATALOG, "a catalog that is a list of fonts", _font_in_catalog
    yield SHARED, "data of a signature that is a list of fonts", _font_in_data
    yield DISGUISED, "a list of certificates that a page draws behind a comment", _in_shared_list
    yield STORE, "a store that is all objects", _store_for_objects
    yield SHARED, "metadata that a page draws", _contents_as_metadata
    for how, upload in NOT_THERE.items():
        yield upload, f"an object that was missing, {how}", _filled
    yield REFERRING, "a certificate to which contents refer", _filled
    yield REFERRING, "properties to which contents refer", _filled_by_properties
    yield REFERRING, "a string to which contents refer", _filled_by_a_string
    yield GROWING, "the length that the file states", _grown


def _in_its_upload(tail: Tail, chance: Random, upload: str, alter: Alter) -> None:
    if tail.known.pdf != genuine(upload):
        raise NotHere(upload)
    alter(tail, chance)


FREEDOMS: dict[str, Alter] = {
    name: partial(_in_its_upload, upload=upload, alter=alter) for upload, name, alter in _all()
}
BY_UPLOAD = {upload: tuple(name for other, name, _ in _all() if other == upload) for upload in WAITING}
OF = {name: upload for upload, name, _ in _all()}
"""The upload that each waits in."""
