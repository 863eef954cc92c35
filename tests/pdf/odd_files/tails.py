"""Updates whose end is broken: which revision does a reader take?"""

from random import Random

from tests.pdf.odd_files.papers import contents_number, page, page_number, paper, promise, some
from tests.pdf.odd_files.raw import Raw


def no_number(chance: Random) -> bytes:
    """The update before has a number, the last has none."""
    return _updated(chance, chance.choice([b"startxref\n%%EOF\n", b"startxref\n", b"startxref", b"startxref\n\n\n"]))


def a_word(chance: Random) -> bytes:
    return _updated(
        chance, b"startxref\n%b\n%%%%EOF\n" % chance.choice([b"none", b"-5", b"0x40", b"(7)", b"1e3", b"+"])
    )


def nowhere(chance: Random) -> bytes:
    return _updated(chance, b"startxref\n%b\n%%%%EOF\n" % chance.choice([b"0", b"7", b"99999999", b"340", b"9" * 20]))


def the_older(chance: Random) -> bytes:
    """The last startxref names the section of the revision before."""
    raw = _base(chance)
    return bytes(_update(raw, chance).close(tail=b"startxref\n%d\n%%%%EOF\n" % raw.sections[-1]))


def no_end(chance: Random) -> bytes:
    return _updated(chance, b"startxref\n%d\n" + chance.choice([b"", b"%%", b"%%EO", b"EOF"]).replace(b"%", b"%%"))


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
    """The cross-reference of the update ends in its middle."""
    raw = _base(chance)
    whole = bytes(_update(raw, chance).close(as_stream=False))
    begin = raw.sections[-1]
    return whole[: begin + chance.randrange(4, max(5, len(whole) - begin - 20))]


def no_cross_reference(chance: Random) -> bytes:
    """The update is there, its cross-reference is not."""
    raw = _base(chance)
    return bytes(_update(raw, chance)) + chance.choice([b"", b"%%EOF\n", b"startxref\n%d\n%%%%EOF\n" % len(raw.data)])


def rubbish_after(chance: Random) -> bytes:
    """As many bytes as push the end out of the last kilobyte, where some look for it."""
    filler = chance.choice([b"\0", b"\n", b"% nothing to see here\n", b" "])
    return bytes(_update(_base(chance), chance).close()) + filler * chance.choice([40, 300, 1100, 5000])


def _base(chance: Random) -> Raw:
    return paper(chance, some(chance, chance.choice([1, 1, 2]))).close()


def _updated(chance: Random, tail: bytes) -> bytes:
    return bytes(_update(_base(chance), chance).close(tail=tail))


def _update(raw: Raw, chance: Random) -> Raw:
    """New contents for page 1, by a new stream or a new page."""
    if chance.random() < 0.5:
        return _contents(raw, chance)
    which = some(chance, 1)[0]
    new = raw.highest + 1
    body = page(0).replace(b"/Contents %d 0 R" % contents_number(0), b"/Contents %d 0 R" % new)
    return raw.stream(new, promise(which, 680)).put(page_number(0), body)


def _contents(raw: Raw, chance: Random, *, listed: bool = True) -> Raw:
    return raw.stream(contents_number(0), promise(some(chance, 1)[0], 680), listed=listed)


CLASSES = {
    "tail: startxref without a number": no_number,
    "tail: startxref with a word": a_word,
    "tail: startxref to nowhere": nowhere,
    "tail: startxref to the older revision": the_older,
    "tail: no end of file": no_end,
    "tail: object after the end": object_after_the_end,
    "tail: two ends": two_ends,
    "tail: cross-reference cut off": cut_off,
    "tail: update without a cross-reference": no_cross_reference,
    "tail: rubbish after the end": rubbish_after,
}
