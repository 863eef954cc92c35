"""Alterations of a sealed file whose upload was prepared for them (:mod:`~lab.fuzz.altered.waiting_uploads`)."""

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
    """Add a certificate to the store whose bytes draw a forged amount if they are read as content."""
    list_in_store(tail, b"/Certs", tail.put(number, Stream(b"", certificate_with(_FORGED))))


def _in_shared_list(tail: Tail, _chance: Random) -> None:
    """Add to a list of certificates that is also the /Contents of a page."""
    store = tail.change(number_of(tail.root.get(b"/DSS")))
    place, added = number_of(store.get(b"/Certs")), tail.add(Stream(b"", certificate_with(_FORGED)))
    listed = re.search(rb"\n%d 0 obj\s*\[(.*?)\]" % place, tail.known.pdf, re.DOTALL)
    if listed is None:
        raise NotHere("a list")
    tail.put(place, b"[%b %d 0 R]" % (re.sub(rb"%[^\n]*\n", b"", listed[1]), added))


def _drawn_property(tail: Tail, _chance: Random) -> None:
    """Make /Producer a form object, in properties that a page uses as resources."""
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
    """Write a genuine store over the object stream that holds all other objects."""
    data = tail.add(Stream(b"", certificate_with(b"")))
    tail.put(number_of(tail.root.get(b"/DSS")), b"<</Type/DSS/Certs[%d 0 R]>>" % data)


def _contents_as_metadata(tail: Tail, _chance: Random) -> None:
    """Leave the meaning of the metadata as it is and add content for the page that draws it."""
    number = number_of(tail.root.get(b"/Metadata"))
    tail.put(number, Stream(b"/Type/Metadata/Subtype/XML", XMP % (b">" + _FORGED)))


def _hole(tail: Tail) -> int:
    """Return the first object number that the file leaves out, or else the next one."""
    listed = PdfReader(tail.known.pdf).crossreference
    return next((number for number in range(1, tail.size) if listed.entry(number) is None), tail.size)


def _filled(tail: Tail, _chance: Random) -> None:
    _certificate_at(tail, _hole(tail))


def _filled_by_properties(tail: Tail, _chance: Random) -> None:
    """Put properties with a /Producer, as all programs write them, into the hole."""
    number = tail.put(_hole(tail), b"<</Producer(and 9,000,000 EUR besides)>>")
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))


def _filled_by_a_string(tail: Tail, _chance: Random) -> None:
    """Put the string of /Producer into the hole, as an object of its own."""
    text = tail.put(_hole(tail), b"(and 9,000,000 EUR besides)")
    number = tail.add(b"<</Producer %d 0 R>>" % text)
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))


def _grown(tail: Tail, _chance: Random) -> None:
    """Fill the file with white space up to its stated length and add a timestamp."""
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
"""The upload for which each freedom is made, by the freedom's name."""
