"""The alterations that ``paraph verify`` once called valid, grouped by find."""

import re
from itertools import cycle

from lab.fuzz.altered import waiting
from lab.fuzz.altered.recipes import FREEDOMS, Recipe

_ALL = ("letter B-T", "letter B-LTA", "packed letter B-LTA", "proof B-LTA")
_FORMS = ("form B-T", "form B-LTA", "packed form B-LTA")
_COVERS = ("bare", "with a trusted timestamp", "under a trusted timestamp")
_REPAIRED = (
    "startxref one too high",
    "startxref one too low",
    "entries of 19 bytes",
    "/Size one too low",
    "/Size one too high",
    "a comment after xref",
    "a comment on a line after xref",
)
_BEFORE_XREF = ("NUL before xref", "a comment before xref", "CRLF before xref", "NULs after xref")
_ESCAPED = tuple(
    f"spelling: {key} {order}"
    for key in ("/Contents of the page", "/Annots of the page", "/Kids")
    for order in ("escaped, last", "escaped, first", "plain, last", "plain, first")
)
_PREV = tuple(f"trailers: /Prev twice, the hidden one {where}" for where in ("last", "first"))
_OF_FORM = ("/DA", "/DA empty", "an empty /DR", "/DR null", "/DR with another font")
_RESPELT = ("every number with a point", "every number with a fraction", "truths that are numbers")
_OF_TIMESTAMP = ("a border in /MK", "a border in /MK, nowhere", "/AA", "/Lock")
_UPLOADS = {upload: tuple(f"waiting: {name}" for name in names) for upload, names in waiting.BY_UPLOAD.items()}


def _each(freedoms: tuple[str, ...], covers: tuple[str, ...], files: tuple[str, ...], *payloads: str) -> list[Recipe]:
    """Return recipes for every freedom under every cover, each for the next of the files in turn."""
    names = cycle(files)
    return [
        Recipe(next(names), (freedom,), payload, cover, seed="row")
        for freedom in freedoms
        for payload in payloads or ("nothing",)
        for cover in covers
    ]


ROWS: dict[str, list[Recipe]] = {
    "1: an object that no cross-reference lists, and one that is repaired": _each(
        tuple(f"crossreferences: {name}" for name in _REPAIRED), ("bare", "bare"), _ALL[:3], "hidden"
    ),
    "2: names that are told alike": [
        Recipe(
            "proof B-LTA",
            ("fields: a visible field Archive\\ufffd",),
            "nothing",
            "under a trusted timestamp, Archive\\x07",
        ),
        Recipe("proof B-LTA", ("fields: a visible field of 127 x",), "nothing", "under a trusted timestamp, 128 x"),
    ],
    "3: a rectangle of references": _each(
        tuple(
            f"fields: {who} with a rectangle of references" for who in ("a trusted timestamp", "a stranger's signature")
        ),
        ("bare", "bare"),
        _ALL,
    ),
    "4: a signature that nobody trusts draws, and the service seals": _each(
        tuple(f"fields: {who} with a rectangle over the text" for who in ("rubbish", "a stranger's signature")),
        ("sealed again, B-T", "sealed again, B-LTA", "sealed again, B-T"),
        _ALL,
    ),
    "5: defaults of the form": _each(tuple(f"fields: the form: {name}" for name in _OF_FORM), _COVERS, _FORMS),
    "6: which of two counts": _each((*_ESCAPED, *_PREV), _COVERS, _ALL[:3]),
    "7: the archive timestamp's own field": [
        *_each(tuple(f"fields: a timestamp's field: {name}" for name in _OF_TIMESTAMP), ("bare",) * 2, _ALL),
        *_each(tuple(f"fields: the newest field: {name}" for name in _OF_TIMESTAMP), _COVERS, _ALL[1:3]),
        *_each(("fields: the newest field is renamed",), _COVERS, _ALL[1:]),
        *_each(("fields: the form: /Q",), _COVERS, _FORMS),
        *_each(("fields: the first field is multiline", "fields: the first field is a password"), _COVERS, _FORMS),
    ],
    "8: a revision that some repair, below a trusted timestamp": _each(
        tuple(f"crossreferences: {name}" for name in _BEFORE_XREF), _COVERS[1:], _ALL[:3], "forged", "hidden"
    ),
    "numbers with a point, truths that are numbers, and nulls": [
        *_each(tuple(f"spelling: {name}" for name in _RESPELT), ("bare",), ("turned letter B-LTA",)),
        *_each(("spelling: a null for /MediaBox",), _COVERS, ("form B-T",)),
    ],
    "objects for which readers have no room": _each(
        ("stores: data with a number of 31 bits", "stores: data with a number of 10 digits"), _COVERS[1:], _ALL
    ),
    "a cross-reference stream in the place of an object": _each(
        tuple(f"crossreferences: a stream in the place of {of}" for of in ("the content", "the last page")),
        _COVERS[:2],
        ("packed letter B-T",),
    ),
    "columns for which readers have no room": _each(
        tuple(name for name in FREEDOMS if name.startswith("crossreferences: widths of (")),
        _COVERS[1:],
        ("packed letter B-T", "packed letter B-LTA"),
    ),
    "a trailer within a string": _each(
        tuple(name for name in FREEDOMS if name.endswith(" in /Producer")), _COVERS[1:], _ALL[:3]
    ),
    "properties that are no strings, or stand elsewhere": _each(
        tuple(name for name in FREEDOMS if re.match("properties: /.* as ", name)), _COVERS[1:], (*_ALL[:3], *_FORMS)
    ),
    "numbers that are skipped": _each(
        tuple(name for name in FREEDOMS if name.endswith("numbers skipped")), _COVERS[:2], _ALL[:3]
    ),
    "uploads that wait for what is appended": [
        recipe for upload, names in _UPLOADS.items() for recipe in _each(names, _COVERS[1:2], (upload,))
    ],
}
