"""Properties that a program may state of itself and of the file, with a wrong type of value or in an odd place."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import add_signature
from lab.fuzz.altered.known import NotHere, Pairs, Stream, number_of
from lab.fuzz.altered.tail import Tail

Alter = Callable[[Tail, Random], None]
_VALUES: dict[str, bytes] = {
    "a dictionary": b"<</A(b)>>",
    "a script": b"<</S/JavaScript/JS(app.alert\\(1\\))>>",
    "a name": b"/de",
    "a number": b"7",
    "a real": b"7.5",
    "a list": b"[(I owe 9,000,000)]",
    "a truth": b"true",
    "a null": b"null",
    "an empty string": b"()",
}
_ELSEWHERE: dict[str, bytes | Stream] = {
    "a string of its own": b"(I owe 9,000,000)",
    "a number of its own": b"3",
    "a name of its own": b"/2.0",
    "a list of its own": b"[(I owe 9,000,000)]",
    "a script of its own": b"<</S/JavaScript/JS(app.alert\\(1\\))>>",
    "a stream": Stream(b"", b"BT /F1 12 Tf 100 660 Td (I owe 9,000,000) Tj ET"),
}
_HIDDEN: dict[str, bytes] = {
    "a trailer": b"trailer\n<</Size 9/Root 1 0 R>>\n",
    "a table": b"xref\n0 1\n0000000000 65535 f \n",
    "an end": b"startxref\n9\n%%EOF\n",
    "the mark of an end": b"%%EOF\n",
    "the end of an object": b"endobj\n",
    "an object": b"9 0 obj\n<</Type/Catalog>>\nendobj\n",
}


def _catalog(tail: Tail) -> Pairs:
    return tail.root


def _form(tail: Tail) -> Pairs:
    add_signature(tail)
    return tail.form


def _information(tail: Tail) -> Pairs:
    """Return the information dictionary of the file, or a new one if it has none."""
    place = tail.known.trailer.get(b"/Info")
    if place:
        return tail.change(number_of(place))
    number = tail.reserve()
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))
    return tail.change(number)


_PLACES: dict[str, tuple[Callable[[Tail], Pairs], bytes]] = {
    "/Lang": (_catalog, b"/Lang"),
    "/Version": (_catalog, b"/Version"),
    "/SigFlags": (_form, b"/SigFlags"),
    "/Producer": (_information, b"/Producer"),
    "/ModDate": (_information, b"/ModDate"),
    "/Title": (_information, b"/Title"),
    "/Odd": (_information, b"/Odd"),
}


def _state(tail: Tail, _chance: Random, place: str, value: bytes | Stream, *, elsewhere: bool = False) -> None:
    find, key = _PLACES[place]
    stated = b"%d 0 R" % tail.add(value) if elsewhere or isinstance(value, Stream) else value
    find(tail).set(key, stated)


def _hide(tail: Tail, _chance: Random, words: bytes) -> None:
    """Hide PDF syntax in /Producer, where readers that repair files would find it."""
    if tail.known.encryption:
        raise NotHere("words as they are")
    _information(tail).set(b"/Producer", b"(\n" + words + b")")


FREEDOMS: dict[str, Alter] = {
    **{
        f"{place} as {kind}": partial(_state, place=place, value=value)
        for place in _PLACES
        for kind, value in _VALUES.items()
        if (place, kind) not in {(each, "an empty string") for each in ("/Producer", "/ModDate")}
    },
    **{
        f"{place} as {kind}": partial(_state, place=place, value=value, elsewhere=True)
        for place in _PLACES
        for kind, value in _ELSEWHERE.items()
    },
    **{f"{kind} in /Producer": partial(_hide, words=words) for kind, words in _HIDDEN.items()},
}
