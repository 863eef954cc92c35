"""Random changes to a PDF that follow its syntax."""

import re
from collections.abc import Callable
from random import Random

_OBJECT = re.compile(rb"\d+ \d+ obj.*?endobj\n?", re.DOTALL)
_WORDS = (
    b"/Kids /Count /Parent /Length /MediaBox /Contents /Resources /Prev /Size /Root /ID /Encrypt /Type /Filter /Index "
    b"/First /N obj endobj stream endstream xref trailer startxref %%EOF R f n"
).split()
_VALUES = [b"", b"-1", b"0", b"1", b"99999999999", b"3 0 R", b"5 1 R", b"null", b"[", b">>", b"<<", b"()", b"(", b"%"]


def mutated(chance: Random, pdf: bytes, other: bytes) -> bytes:
    """Make one to four changes; ``other`` is a file from which pieces may be taken."""
    for _ in range(chance.randint(1, 4)):
        pdf = chance.choice(_CHANGES)(chance, pdf, other)
    return pdf


def _byte(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    at = chance.randrange(len(pdf))
    return pdf[:at] + bytes([chance.randrange(256)]) + pdf[at + 1 :]


def _cut(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    at = chance.randrange(len(pdf))
    return pdf[:at] + pdf[at + chance.choice([1, 2, 20, 200]) :] or pdf


def _end(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    """Cut off the last bytes, or append some."""
    if chance.random() < 0.5:
        return pdf[: -chance.choice([1, 6, 12, 30, 200])] or pdf
    return pdf + chance.choice([b"startxref\n", b"%%EOF\n", b"startxref\n0\n%%EOF", b"\0" * 60, b"trailer\n<<>>\n"])


def _beginning(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    return chance.choice([b"\n", b"junk\r\n", b"\0", b"%PDF-1.3\n"]) + pdf


def _number(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    found = list(re.finditer(rb"\d+", pdf))
    if not found:
        return pdf
    at = chance.choice(found)
    value = max(0, int(at.group()[:12]) + chance.choice([-1, 1, 7, -40, 1000]))
    return pdf[: at.start()] + b"%0*d" % (len(at.group()), value) + pdf[at.end() :]


def _word(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    """Replace a word of PDF syntax by another word or value."""
    word = chance.choice(_WORDS)
    places = [found.start() for found in re.finditer(re.escape(word), pdf)]
    if not places:
        return pdf
    at = chance.choice(places)
    return pdf[:at] + chance.choice(_VALUES + _WORDS) + pdf[at + len(word) :]


def _object(chance: Random, pdf: bytes, other: bytes) -> bytes:
    """Insert an object of this file or of ``other`` after any object, or at the end."""
    taken = _OBJECT.findall(chance.choice([pdf, other]))
    places = [found.end() for found in _OBJECT.finditer(pdf)]
    at = chance.choice([*places, len(pdf)])
    return pdf[:at] + (chance.choice(taken) if taken else b"") + pdf[at:]


def _generation(chance: Random, pdf: bytes, _other: bytes) -> bytes:
    """Change the generation of an object, a reference or a cross-reference entry."""
    found = list(re.finditer(rb"\d+ 0 (obj|R)|\d{10} 00000 n", pdf))
    if not found:
        return pdf
    at = chance.choice(found)
    changed = at.group().replace(b" 0 ", b" 1 ").replace(b" 00000 ", b" 00001 ")
    return pdf[: at.start()] + changed + pdf[at.end() :]


def _tail_of_another(chance: Random, pdf: bytes, other: bytes) -> bytes:
    """Append the last part of another file, with its cross-reference."""
    return pdf + other[other.rfind(b"xref", 0, max(1, other.rfind(b"startxref"))) - chance.choice([0, 200, 600]) :]


_CHANGES: list[Callable[[Random, bytes, bytes], bytes]] = [
    _byte, _cut, _end, _beginning, _number, _number, _word, _word, _object, _object, _generation, _tail_of_another,
]  # fmt: skip
