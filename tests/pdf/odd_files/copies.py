"""Several copies of one object: which of them does a reader take, above all where it has to search?"""

from random import Random

from tests.pdf.odd_files.papers import contents_number, page, page_number, paper, promise, some
from tests.pdf.odd_files.raw import Raw


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
    objects = {page_number(0): _page(0), 90: _page(1)}
    raw.encrypt = None
    container = raw.highest + 5
    before = len(raw.data)
    raw.pack(container, objects)
    del raw.places[90]
    # The header of the stream is packed: it is written anew, with the second number changed.
    del raw.data[before:]
    heads = b"%d 0 %d %d " % (page_number(0), page_number(0), len(_page(0)) + 1)
    entries = b"/Type/ObjStm/N 2/First %d" % len(heads)
    raw.stream(container, heads + _page(0) + b"\n" + _page(1) + b"\n", entries)
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
    return bytes(raw) + table + trailer + b"startxref\n%d\n%%%%EOF\n" % start


def _two_contents(chance: Random) -> Raw:
    """A document whose page 1 may have either of two contents: objects 40 and 41."""
    one, other = some(chance, 2)
    return paper(chance, [one]).stream(40, promise(one, 520)).stream(41, promise(other, 680))


def _page(which: int) -> bytes:
    return page(0, contents=b"%d 0 R" % (40 + which))


def _broken(chance: Random) -> bytes:
    """Return the end of a file: half of the ends are wrong, so that readers must search for the objects."""
    right = b"startxref\n%d\n%%%%EOF\n"
    return chance.choice([right, right, right, b"startxref\n7\n%%%%EOF\n", b"startxref\n\n%%%%EOF\n", b""])


CLASSES = {
    "copies: packed after plain": packed_later,
    "copies: plain after packed": plain_later,
    "copies: packed in two streams": packed_twice,
    "copies: twice in one stream": packed_twice_in_one,
    "copies: contents in two generations": generations,
    "copies: page in two generations": pages_in_generations,
    "copies: plain twice": plain_twice,
    "copies: two entries in one section": entries_twice,
}
