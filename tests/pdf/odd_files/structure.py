"""Files in which readers have to choose or to search: updates whose end is broken, several copies of one object, and
cross-references, page trees and lengths that are not what they say."""

from collections.abc import Callable
from functools import partial
from random import Random

from tests.pdf.odd_files.papers import (
    Place,
    Raw,
    contents_number,
    filled,
    page,
    page_number,
    paper,
    promise,
    some,
    tree,
)

_END, _NOWHERE = b"startxref\n%d\n%%%%EOF\n", b"startxref\n7\n%%%%EOF\n"
_TAILS = {
    "startxref without a number": [b"startxref\n%%EOF\n", b"startxref\n", b"startxref", b"startxref\n\n\n"],
    "startxref with a word": [
        b"startxref\n%b\n%%%%EOF\n" % word for word in (b"none", b"-5", b"0x40", b"(7)", b"1e3", b"+")
    ],
    "startxref to nowhere": [
        b"startxref\n%b\n%%%%EOF\n" % place for place in (b"0", b"7", b"99999999", b"340", b"9" * 20)
    ],
    "no end of file": [b"startxref\n%d\n" + end for end in (b"", b"%%%%", b"%%%%EO", b"EOF")],
}


def wrong_tail(chance: Random, *, kind: str) -> bytes:
    """A file whose last update ends wrongly; the revision before it ends well."""
    tail = chance.choice(_TAILS[kind])
    return bytes(_update(_base(chance), chance).close(tail=tail))


def the_older(chance: Random) -> bytes:
    """The last startxref names the section of the revision before."""
    raw = _base(chance)
    return bytes(_update(raw, chance).close(tail=_END % raw.sections[-1]))


def object_after_the_end(chance: Random) -> bytes:
    """A later copy of the page's contents that no cross-reference knows."""
    raw = _base(chance)
    _contents(raw, chance, listed=False)
    return bytes(raw) + chance.choice([b"", b"%%EOF\n"])


def two_ends(chance: Random) -> bytes:
    """An end that is right, then one that names another section."""
    raw = _update(_base(chance), chance).close()
    last = chance.choice([*raw.sections[:-1], 0, 7])
    return bytes(raw) + _END % last


def cut_off(chance: Random) -> bytes:
    """An update whose cross-reference is cut off in the middle."""
    raw = _base(chance)
    whole = bytes(_update(raw, chance).close(as_stream=False))
    begin = raw.sections[-1]
    return whole[: begin + chance.randrange(4, max(5, len(whole) - begin - 20))]


def no_cross_reference(chance: Random) -> bytes:
    """An update without its cross-reference."""
    raw = _base(chance)
    return bytes(_update(raw, chance)) + chance.choice([b"", b"%%EOF\n", _END % len(raw.data)])


def rubbish_after(chance: Random) -> bytes:
    """Bytes after the end, often enough to push it out of the last kilobyte, where some readers look for it."""
    filler = chance.choice([b"\0", b"\n", b"% nothing to see here\n", b" "])
    return bytes(_update(_base(chance), chance).close()) + filler * chance.choice([40, 300, 1100, 5000])


def _base(chance: Random) -> Raw:
    return paper(chance, some(chance, chance.choice([1, 1, 2]))).close()


def _update(raw: Raw, chance: Random) -> Raw:
    """Give page 1 new contents, by a new stream or a new page."""
    if chance.random() < 0.5:
        return _contents(raw, chance)
    which = some(chance, 1)[0]
    new = raw.highest + 1
    return raw.stream(new, promise(which, 680)).put(page_number(0), page(0, contents=b"%d 0 R" % new))


def _contents(raw: Raw, chance: Random, *, listed: bool = True) -> Raw:
    return raw.stream(contents_number(0), promise(some(chance, 1)[0], 680), listed=listed)


def packed_later(chance: Random) -> bytes:
    """A page as a plain object, and later a packed copy with other contents."""
    raw = _two_contents(chance)
    raw.put(page_number(0), _page(0)).close(tail=_broken(chance))
    return bytes(raw.pack(raw.highest + 5, {page_number(0): _page(1)}).close(tail=_broken(chance)))


def plain_later(chance: Random) -> bytes:
    """A page in an object stream, and later a plain copy with other contents."""
    raw = _two_contents(chance)
    raw.pack(raw.highest + 5, {page_number(0): _page(0)}).close(tail=_broken(chance))
    return bytes(raw.put(page_number(0), _page(1)).close(as_stream=True, tail=_broken(chance)))


def packed_twice(chance: Random) -> bytes:
    """A page in two object streams, of which the later one has the lower number or the higher."""
    raw = _two_contents(chance)
    first, second = raw.highest + 5, raw.highest + 6
    if chance.random() < 0.5:
        first, second = second, first
    raw.pack(first, {page_number(0): _page(0)}).close(tail=_broken(chance))
    return bytes(raw.pack(second, {page_number(0): _page(1)}).close(tail=_broken(chance)))


def packed_twice_in_one(chance: Random) -> bytes:
    """One object stream that lists an object twice."""
    raw = _two_contents(chance)
    container = raw.highest + 5
    heads = b"%d 0 %d %d " % (page_number(0), page_number(0), len(_page(0)) + 1)
    entries = b"/Type/ObjStm/N 2/First %d" % len(heads)
    raw.stream(container, heads + _page(0) + b"\n" + _page(1) + b"\n", entries)
    raw.places[page_number(0)] = Place(container, 0, packed=True)
    return bytes(raw.close(tail=_broken(chance)))


def generations(chance: Random) -> bytes:
    """Contents in generation 0 and 1; the page refers to either, and the cross-reference lists either."""
    one, other = some(chance, 2)
    referred, listed = chance.choice([0, 1]), chance.choice([0, 1])
    raw = paper(chance, [one])
    number = contents_number(0)
    raw.put(page_number(0), page(0, contents=b"%d %d R" % (number, referred)))
    for generation in [0, 1] if chance.random() < 0.5 else [1, 0]:
        said = promise(other if generation else one)
        raw.stream(number, said, generation=generation, listed=generation == listed)
    return bytes(raw.close(tail=_broken(chance)))


def pages_in_generations(chance: Random) -> bytes:
    raw = _two_contents(chance)
    raw.put(page_number(0), _page(0), generation=chance.choice([0, 1]))
    raw.put(page_number(0), _page(1), generation=chance.choice([0, 1]))
    return bytes(raw.close(tail=_broken(chance)))


def plain_twice(chance: Random) -> bytes:
    """Two plain copies in one section; the cross-reference names the earlier or the later."""
    raw, (one, other) = paper(chance, some(chance, 1)), some(chance, 2)
    raw.stream(contents_number(0), promise(one))
    raw.stream(contents_number(0), promise(other, 680), listed=chance.random() < 0.5)
    return bytes(raw.close(tail=_broken(chance)))


def entries_twice(chance: Random) -> bytes:
    """One section with two entries for one object."""
    one, other = some(chance, 2)
    raw = paper(Random(1), [one])
    raw.places = {number: place for number, place in raw.places.items() if not place.packed}
    early = raw.places[contents_number(0)]
    raw.stream(contents_number(0), promise(other, 680))
    table = raw.table()
    twice = b"%d 1\n%010d 00000 n \n" % (contents_number(0), early.at)
    table = table.replace(b"xref\n", b"xref\n" + twice) if chance.random() < 0.5 else table + twice
    start = len(raw.data)
    trailer = b"trailer\n<</Size %d/Root 1 0 R%b>>\n" % (raw.highest + 1, raw.trailer)
    return bytes(raw) + table + trailer + _END % start


def _two_contents(chance: Random) -> Raw:
    """A document whose page 1 may have either of two contents: objects 40 and 41."""
    one, other = some(chance, 2)
    return paper(chance, [one]).stream(40, promise(one, 520)).stream(41, promise(other, 680))


def _page(which: int) -> bytes:
    return page(0, contents=b"%d 0 R" % (40 + which))


def _broken(chance: Random) -> bytes:
    """Return the end of a file: half of the ends are wrong, so that readers must search for the objects."""
    return chance.choice([_END, _END, _END, _NOWHERE, b"startxref\n\n%%%%EOF\n", b""])


def before_the_header(chance: Random) -> bytes:
    """Offsets count from the header, or from the beginning of the file."""
    junk = chance.choice([b"\n", b"\xef\xbb\xbf", b"HTTP/1.1 200 OK\r\n\r\n", b" " * 900, chance.randbytes(30)])
    if chance.random() < 0.5:
        return junk + bytes(paper(chance, some(chance, 2)).close())
    raw = Raw(bytearray(junk) + Raw().data)
    return bytes(filled(raw, [promise(some(chance, 1)[0])]).close())


def hybrid(chance: Random) -> bytes:
    """A table for old readers, and a stream that says something else about the page's contents."""
    one, other = some(chance, 2)
    raw = filled(Raw(), [promise(one)])
    number = contents_number(0) if chance.random() < 0.5 else 40
    row = b"\x01" + len(raw.data).to_bytes(4, "big") + b"\0\0"
    raw.stream(40, promise(other, 680), listed=False)
    start = len(raw.data)
    raw.stream(50, row, b"/Type/XRef/W[1 4 2]/Index[%d 1]/Size 51/Root 1 0 R" % number, listed=False)
    return bytes(raw.close(b"/XRefStm %d" % start))


def listed_twice(chance: Random) -> bytes:
    """A page that stands in the page tree twice."""
    first, second = page_number(0), page_number(1)
    kids = chance.choice([[first, first], [first, second, first], [first, second, second]])
    contents = [promise(which) for which in some(chance, 2)]
    return bytes(filled(Raw(), contents, kids=tree(len(kids), kids)).close())


def wrong_count(chance: Random) -> bytes:
    contents = [promise(which) for which in some(chance, 3)]
    count = chance.choice([b"1", b"2", b"4", b"7", b"0", b"-3", b"(3)", b"3.0"])
    return bytes(filled(Raw(), contents, kids=tree(3).replace(b"/Count 3", b"/Count " + count)).close())


def wrong_length(chance: Random) -> bytes:
    """A /Length that is too short, too long, missing, or a reference to nothing."""
    one, other = some(chance, 2)
    raw = filled(Raw(), [promise(one), promise(other)])
    content = promise(one)
    length = chance.choice([0, 1, 10, len(content) - 3, len(content) + 9, 999999])
    raw.stream(contents_number(0), content, length=length)
    if chance.random() < 0.3:
        at = raw.data.rindex(b"<</Length ")
        end = raw.data.index(b">>", at)
        raw.data[at:end] = chance.choice([b"<<", b"<</Length 99 0 R", b"<</Length -4", b"<</Length (5)"])
    return bytes(raw.close())


def looping(chance: Random) -> bytes:
    """A section that names itself, or a wrong or later place, as the section before it."""
    raw = paper(chance, some(chance, 1)).close()
    raw.stream(contents_number(0), promise(some(chance, 1)[0], 680))
    return bytes(raw.close(previous=chance.choice([len(raw.data), 0, 7, len(raw.data) + 40, 10**9])))


def free_entries(chance: Random) -> bytes:
    """Entries that call an object in use free, or free entries that are odd in another way."""
    raw = filled(Raw(), [promise(which) for which in some(chance, 2)]).close()
    kind = chance.choice([b"0 1\n0000000000 65536 f \n", b"0 1\n0000000000 00000 n \n", b"20 1\n0000000000 00000 f \n"])
    raw.stream(contents_number(0), promise(some(chance, 1)[0], 680))
    content = bytes(raw.close())
    at = content.rindex(b"\nxref\n") + 6
    free = kind if chance.random() < 0.6 else b"%d 1\n0000000000 00001 f \n" % contents_number(1)
    return content[:at] + free + content[at:]


def small_size(chance: Random) -> bytes:
    return bytes(paper(chance, some(chance, 2)).close(size=chance.choice([0, 1, 2, 4, 5, 6])))


def wrong_offsets(chance: Random) -> bytes:
    """Entries that point beside their objects, or at others."""
    raw = filled(Raw(), [promise(which) for which in some(chance, 2)])
    wrong, by = chance.choice(sorted(raw.places)), chance.choice([-1, 1, 7, -40])
    raw.places[wrong] = Place(max(0, raw.places[wrong].at + by), 0)
    if chance.random() < 0.5:
        one, other = contents_number(0), contents_number(1)
        raw.places[one], raw.places[other] = raw.places[other], raw.places[one]
    return bytes(raw.close())


def nested_tree(chance: Random) -> bytes:
    """A node between root and page that lies about its parent, its count or its type."""
    raw = filled(Raw(), [promise(which) for which in some(chance, 2)], kids=tree(2, [30]))
    kind = chance.choice([b"/Type/Pages", b"/Type/Page", b"", b"/Type/Nodes"])
    count = chance.choice([b"/Count 2", b"/Count 1", b"", b"/Count 9"])
    raw.put(30, b"<<%b%b/Parent 2 0 R/Kids[%d 0 R %d 0 R]>>" % (kind, count, page_number(0), page_number(1)))
    return bytes(raw.close())


def other_roots(chance: Random) -> bytes:
    """A second catalog with a page tree of its own: the trailer names either, and a search ends at the second."""
    raw = filled(Raw(), [promise(some(chance, 1)[0])])
    raw.stream(40, promise(some(chance, 1)[0], 680))
    raw.put(41, _page(0).replace(b"/Parent 2 0 R", b"/Parent 42 0 R"))
    raw.put(42, b"<</Type/Pages/Count 1/Kids[41 0 R]>>").put(43, b"<</Type/Catalog/Pages 42 0 R>>")
    tail = chance.choice([_END, _NOWHERE, b""])
    content = bytes(raw.close(tail=tail))
    return content.replace(b"/Root 1 0 R", b"/Root 43 0 R") if chance.random() < 0.3 else content


CLASSES: dict[str, Callable[[Random], bytes]] = {
    **{f"tail: {kind}": partial(wrong_tail, kind=kind) for kind in _TAILS},
    "tail: startxref to the older revision": the_older,
    "tail: object after the end": object_after_the_end,
    "tail: two ends": two_ends,
    "tail: cross-reference cut off": cut_off,
    "tail: update without a cross-reference": no_cross_reference,
    "tail: rubbish after the end": rubbish_after,
    "copies: packed after plain": packed_later,
    "copies: plain after packed": plain_later,
    "copies: packed in two streams": packed_twice,
    "copies: twice in one stream": packed_twice_in_one,
    "copies: contents in two generations": generations,
    "copies: page in two generations": pages_in_generations,
    "copies: plain twice": plain_twice,
    "copies: two entries in one section": entries_twice,
    "structure: bytes before the header": before_the_header,
    "structure: hybrid": hybrid,
    "structure: page listed twice": listed_twice,
    "structure: wrong /Count": wrong_count,
    "structure: wrong /Length": wrong_length,
    "structure: /Prev in a circle": looping,
    "structure: free entries": free_entries,
    "structure: /Size too small": small_size,
    "structure: wrong offsets": wrong_offsets,
    "structure: odd page tree": nested_tree,
    "structure: two catalogs": other_roots,
}
