"""A file before and after one incremental update, object by object, and the text of appended objects, read strictly
(ISO 32000-2, 7.2 and 7.3).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import (
    REST_OF_REFERENCE,
    Dictionary,
    PdfStream,
    Ref,
    Unsafe,
    followed,
    parse,
    string_end,
    unescaped,
)
from paraph.pdf.structure.reader import PdfReader

SPACE = rb"[\t\n\r ]*+"
NATURAL = rb"(?:0|[1-9]\d{0,9}+)"
"""A whole number without sign and leading zeros, as in references, lengths and offsets."""
_ESCAPED = rb"#(?!00|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa])[0-9A-Fa-f]{2}"  # letters and digits need no escape
_NEXT = rb"(?=[\t\n\r ()<>\[\]/])"
_NAME = rb"/(?:[^\x00-\x20#()<>\[\]{}/%]|" + _ESCAPED + rb")*+"
_REFERENCE = NATURAL + rb" " + NATURAL + rb" R"
_NUMBER = NATURAL + rb"|-[1-9]\d{0,9}+|-?(?:" + NATURAL + rb"\.\d{0,40}+|\.\d{1,40}+)"
_ATOM = rb"(?:" + rb"|".join([_NAME, _REFERENCE, _NUMBER, rb"true|false|null"]) + rb")" + _NEXT
_TOKEN = re.compile(SPACE + rb"(?:(<<|\[)|(>>|\])|(\()|<[0-9A-Fa-f\t\n\r ]*+>|" + _ATOM + rb")")
_OPENED, _CLOSED, _STRING = 1, 2, 3
_ENDS = {b"<<": b">>", b"[": b"]"}
_DEEPEST = 100
_OF_ANY_NUMBER = {b"/UserUnit", b"/PZ", b"/Dur", b"/CA", b"/ca", b"/LW", b"/ML", b"/FL"}
_ENCLOSED = re.compile(rb"[^%\r\n]*/AdditionalStreams \[/[!-$&-'*-.0-;=?-Z^-z|~]+ ")
"""What LibreOffice says in a trailer about the document that it encloses, up to the reference (PDFBox renumbers it)."""
_HEAD = re.compile(SPACE + rb"\d+ \d+ obj")
_LONGEST_GAP = 64
_USES = re.compile(
    rb"/(?:AcroForm|Annots|CRLs?|Certs?|DSS|Extensions|Fields|Info|Lang|Metadata|ModDate|OCSPs?|Producer|Root|TU|VRI"
    rb"|Version|[0-9A-F]{40})"
)
"""Keys whose value may be an object that an update may change."""


class NotPermitted(Exception):
    """What was appended is not known to be harmless. The message completes "From byte N on, …"."""


def strict_object(data: bytes, position: int) -> tuple[Any, int]:
    """Return the direct object at ``position``, as :func:`paraph.pdf.structure.objects.parse` represents it, and where
    it ends. Raise :class:`NotPermitted` unless every byte of it is plain."""
    end = _plain_end(data, position)
    try:
        value, parsed = parse(data[position:end], 0)
    except Unsafe as error:
        raise NotPermitted(f"an object cannot be read: {error}") from error
    if position + parsed != end:
        raise NotPermitted("an object is not written plainly")
    meaning(value)  # raises for equal keys that are spelled differently, of which the parser finds only some
    return value, end


def _plain_end(data: bytes, position: int) -> int:
    open_brackets: list[bytes] = []
    while match := _TOKEN.match(data, position):
        position = match.end()
        if match[_OPENED]:
            open_brackets.append(_ENDS[match[_OPENED]])
        elif match[_CLOSED]:
            if not open_brackets or open_brackets.pop() != match[_CLOSED]:
                break
        elif match[_STRING]:
            position = _end_of_string(data, position)
        if not open_brackets:
            return position
        if len(open_brackets) > _DEEPEST:
            break
    raise NotPermitted("an object is not written plainly")


def _end_of_string(data: bytes, position: int) -> int:
    try:
        return string_end(data, position)
    except Unsafe as error:
        raise NotPermitted(f"{error}") from error


def meaning(value: Any) -> Any:
    """Return what a value means, so that equal values compare equal however they are written: whole numbers as
    :class:`~decimal.Decimal`; other numbers, names and strings with their kind. A whole number with a point counts as
    another number, since readers want some numbers whole; a null entry counts as an entry, since readers take it for
    the end of what is inherited. References stay. Raise :class:`NotPermitted` for a dictionary with a key twice."""
    if isinstance(value, dict):
        entries = {unescaped(key): meaning(item) for key, item in value.items()}
        if len(entries) != len(value):
            raise NotPermitted("a dictionary has a key twice")
        return entries
    if isinstance(value, PdfStream):
        return ("stream", meaning(value.dictionary), value.data)
    if isinstance(value, list):
        return ["array", *(meaning(item) for item in value)]
    if isinstance(value, bytes):
        return _meaning_of_token(value)
    return Decimal(value) if isinstance(value, int) else value


def without_points(value: Any) -> Any:
    """Return a meaning as programs that drop the points of whole numbers write it, where every reader takes both: in
    arrays of nothing but numbers (boxes, widths, matrices), and for what need not be whole."""
    if isinstance(value, dict):
        return {key: _bare(item) if key in _OF_ANY_NUMBER else without_points(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_bare(item) for item in value[1:]]
    is_of_numbers = all(isinstance(item, Decimal) or _is_real(item) for item in items)
    return ["array", *(items if is_of_numbers else map(without_points, value[1:]))]


def _bare(value: Any) -> Any:
    return value[1] if _is_real(value) and value[1] == value[1].to_integral() else value


def _is_real(value: Any) -> bool:
    return isinstance(value, tuple) and value[0] == "real"


def _meaning_of_token(token: bytes) -> Any:
    if token[:1] == b"/":
        return ("name", unescaped(token))
    if is_string(token):
        return ("string", string_bytes(token))
    return ("truth", token) if token in (b"true", b"false") else ("real", Decimal(token.decode("ascii")))


def is_string(value: Any) -> bool:
    """Return whether a value is the token of a string."""
    return isinstance(value, bytes) and value[:1] in (b"(", b"<")


def is_plain(value: Any) -> bool:
    """Return whether a value is direct through and through: it holds no reference."""
    if isinstance(value, dict):
        return all(is_plain(item) for item in value.values())
    if isinstance(value, list):
        return all(is_plain(item) for item in value)
    return not isinstance(value, Ref | PdfStream)


@dataclass(frozen=True)
class AppendedRevision:
    """One update, up to byte ``end``. ``objects``: decrypted, without its cross-reference stream, which is
    ``listing``."""

    end: int
    objects: dict[Ref, Any]
    trailer: Dictionary
    listing: Ref | None = None


class Update:
    """One update over the file that ``before`` reads. It notes which of its objects are accounted for; whatever is left
    at the end has no business there."""

    def __init__(self, before: PdfReader, revision: AppendedRevision, *, lenient: bool = False) -> None:
        self.before = before
        self.lenient = lenient
        """Whether a document timestamp may show something, and long-term data be left out."""
        self.revision = revision
        self.pages = set[Ref]()
        """The pages that the update changes; a file refers to pages from everywhere."""
        self._accounted = set[Ref]()
        self._first_new = before.crossreference.next_number

    def is_new(self, value: Any) -> bool:
        """Return whether ``value`` refers to an object of this update whose number the file did not use before."""
        return type(value) is Ref and value in self.revision.objects and value.number >= self._first_new

    def changed(self, value: Any) -> bool:
        """Return whether ``value`` refers to an object that this update writes anew."""
        return type(value) is Ref and value in self.revision.objects and not self.is_new(value)

    def account(self, ref: Ref) -> Any:
        """Return an object of the update, which is accounted for from now on."""
        self._accounted.add(ref)
        value = self.revision.objects[ref]
        if isinstance(value, PdfStream) and type(length := value.dictionary[b"/Length"]) is Ref and self.is_new(length):
            self._accounted.add(length)
        return value

    def was(self, value: Any) -> Any:
        """Resolve a value as the file was before."""
        return self.before.resolve(value)

    def now(self, value: Any) -> Any:
        """Resolve a value as it is with the update, and account for its objects that were needed. Raise
        :class:`~paraph.pdf.structure.objects.Unsafe` for references that go round in a circle."""
        return followed(value, lambda ref: (self.account if ref in self.revision.objects else self.before.object)(ref))

    def dictionary(self, value: Any, what: str) -> Dictionary:
        """Resolve a new dictionary. Raise :class:`NotPermitted` for anything else."""
        result = self.now(value)
        if not isinstance(result, dict):
            raise NotPermitted(f"{what} is no dictionary")
        return result

    def stream(self, value: Any, what: str) -> PdfStream:
        """Resolve a new stream. Raise :class:`NotPermitted` unless it is one of this update's own."""
        result = self.account(value) if self.is_new(value) else None
        if not isinstance(result, PdfStream):
            raise NotPermitted(f"{what} is no new stream")
        return result

    def is_accounted(self, ref: Ref) -> bool:
        """Return whether something needed this object of the update already."""
        return ref in self._accounted

    def is_unchanged(self, ref: Ref) -> bool:
        """Return whether an object of the update is what it was before, where both are written plainly. A stream
        never counts as unchanged: its dictionary alone could be left of it."""
        entry, new = self.before.crossreference.entry(ref.number), self.revision.objects[ref]
        head = _HEAD.match(self.before.data, entry.place) if entry and not entry.packed else None
        old = self.was(ref)
        if head is None or isinstance(old, PdfStream) or isinstance(new, PdfStream):
            return False
        try:
            strict_object(self.before.data, head.end())
            return bool(meaning(old) == meaning(new))
        except NotPermitted:
            return False

    def check_unwanted(self, ref: Ref) -> None:
        """Raise :class:`NotPermitted` if the file before referred to an object of this update for anything but what
        the update uses it for. A page could have waited for it, to draw it once it is there."""
        if ref.number < self._first_new and type(self.was(ref)) is not type(self.revision.objects[ref]):
            raise NotPermitted(f"object {ref.number} was something else")
        reference = re.compile(rb"%d" % ref.number + REST_OF_REFERENCE)  # begins with plain letters: found fast
        for text, places in self._texts:
            for match in reference.finditer(text):
                before = text[max(0, match.start() - _LONGEST_GAP) : match.start()].rstrip(b"0")
                if before[-1:].isdigit():  # another number, which ends in these digits
                    continue
                line = max(text.rfind(end, 0, match.start()) for end in (b"\n", b"\r")) + 1
                if _ENCLOSED.fullmatch(text, line, match.start()) and not places:
                    continue
                if self._is_wanted(text, places, match.start(), ref):
                    raise NotPermitted(f"object {ref.number} was referred to before it was written")

    def _is_wanted(self, text: bytes, places: list[int], position: int, ref: Ref) -> bool:
        """Return whether what looks like a reference to an object of this update at a byte may be an unknown use."""
        is_known = ref.number < self._first_new and _is_known_use(text, places, position, ref)
        return not is_known and (bool(places) or not self.before.is_within_stream(position))

    @cached_property
    def _texts(self) -> list[tuple[bytes, list[int]]]:
        """The file before, and the texts of its object streams with the places of their objects."""
        return [(self.before.data, []), *self.before.packed_texts()]

    def left_over(self) -> Iterator[Ref]:
        """Yield the objects of the update that nothing accounted for."""
        return (ref for ref in self.revision.objects if ref not in self._accounted)


def _is_known_use(text: bytes, places: list[int], position: int, ref: Ref) -> bool:
    """Return whether the reference at a byte stands in the trailer, the catalog, the form, the store or a page, under
    nothing but keys that say what an update may change. ``places``: where objects begin in an object stream, of which
    one may seem to begin within another."""
    if places:
        starts = [place for place in places if place <= position]
    else:
        starts = [max(text.rfind(word, 0, position) + len(word) for word in (b"obj", b"trailer"))]
        line = max(text.rfind(end, 0, starts[0]) for end in (b"\n", b"\r")) + 1
        if b"%" in text[line : starts[0]]:  # the word is in a comment, so nothing that seems to follow it does
            return False
    try:
        parsed = [parse(text, start) for start in starts]
    except Unsafe:
        return False
    uses = [use for value, end in parsed if position < end for use in _uses(value, ref, ())]
    return bool(uses) and all(_USES.fullmatch(key) for use in uses for key in use)


def _uses(value: Any, ref: Ref, keys: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """Yield the keys that lead to each place of a reference; an empty one for an array, whose items say nothing."""
    if type(value) is Ref:
        if value.number == ref.number:
            yield keys
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _uses(item, ref, (*keys, key))
    elif isinstance(value, list):
        for item in value:
            yield from _uses(item, ref, (*keys, b""))


def check_same(what: str, old: Dictionary, new: Dictionary, but_for: frozenset[bytes]) -> None:
    """Raise :class:`NotPermitted` unless both dictionaries mean the same, but for some keys, which need a value."""
    before, after = meaning(old), meaning(new)
    bare = without_points(before)
    for key in but_for & after.keys() - before.keys():
        if after[key] is None:
            raise NotPermitted(f"{what} gained an entry {key.decode()} without a value")
    for key in sorted((before.keys() | after.keys()) - but_for):
        if key not in before or key not in after or after[key] not in (before[key], bare[key]):
            raise NotPermitted(f"{what} has another {key.decode('latin-1', 'replace')}")


def check_keys(what: str, dictionary: Dictionary, allowed: frozenset[bytes]) -> None:
    """Raise :class:`NotPermitted` for a key that is not in ``allowed``."""
    for key in meaning(dictionary):
        if key not in allowed:
            raise NotPermitted(f"{what} has an entry {key.decode('latin-1', 'replace')}")


def appended_to(what: str, old: Any, new: Any) -> list[Any]:
    """Return what a list gained at its end. Raise :class:`NotPermitted` if it changed otherwise."""
    earlier = old if isinstance(old, list) else []
    if not isinstance(new, list) or new[: len(earlier)] != earlier:
        raise NotPermitted(f"{what} no longer lists what it listed")
    return new[len(earlier) :]
