"""Updates whose end is broken: which revision does a reader take?"""

from collections.abc import Callable
from functools import partial
from random import Random

from tests.pdf.odd_files.papers import contents_number, page, page_number, paper, promise, some
from tests.pdf.odd_files.raw import Raw

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
    return bytes(_update(raw, chance).close(tail=b"startxref\n%d\n%%%%EOF\n" % raw.sections[-1]))


def object_after_the_end(chance: Random) -> bytes:
    """A later copy of the page's contents that no cross-reference knows."""
    raw = _base(chance)
    _contents(raw, chance, listed=False)
    return bytes(raw) + chance.choice([b"", b"%%EOF\n"])


def two_ends(chance: Random) -> bytes:
    """An end that is right, then one that names another section."""
    raw = _update(_base(chance), chance).close()
    last = chance.choice([*raw.sections[:-1], 0, 7])
    return bytes(raw) + b"startxref\n%d\n%%%%EOF\n" % last


def cut_off(chance: Random) -> bytes:
    """An update whose cross-reference is cut off in the middle."""
    raw = _base(chance)
    whole = bytes(_update(raw, chance).close(as_stream=False))
    begin = raw.sections[-1]
    return whole[: begin + chance.randrange(4, max(5, len(whole) - begin - 20))]


def no_cross_reference(chance: Random) -> bytes:
    """An update without its cross-reference."""
    raw = _base(chance)
    return bytes(_update(raw, chance)) + chance.choice([b"", b"%%EOF\n", b"startxref\n%d\n%%%%EOF\n" % len(raw.data)])


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


CLASSES: dict[str, Callable[[Random], bytes]] = {
    **{f"tail: {kind}": partial(wrong_tail, kind=kind) for kind in _TAILS},
    "tail: startxref to the older revision": the_older,
    "tail: object after the end": object_after_the_end,
    "tail: two ends": two_ends,
    "tail: cross-reference cut off": cut_off,
    "tail: update without a cross-reference": no_cross_reference,
    "tail: rubbish after the end": rubbish_after,
}
