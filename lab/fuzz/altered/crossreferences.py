"""Cross-references that one reader accepts, another repairs and a third reads differently."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import add_signature
from lab.fuzz.altered.known import NotHere
from lab.fuzz.altered.tail import Row, Tail, runs

Alter = Callable[[Tail, Random], None]
_KEYWORDS = {
    "a comment after xref": b"xref % a comment\n",
    "a comment on a line after xref": b"xref\n% a comment\n",
    "CRLF after xref": b"xref\r\n",
    "CR after xref": b"xref\r",
    "two line breaks after xref": b"xref\n\n",
    "spaces after xref": b"xref   \n",
    "no line break after xref": b"xref ",
    "NUL before xref": b"\0xref\n",
    "NULs after xref": b"xref\0\0\n",
    "a comment before xref": b"% a comment\nxref\n",
    "CRLF before xref": b"\r\nxref\n",
    "a space before xref": b" xref\n",
    "form feed before xref": b"\x0cxref\n",
    "XREF": b"XREF\n",
    "no xref at all": b"",
    "xref twice": b"xref\nxref\n",
    "another word before xref": b"null xref\n",
}
_ENTRIES = {
    "entries of 19 bytes": b"%010d %05d %c\n",
    "entries of 18 bytes": b"%010d %05d%c\n",
    "entries of 21 bytes": b"%010d %05d %c  \n",
    "entries end in CRLF": b"%010d %05d %c\r\n",
    "entries end in CR": b"%010d %05d %c\r ",
    "entries in short numbers": b"%d %d %c \n",
    "entries in spaces for zeros": b"%10d %5d %c \n",
    "entries in tabs": b"%010d\t%05d\t%c \n",
    "entries in longer numbers": b"%011d %05d %c\n",
    "entries with a comment": b"%010d %05d %c%%\n",
    "entries with a sign": b"+%09d %05d %c \n",
    "entries with a point": b"%09d. %05d %c \n",
    "entries with NULs": b"%010d\0%05d\0%c \n",
}
_ENDS = {
    "startxref one too high": (1, b"startxref\n%d\n%%%%EOF\n"),
    "startxref one too low": (-1, b"startxref\n%d\n%%%%EOF\n"),
    "startxref two too high": (2, b"startxref\n%d\n%%%%EOF\n"),
    "startxref far too high": (10**6, b"startxref\n%d\n%%%%EOF\n"),
    "startxref in the genuine file": (-20000, b"startxref\n%d\n%%%%EOF\n"),
    "startxref with a sign": (0, b"startxref\n+%d\n%%%%EOF\n"),
    "startxref with zeros": (0, b"startxref\n000%d\n%%%%EOF\n"),
    "startxref with a point": (0, b"startxref\n%d.\n%%%%EOF\n"),
    "startxref in a comment": (0, b"%%startxref\n%d\n%%%%EOF\n"),
    "startxref with a comment": (0, b"startxref %% here\n%d\n%%%%EOF\n"),
    "startxref on one line": (0, b"startxref %d %%%%EOF\n"),
    "startxref in CR": (0, b"startxref\r%d\r%%%%EOF\r"),
    "startxref after NULs": (0, b"\0\0startxref\n%d\n%%%%EOF\n"),
    "no %%EOF": (0, b"startxref\n%d\n"),
    "%%EOF cut short": (0, b"startxref\n%d\n%%%%EO\n"),
    "%%EOF twice": (0, b"startxref\n%d\n%%%%EOF\n%%%%EOF\n"),
    "no startxref": (0, b"%%%%EOF\n%%%d\n"),
    "more after startxref's number": (0, b"startxref\n%d 0\n%%%%EOF\n"),
    "bytes between startxref and %%EOF": (0, b"startxref\n%d\nrubbish\n%%%%EOF\n"),
}
_WIDTHS = [(8, 8, 8), (5, 4, 2), (2, 4, 2), (1, 6, 2), (1, 7, 2), (1, 4, 3), (1, 4, 8), (4, 5, 2), (1, 8, 1), (1, 2, 0)]
_SIZES = {"one too low": -1, "one too high": 1, "far too high": 10**6, "zero": -(10**9), "of the genuine file": None}


def _keyword(tail: Tail, _chance: Random, keyword: bytes) -> None:
    tail.stream, tail.keyword = False, keyword


def _entry(tail: Tail, _chance: Random, entry: bytes) -> None:
    tail.stream, tail.entry = False, entry


def _end(tail: Tail, _chance: Random, off: int, end: bytes) -> None:
    tail.end = lambda start: end % max(0, start + off)


def _size(tail: Tail, _chance: Random, off: int | None) -> None:
    size = tail.known.size

    tail.trailers.append(lambda pairs: pairs.set(b"/Size", b"%d" % (size if off is None else max(0, tail.size + off))))


def _shift(tail: Tail, chance: Random, off: int) -> None:
    for number in list(tail.objects) or [tail.known.root]:
        tail.shifted[number] = off
    tail.lead = b"\n" * chance.randint(1, 3)


def _unlisted(tail: Tail, chance: Random) -> None:
    """Leave the altered object out of every cross-reference; only readers that repair files find it."""
    tail.unlisted = set(tail.objects) & {tail.known.amount} or set(list(tail.objects)[:1])


def _all_unlisted(tail: Tail, _chance: Random) -> None:
    tail.unlisted = set(tail.objects)


def _generation(tail: Tail, _chance: Random, listed: int, written: int) -> None:
    for number in [tail.known.amount, *tail.objects][:1]:
        tail.generations[number] = listed
        tail.heads[number] = b"%d %d obj\n" % (number, written)


def _free(tail: Tail, _chance: Random, extra: list[Row]) -> None:
    tail.stream = False
    tail.extra_rows += extra


def _free_page(tail: Tail, _chance: Random) -> None:
    tail.extra_rows.append(Row(tail.known.pages[-1], 0, 1, 0))


def _free_seal(tail: Tail, _chance: Random) -> None:
    tail.extra_rows.append(Row(tail.known.seals[0], 0, 1, 0))


def _twice(tail: Tail, _chance: Random, *, first: bool) -> None:
    """List the last object twice: where it really is, and at the start of the file."""
    tail.stream = False

    def rows(known: list[Row]) -> list[Row]:
        doubled = [Row(known[-1].number, 15)] if known else []
        return [*doubled, *known] if first else [*known, *doubled]

    tail.rows = rows


def _order(tail: Tail, _chance: Random) -> None:
    tail.stream, tail.rows = False, lambda rows: rows[::-1]


def _overlap(tail: Tail, _chance: Random) -> None:
    tail.stream = False

    def table(rows: list[Row]) -> bytes:
        text = b"".join(b"%d %d\n" % (run[0].number, len(run)) + b"".join(map(tail.line, run)) for run in runs(rows))
        return text + b"".join(b"%d 1\n" % row.number + tail.line(row) for row in rows[-1:])

    tail.table = table


def _count(tail: Tail, _chance: Random, off: int, number: int) -> None:
    """State a wrong number of entries or a wrong first object number in the head of each subsection."""
    tail.stream = False

    def table(rows: list[Row]) -> bytes:
        heads = [(run, b"%d %d\n" % (run[0].number + number, max(0, len(run) + off))) for run in runs(rows)]
        return b"".join(head + b"".join(map(tail.line, run)) for run, head in heads)

    tail.table = table


def _head(tail: Tail, _chance: Random, form: bytes) -> None:
    tail.stream = False

    def table(rows: list[Row]) -> bytes:
        return b"".join(form % (run[0].number, len(run)) + b"".join(map(tail.line, run)) for run in runs(rows))

    tail.table = table


def _empty_sections(tail: Tail, _chance: Random) -> None:
    tail.stream, tail.keyword = False, b"xref\n0 0\n7 0\n0 0\n"


def _widths(tail: Tail, _chance: Random, widths: tuple[int, int, int]) -> None:
    tail.stream, tail.widths = True, widths


def _skipped(tail: Tail, _chance: Random, count: int) -> None:
    """Skip ``count`` object numbers before the new objects; some readers have no room for large numbers."""
    tail.size += count
    add_signature(tail)


def _w_text(tail: Tail, _chance: Random, old: bytes, new: bytes) -> None:
    tail.stream = True
    tail.trailer_texts.append(lambda text: text.replace(old, new))


def _index(tail: Tail, _chance: Random, index: bytes) -> None:
    tail.stream, tail.index = True, index


def _style(tail: Tail, _chance: Random) -> None:
    """Write a table where the file has a stream, or a stream where it has a table."""
    tail.stream = not tail.known.packed


def _hybrid(tail: Tail, _chance: Random) -> None:
    """Put objects into /XRefStm: readers of streams find them, readers of tables do not."""
    tail.stream, tail.hybrid = False, True
    plain = [number for number, body in tail.objects.items() if isinstance(body, bytes) and b"/ByteRange" not in body]
    tail.containers = [(plain, b"")] if plain else []


def _hybrid_elsewhere(tail: Tail, _chance: Random, place: bytes) -> None:
    tail.stream = False
    tail.trailers.append(lambda pairs: pairs.append((b"/XRefStm", place)))


def _lead(tail: Tail, _chance: Random, lead: bytes) -> None:
    tail.lead = lead


def _gap(tail: Tail, _chance: Random, gap: bytes) -> None:
    tail.gap = gap


def _before(tail: Tail, _chance: Random, between: bytes) -> None:
    tail.before_table = between


def _hidden_object(tail: Tail, _chance: Random) -> None:
    """Put a forged object before the table without listing it: only readers that repair files take it."""
    tail.before_table = b"%d 0 obj\n<</Length %d>>\nstream\n%b\nendstream\nendobj\n" % (
        tail.known.amount,
        len(tail.known.forged.data),
        tail.known.forged.data,
    )


def _two_tables(tail: Tail, _chance: Random) -> None:
    """Put a second table, to which nothing points, between the objects and the real table."""
    tail.before_table = b"xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1>>\nstartxref\n0\n%%EOF\n"


_HEADS = {
    "object numbers with zeros": (b"00%d 0 obj\n", b"\nendobj\n"),
    "objects with a sign": (b"+%d 0 obj\n", b"\nendobj\n"),
    "objects on one line": (b"%d 0 obj ", b" endobj "),
    "objects glued": (b"%d 0 obj", b"endobj"),
    "objects without an end": (b"%d 0 obj\n", b"\n"),
    "objects ended twice": (b"%d 0 obj\n", b"\nendobj\nendobj\n"),
    "a comment in an object's head": (b"%d %% a comment\n0 obj\n", b"\nendobj\n"),
    "a comment before endobj": (b"%d 0 obj\n", b"\n% a comment\nendobj\n"),
    "two values in an object": (b"%d 0 obj\n", b"\n<</Type/Page>>\nendobj\n"),
    "NULs in an object's head": (b"%d\x000\0obj\0", b"\0endobj\n"),
    "another number in an object's head": (b"9%d 0 obj\n", b"\nendobj\n"),
}


def _heads(tail: Tail, _chance: Random, head: bytes, foot: bytes) -> None:
    for number in tail.objects:
        tail.heads[number], tail.feet[number] = head % number, foot


_SINGLE: dict[str, Alter] = {
    "an object that none lists": _unlisted,
    "objects that none lists": _all_unlisted,
    "offsets one too high": partial(_shift, off=1),
    "offsets one too low": partial(_shift, off=-1),
    "offsets of nothing": partial(_shift, off=10**7),
    "another generation in the table": partial(_generation, listed=1, written=0),
    "another generation in the object": partial(_generation, listed=0, written=1),
    "another generation in both": partial(_generation, listed=1, written=1),
    "generation 65535": partial(_generation, listed=65535, written=65535),
    "object 0 free": partial(_free, extra=[Row(0, 0, 65535, 0)]),
    "object 0 in use": partial(_free, extra=[Row(0, 15, 0, 1)]),
    "object 0 free with generation 0": partial(_free, extra=[Row(0, 0, 0, 0)]),
    "a free object nobody knows": partial(_free, extra=[Row(9000, 0, 0, 0)]),
    "a page is freed": _free_page,
    "the seal's field is freed": _free_seal,
    "an object listed twice, the true one last": partial(_twice, first=True),
    "an object listed twice, the true one first": partial(_twice, first=False),
    "entries out of order": _order,
    "subsections overlap": _overlap,
    "a subsection counts one too many": partial(_count, off=1, number=0),
    "a subsection counts one too few": partial(_count, off=-1, number=0),
    "a subsection begins one too high": partial(_count, off=0, number=1),
    "a subsection begins one too low": partial(_count, off=0, number=-1),
    "subsections with a sign": partial(_head, form=b"+%d %d\n"),
    "subsections in CRLF": partial(_head, form=b"%d %d\r\n"),
    "subsections with zeros": partial(_head, form=b"00%d 00%d\n"),
    "subsections with a comment": partial(_head, form=b"%d %d %% entries\n"),
    "subsections with spaces": partial(_head, form=b"  %d   %d  \n"),
    "empty subsections": _empty_sections,
    "widths of nothing": partial(_widths, widths=(0, 5, 2)),
    "widths without generations": partial(_widths, widths=(1, 4, 0)),
    "widths as reals": partial(_w_text, old=b"/W [1 5 2]", new=b"/W [1.0 5.0 2.0]"),
    "widths of four": partial(_w_text, old=b"/W [1 5 2]", new=b"/W [1 5 2 0]"),
    "widths with signs": partial(_w_text, old=b"/W [1 5 2]", new=b"/W [+1 +5 +2]"),
    "widths twice": partial(_w_text, old=b"/W [1 5 2]", new=b"/W [1 5 2]/W [2 4 2]"),
    "widths twice, the true ones last": partial(_w_text, old=b"/W [1 5 2]", new=b"/W [2 4 2]/W [1 5 2]"),
    "widths escaped": partial(_w_text, old=b"/W [1 5 2]", new=b"/#57 [1 5 2]"),
    "a stream of no type": partial(_w_text, old=b"/Type /XRef", new=b""),
    "a stream of another type": partial(_w_text, old=b"/Type /XRef", new=b"/Type /ObjStm"),
    "a stream's type escaped": partial(_w_text, old=b"/Type /XRef", new=b"/Type /XR#65f"),
    "an index too short": partial(_index, index=b"[0 1]"),
    "an index of nothing": partial(_index, index=b"[]"),
    "an index too long": partial(_index, index=b"[0 9999]"),
    "an odd index": partial(_index, index=b"[0 1 2]"),
    "the other kind of cross-reference": _style,
    "a hybrid file": _hybrid,
    "/XRefStm that is nowhere": partial(_hybrid_elsewhere, place=b"99999999"),
    "/XRefStm at the header": partial(_hybrid_elsewhere, place=b"0"),
    "/XRefStm by reference": partial(_hybrid_elsewhere, place=b"1 0 R"),
    "a comment before the objects": partial(_lead, lead=b"% a comment\n"),
    "rubbish before the objects": partial(_lead, lead=b"rubbish\n"),
    "a header before the objects": partial(_lead, lead=b"%PDF-1.7\n"),
    "NULs before the objects": partial(_lead, lead=b"\0" * 20),
    "comments between objects": partial(_gap, gap=b"% a comment\n"),
    "rubbish between objects": partial(_gap, gap=b"9 0 R\n"),
    "NULs between objects": partial(_gap, gap=b"\0\0\0"),
    "rubbish before the table": partial(_before, between=b"rubbish\n"),
    "a comment before the table": partial(_before, between=b"% a comment\n"),
    "a forged object before the table": _hidden_object,
    "a table before the table": _two_tables,
}


def _in_the_place(tail: Tail, _chance: Random, of: str) -> None:
    """Give the cross-reference stream the number of another object, which it thereby replaces."""
    if not tail.known.packed:
        raise NotHere("streams")
    known = tail.known
    numbers = {"the content": known.amount, "the last page": known.pages[-1], "the seal": known.seals[0]}
    tail.stream_number = {**numbers, "nothing": 1 << 30}[of]
    add_signature(tail)


FREEDOMS: dict[str, Alter] = {
    **{f"widths of {widths}": partial(_widths, widths=widths) for widths in _WIDTHS},
    **{f"{count} numbers skipped": partial(_skipped, count=count) for count in (2, 900, 8_000_000)},
    **{name: partial(_keyword, keyword=keyword) for name, keyword in _KEYWORDS.items()},
    **{name: partial(_entry, entry=entry) for name, entry in _ENTRIES.items()},
    **{name: partial(_end, off=off, end=end) for name, (off, end) in _ENDS.items()},
    **{f"/Size {name}": partial(_size, off=off) for name, off in _SIZES.items()},
    **{name: partial(_heads, head=head, foot=foot) for name, (head, foot) in _HEADS.items()},
    **{
        f"a stream in the place of {of}": partial(_in_the_place, of=of)
        for of in ("the content", "the last page", "the seal", "nothing")
    },
    **_SINGLE,
}
