"""Object streams, streams, and objects that nobody needs."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.known import Stream
from lab.fuzz.altered.spelling import opaque
from lab.fuzz.altered.tail import Row, Tail
from lab.fuzz.altered.trailers import forged_page

Alter = Callable[[Tail, Random], None]


def _plain(tail: Tail) -> list[int]:
    return [number for number, body in tail.objects.items() if isinstance(body, bytes) and b"/ByteRange" not in body]


def _packed(tail: Tail, _chance: Random, entries: bytes) -> None:
    """Pack every object that can be packed into an object stream."""
    tail.page.set(b"/Tabs", b"/S")
    tail.put(tail.known.pages[0], tail.page.text())
    tail.stream = True
    tail.containers = [(_plain(tail), entries)]


def _forged_and_packed(tail: Tail, _chance: Random) -> None:
    forged_page(tail)
    page = list(tail.objects)[-1]
    body = tail.objects.pop(page)
    tail.put(tail.known.pages[0], body)
    tail.stream = True
    tail.containers = [([tail.known.pages[0]], b"")]


def _twice(tail: Tail, chance: Random) -> None:
    """Put one object into two object streams, with different contents."""
    _packed(tail, chance, b"")
    content = tail.add(tail.known.forged)
    page = tail.dictionaries[tail.known.pages[0]].copy()
    page.set(b"/Contents", b"%d 0 R" % content)
    head = b"%d 0 " % tail.known.pages[0]
    tail.add(Stream(b"/Type/ObjStm/N 1/First %d" % len(head), head + page.text()))


def _extended(tail: Tail, chance: Random) -> None:
    """Put the forged object into the stream that another object stream extends."""
    _twice(tail, chance)
    tail.containers[0] = (tail.containers[0][0], b"/Extends %d 0 R" % max(tail.objects))


def _extends_loop(tail: Tail, chance: Random) -> None:
    _packed(tail, chance, b"/Extends %d 0 R" % tail.size)


def _wrong_index(tail: Tail, chance: Random) -> None:
    _packed(tail, chance, b"")
    tail.rows = lambda rows: [row._replace(generation=row.generation + 1) if row.kind == 2 else row for row in rows]


def _wrong_container(tail: Tail, chance: Random) -> None:
    _packed(tail, chance, b"")
    tail.rows = lambda rows: [row._replace(place=3) if row.kind == 2 else row for row in rows]


def _listed_as_both(tail: Tail, chance: Random) -> None:
    """List one object number twice: as a packed object and as one of its own."""
    _packed(tail, chance, b"")
    forged_page(tail)
    body = tail.objects[max(tail.objects)]
    tail.put(tail.size, body)
    tail.extra_rows.append(Row(tail.known.pages[0], len(tail.known.pdf), 0))


def _orphan(tail: Tail, _chance: Random, body: bytes | Stream) -> None:
    tail.add(body)


def _repeated(tail: Tail, _chance: Random) -> None:
    """Write the content stream again before the table, forged."""
    tail.before_table = b"".join(
        b"%d 0 obj\n<</Length %d>>\nstream\n%b\nendstream\nendobj\n"
        % (number, len(tail.known.forged.data), tail.known.forged.data)
        for number in (tail.known.amount,)
    )


def _content(tail: Tail, _chance: Random, entries: bytes, change: Callable[[bytes], bytes]) -> None:
    """Write the forged content stream in an odd way."""
    tail.put(tail.known.amount, Stream(entries, change(tail.known.forged.data)))


def _same(data: bytes) -> bytes:
    return data


def _external(tail: Tail, _chance: Random) -> None:
    tail.put(tail.known.amount, Stream(b"/F(other.txt)/FFilter/FlateDecode", b""))


def _replaced_stream(tail: Tail, _chance: Random, body: bytes) -> None:
    tail.put(tail.known.amount, body)


def _replaced_field(tail: Tail, _chance: Random, body: bytes) -> None:
    tail.put(tail.known.seals[0], body)


def _xobject(tail: Tail, _chance: Random) -> None:
    """Make the content draw a form object that new resources name."""
    form = opaque(tail)
    tail.page.set(b"/Resources", b"<</XObject<</X %d 0 R>>>>" % form)
    tail.put(tail.known.amount, Stream(b"", b"q 1 0 0 1 90 690 cm /X Do Q"))


FREEDOMS: dict[str, Alter] = {
    "objects in a stream": partial(_packed, entries=b""),
    "a forged page in a stream": _forged_and_packed,
    "an object in two streams": _twice,
    "an object in a stream that is extended": _extended,
    "a stream that extends itself": _extends_loop,
    "objects in a stream of no type": partial(_packed, entries=b"/Type/Nothing"),
    "objects in a stream with two /First": partial(_packed, entries=b"/First 0"),
    "objects in a stream with two /N": partial(_packed, entries=b"/N 0"),
    "a wrong index in an object stream": _wrong_index,
    "a wrong object stream": _wrong_container,
    "an object listed as packed and not": _listed_as_both,
    "an orphan that is a stream": partial(_orphan, body=Stream(b"", b"nobody refers to this")),
    "an orphan that is a dictionary": partial(_orphan, body=b"<</Type/Page>>"),
    "an orphan that is null": partial(_orphan, body=b"null"),
    "an orphan that is a number": partial(_orphan, body=b"5"),
    "an orphan that is a certificate": partial(_orphan, body=Stream(b"", b"\x30\x03\x02\x01\x01")),
    "an object twice": _repeated,
    "/Length too short": partial(_content, entries=b"/Length 3", change=_same),
    "/Length too long": partial(_content, entries=b"/Length 30000", change=_same),
    "/Length twice": partial(_content, entries=b"/Length 3/Length 44", change=_same),
    "/Length by reference to nothing": partial(_content, entries=b"/Length 9999 0 R", change=_same),
    "a filter that is escaped": partial(
        _content, entries=b"/Filt#65r/ASCIIHexDecode", change=lambda data: data.hex().encode()
    ),
    "a filter that is short": partial(_content, entries=b"/Filter/AHx", change=lambda data: data.hex().encode()),
    "two filters": partial(
        _content,
        entries=b"/Filter[/ASCIIHexDecode/ASCIIHexDecode]",
        change=lambda data: data.hex().encode().hex().encode(),
    ),
    "/Filter twice": partial(
        _content, entries=b"/Filter null/Filter/ASCIIHexDecode", change=lambda data: data.hex().encode()
    ),
    "a crypt filter": partial(_content, entries=b"/Filter/Crypt/DecodeParms<</Name/Identity>>", change=_same),
    "content elsewhere": _external,
    "content that is null": partial(_replaced_stream, body=b"null"),
    "content that is an array": partial(_replaced_stream, body=b"[]"),
    "content of form objects": _xobject,
    "the seal's field is null": partial(_replaced_field, body=b"null"),
    "the seal's field is another": partial(_replaced_field, body=b"<</FT/Tx/T(Seal)>>"),
    "content stream empty": partial(_content, entries=b"", change=lambda _data: b""),
}
