"""Cross-references, page trees and lengths that are not what they say."""

from random import Random

from tests.pdf.odd_files.papers import contents_number, filled, page_number, paper, promise, some, tree
from tests.pdf.odd_files.raw import Place, Raw


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
    hidden = chance.random() < 0.5
    table_places = dict(raw.places)
    raw.stream(40, promise(other, 680), listed=False)
    stream_at = len(raw.data)
    place = Place(raw.data.rindex(b"40 0 obj"), 0)
    number = contents_number(0) if hidden else 40
    rows = bytes([1]) + place.at.to_bytes(4, "big") + b"\0\0"
    raw.stream(50, rows, b"/Type/XRef/W[1 4 2]/Index[%d 1]/Size 51/Root 1 0 R" % number, listed=False)
    raw.places = table_places
    return bytes(raw.close(b"/XRefStm %d" % stream_at))


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
    page = b"<</Type/Page/Parent 42 0 R/MediaBox[0 0 595 842]/Contents 40 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
    raw.put(41, page).put(42, b"<</Type/Pages/Count 1/Kids[41 0 R]>>").put(43, b"<</Type/Catalog/Pages 42 0 R>>")
    tail = chance.choice([b"startxref\n%d\n%%%%EOF\n", b"startxref\n7\n%%%%EOF\n", b""])
    content = bytes(raw.close(tail=tail))
    return content.replace(b"/Root 1 0 R", b"/Root 43 0 R") if chance.random() < 0.3 else content


CLASSES = {
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
