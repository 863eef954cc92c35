"""Trailers: what a revision says of the whole file."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.known import NotHere, Pairs, Stream
from lab.fuzz.altered.tail import Tail

Alter = Callable[[Tail, Random], None]


def forged_page(tail: Tail) -> bytes:
    """Add a page with the forged content and return a reference to it."""
    content = tail.add(tail.known.forged)
    page = tail.dictionaries[tail.known.pages[0]].copy()
    page.set(b"/Contents", b"%d 0 R" % content)
    page.drop(b"/Annots")
    return b"%d 0 R" % tail.add(page.text())


def forged_catalog(tail: Tail) -> bytes:
    """Add a catalog whose only page has the forged content and return a reference to it."""
    page = forged_page(tail)
    resources = b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/MediaBox[0 0 595 842]"
    tree = tail.add(b"<</Type/Pages/Count 1/Kids[%b]%b>>" % (page, resources))
    root = tail.dictionaries[tail.known.root].copy()
    root.set(b"/Pages", b"%d 0 R" % tree)
    return b"%d 0 R" % tail.add(root.text())


def _another_root(tail: Tail, _chance: Random, key: bytes, how: str) -> None:
    value = forged_catalog(tail)

    def state(pairs: Pairs) -> None:
        if how == "in place":
            pairs.rename(b"/Root", key)
            pairs.set(key, value)
        elif how == "before":
            pairs.insert(0, (key, value))
        else:
            pairs.append((key, value))

    tail.trailers.append(state)


def _pair(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.trailers.append(lambda pairs: pairs.set(key, value))


def _more(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.trailers.append(lambda pairs: pairs.append((key, value)))


def _before(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.trailers.append(lambda pairs: pairs.insert(0, (key, value)))


def _without(tail: Tail, _chance: Random, key: bytes) -> None:
    if key not in (b"/Prev", b"/Size") and not tail.known.trailer.get(key):
        raise NotHere(key)
    tail.trailers.append(lambda pairs: pairs.drop(key))


def _prev_again(tail: Tail, _chance: Random, key: bytes, *, first: bool) -> None:
    """State /Prev twice: the true one, and that of a hidden table that lists a forged object."""
    hidden = _hidden_section(tail)
    tail.trailers.append(lambda pairs: pairs.insert(0 if first else len(pairs), (key, b"%d" % hidden())))


def _hidden_section(tail: Tail) -> Callable[[], int]:
    """Put a table that lists a forged object before the revision, and return a function that tells its offset."""
    known, base = tail.known, len(tail.known.pdf)
    body = b"%d 0 obj\n<</Length %d>>\nstream\n%b\nendstream\nendobj\n"
    made = body % (known.amount, len(known.forged.data), known.forged.data)
    table = b"xref\n%d 1\n%010d 00000 n \n" % (known.amount, base)
    end = Pairs([(b"/Size", b"%d" % known.size), (b"/Prev", b"%d" % known.start), *known.trailer])
    tail.lead = made + table + b"trailer\n" + end.text() + b"\n" + tail.lead
    return lambda: base + len(made)


def _prev_to_hidden(tail: Tail, _chance: Random, form: bytes) -> None:
    hidden = _hidden_section(tail)
    tail.trailers.append(lambda pairs: pairs.set(b"/Prev", form % hidden()))


def _prev_loop(tail: Tail, _chance: Random) -> None:
    tail.end = lambda start: b"startxref\n%d\n%%%%EOF\n" % start
    tail.trailers.append(lambda pairs: pairs.set(b"/Prev", b"%d" % (len(tail.known.pdf) + 1)))
    tail.lead = b"\n"


def _prev_off(tail: Tail, _chance: Random, off: int) -> None:
    tail.trailers.append(lambda pairs: pairs.set(b"/Prev", b"%d" % (tail.known.start + off)))


def _prev_form(tail: Tail, _chance: Random, form: bytes) -> None:
    tail.trailers.append(lambda pairs: pairs.set(b"/Prev", form % tail.known.start))


def _prev_by_reference(tail: Tail, _chance: Random) -> None:
    number = tail.add(b"%d" % tail.known.start)
    tail.trailers.append(lambda pairs: pairs.set(b"/Prev", b"%d 0 R" % number))


def _information(tail: Tail, _chance: Random) -> None:
    number = tail.add(b"<</Title(Another title)/Author(Somebody)>>")
    tail.trailers.append(lambda pairs: pairs.set(b"/Info", b"%d 0 R" % number))


def _text(tail: Tail, _chance: Random, old: bytes, new: bytes) -> None:
    tail.stream = False
    tail.trailer_texts.append(lambda text: text.replace(old, new, 1))


def _second_trailer(tail: Tail, _chance: Random) -> None:
    root = forged_catalog(tail)
    tail.stream = False
    tail.trailer_texts.append(lambda text: text + b"trailer\n<</Size %d/Root %b>>\n" % (tail.size, root))


def _trailer_after_end(tail: Tail, _chance: Random) -> None:
    root = forged_catalog(tail)
    tail.end = lambda start: b"startxref\n%d\n%%%%EOF\ntrailer\n<</Size %d/Root %b>>\n" % (start, tail.size, root)


def _no_trailer(tail: Tail, _chance: Random) -> None:
    tail.stream = False
    tail.trailer_texts.append(lambda _text: b"")


def _stream_trailer(tail: Tail, _chance: Random) -> None:
    """Make the trailer a stream."""
    tail.stream = False
    tail.trailer_texts.append(lambda text: text + b"stream\nabc\nendstream\n")


def _encrypt(tail: Tail, _chance: Random, value: bytes) -> None:
    tail.trailers.append(lambda pairs: pairs.set(b"/Encrypt", value))


def _objects_before(tail: Tail, _chance: Random) -> None:
    tail.put(tail.known.amount, Stream(b"", tail.known.forged.data))
    _prev_form(tail, _chance, b"%d")


_STANDARD = b"<</Filter/Standard/V 1/R 2/O(%b)/U(%b)/P -4>>" % (b"x" * 32, b"y" * 32)
FREEDOMS: dict[str, Alter] = {
    "another /Root": partial(_another_root, key=b"/Root", how="in place"),
    "/Root twice, the forged one last": partial(_another_root, key=b"/Root", how="after"),
    "/Root twice, the forged one first": partial(_another_root, key=b"/Root", how="before"),
    "/R#6fot after /Root": partial(_another_root, key=b"/R#6fot", how="after"),
    "/R#6fot before /Root": partial(_another_root, key=b"/R#6fot", how="before"),
    "/#52oot for /Root": partial(_another_root, key=b"/#52oot", how="in place"),
    "no /Root": partial(_without, key=b"/Root"),
    "/Root of another generation": partial(_text, old=b" 0 R", new=b" 1 R"),
    "/Root as a direct dictionary": partial(_pair, key=b"/Root", value=b"<</Type/Catalog>>"),
    "/Prev twice, the hidden one last": partial(_prev_again, key=b"/Prev", first=False),
    "/Prev twice, the hidden one first": partial(_prev_again, key=b"/Prev", first=True),
    "/P#72ev after /Prev": partial(_prev_again, key=b"/P#72ev", first=False),
    "/P#72ev before /Prev": partial(_prev_again, key=b"/P#72ev", first=True),
    "/Prev to a hidden table": partial(_prev_to_hidden, form=b"%d"),
    "/Prev to a hidden table, with a point": partial(_prev_to_hidden, form=b"%d."),
    "/Prev in a circle": _prev_loop,
    "/Prev one too high": partial(_prev_off, off=1),
    "/Prev one too low": partial(_prev_off, off=-1),
    "/Prev at the header": partial(_pair, key=b"/Prev", value=b"0"),
    "/Prev below nothing": partial(_pair, key=b"/Prev", value=b"-1"),
    "/Prev beyond the file": partial(_pair, key=b"/Prev", value=b"99999999"),
    "/Prev as a real": partial(_prev_form, form=b"%d.0"),
    "/Prev with a sign": partial(_prev_form, form=b"+%d"),
    "/Prev with zeros": partial(_prev_form, form=b"00%d"),
    "/Prev as a string": partial(_prev_form, form=b"(%d)"),
    "/Prev by reference": _prev_by_reference,
    "no /Prev": partial(_without, key=b"/Prev"),
    "/Prev null": partial(_pair, key=b"/Prev", value=b"null"),
    "/Size twice": partial(_more, key=b"/Size", value=b"3"),
    "/Size twice, the false one first": partial(_before, key=b"/Size", value=b"3"),
    "/S#69ze": partial(_more, key=b"/S#69ze", value=b"3"),
    "no /Size": partial(_without, key=b"/Size"),
    "/Size as a real": partial(_pair, key=b"/Size", value=b"900.0"),
    "/Size by reference": partial(_pair, key=b"/Size", value=b"1 0 R"),
    "/Size below nothing": partial(_pair, key=b"/Size", value=b"-1"),
    "/Size that is huge": partial(_pair, key=b"/Size", value=b"99999999999999999999"),
    "/Info is another": _information,
    "no /Info": partial(_without, key=b"/Info"),
    "/Info is direct": partial(_pair, key=b"/Info", value=b"<</Title(Another)>>"),
    "/Inf#6f": partial(_more, key=b"/Inf#6f", value=b"<</Title(Another)>>"),
    "/ID is another": partial(_pair, key=b"/ID", value=b"[<00><11>]"),
    "/ID of one": partial(_pair, key=b"/ID", value=b"[<00112233445566778899aabbccddeeff>]"),
    "/ID of numbers": partial(_pair, key=b"/ID", value=b"[1 2]"),
    "no /ID": partial(_without, key=b"/ID"),
    "/ID by reference": partial(_pair, key=b"/ID", value=b"9 0 R"),
    "/Encrypt added": partial(_encrypt, value=_STANDARD),
    "/Encrypt of nothing": partial(_encrypt, value=b"<<>>"),
    "/Encrypt null": partial(_encrypt, value=b"null"),
    "/Encrypt missing": partial(_encrypt, value=b"9999 0 R"),
    "no /Encrypt": partial(_without, key=b"/Encrypt"),
    "/Encr#79pt": partial(_more, key=b"/Encr#79pt", value=_STANDARD),
    "an unknown key": partial(_more, key=b"/DocChecksum", value=b"/ABCDEF"),
    "/AuthCode": partial(_more, key=b"/AuthCode", value=b"<</MACLocation/Standalone>>"),
    "a key without a value": partial(_text, old=b">>", new=b"/Odd>>"),
    "rubbish in the trailer": partial(_text, old=b">>", new=b" 5 >>"),
    "an unclosed trailer": partial(_text, old=b">>", new=b"> >"),
    "a comment in the trailer": partial(_text, old=b"/Size", new=b"% a comment\n/Size"),
    "a comment that hides /Prev": partial(_text, old=b"/Prev", new=b"%/Prev"),
    "a second trailer": _second_trailer,
    "a trailer after the end": _trailer_after_end,
    "no trailer": _no_trailer,
    "a trailer that is a stream": _stream_trailer,
    "the keyword trailer on one line": partial(_text, old=b"trailer\n", new=b"trailer "),
    "the keyword trailer misspelt": partial(_text, old=b"trailer\n", new=b"trailers\n"),
    "NULs after trailer": partial(_text, old=b"trailer\n", new=b"trailer\0\0"),
}
