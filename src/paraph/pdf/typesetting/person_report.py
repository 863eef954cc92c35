"""The data kept about a person, as a PDF to hand over (GDPR, article 15)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paraph.pdf.typesetting.glyph_fallback import template_text
from paraph.pdf.typesetting.typeset import typeset

_NAMES = {"ip": "IP address", "id": "Number", "sha256": "SHA-256", "url": "URL", "organization_id": "Organization no."}
_NOTHING: tuple[object, ...] = (None, "", [], {})


@dataclass(frozen=True)
class ReportedPlace:
    """One place and the things that it has, each as plain JSON. ``note``: whether and how these can be erased."""

    name: str
    note: str
    things: Sequence[Mapping[str, Any]]


def person_report(address: str, at: datetime, places: Sequence[ReportedPlace]) -> bytes:
    """Typeset the report as PDF/A. Values that are empty are left out; the same content gives the same bytes."""
    content = {
        "address": template_text(address),
        "at": at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        "count": sum(len(place.things) for place in places),
        "places": [
            {
                "name": place.name[:1].upper() + place.name[1:],
                "note": template_text(place.note),
                "things": [[[name, _lines(value)] for name, value in _rows(thing)] for thing in place.things],
            }
            for place in places
        ],
    }
    return typeset("person", content, standard="a-2b", at=at.replace(microsecond=0))


def _lines(text: str) -> list[Any]:
    return [template_text(line) for line in text.splitlines() if line.strip()]


def _rows(thing: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a row for each value; lists of things, and things within things, are taken apart."""
    for name, value in thing.items():
        if value in _NOTHING:
            continue
        if name in ("signature", "initials") and isinstance(value, Mapping):
            yield _label(name), _handwriting(value)
        elif isinstance(value, Mapping):
            yield from ((f"{_label(name)}: {inner.lower()}", text) for inner, text in _rows(value))
        elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
            for number, each in enumerate(value, 1):
                yield from ((f"{_label(name)} {number}: {inner.lower()}", text) for inner, text in _rows(each))
        elif isinstance(value, list):
            yield _label(name), ", ".join(map(str, value))
        else:
            yield _label(name), "yes" if value is True else "no" if value is False else str(value)


def _handwriting(value: Mapping[str, Any]) -> str:
    count = len(value.get("strokes", ()))
    return f"drawn, {count} stroke{'s' if count != 1 else ''} (the JSON form has them)" if count else "typed"


def _label(name: str) -> str:
    words = name.partition("/")[0].replace("_", " ")  # "recipients/0" is one of several
    return _NAMES.get(name, words[:1].upper() + words[1:])
