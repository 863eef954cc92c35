"""Which words say that a blank beside them waits for a signature, and which that it waits for something else.

The words stand in ``signature_words.json``, as regular expressions.
"""

import json
import re
from pathlib import Path

_LONGEST_LABEL = 80
_LONGEST_PARTY = 60
_WORDS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_OF = {name: f"(?:{'|'.join(each)})" for name, each in _WORDS.items()}
_NOUN, _AND, _PART = _OF["signature_as_noun"], _OF["and"], rf"(?:{_OF['particles']}|[^\W\d_a-z][\w'’.-]*)"
_ONE = rf"{_OF['before_party']}{{0,2}}{_OF['party']}{_OF['party_ends']}?"
SIGNED_HERE = re.compile(_OF["signature"], re.IGNORECASE)
_OTHERWISE = re.compile(rf"^\W*{_OF['printed']}?{_OF['otherwise']}\b", re.IGNORECASE)
_WITH_SIGNATURE = re.compile(rf"[,/&+]\s*(?:\w+\s+)?{_NOUN}|{_AND} {_NOUN}", re.IGNORECASE)
_WHEN_OR_WHERE = re.compile(rf"\b{_OF['signed']}\s+{_OF['when_or_where']}\b|\bfait à|\bdate\b.*\bsign", re.IGNORECASE)
_PARTY = re.compile(rf"^\W*{_ONE}(?=$|[\s\W])|[,(\u2013-]\s*{_ONE}\)?$", re.IGNORECASE)
_NAME = re.compile(rf"(?:{_OF['titles']}\.? )*[^\W\d_a-z][\w'’.-]*(?: {_PART}){{1,4}}")


def asks(label: str) -> int:
    """Return 2 where the words beside a blank ask for a signature, 1 where they name who might sign there, -1 where
    they ask for something else, such as a date, otherwise 0."""
    otherwise = _WHEN_OR_WHERE.search(label) or _OTHERWISE.match(label)
    if otherwise or len(label) > _LONGEST_LABEL:
        return 2 if otherwise and _WITH_SIGNATURE.search(label) else -bool(otherwise)
    return 2 if SIGNED_HERE.search(label) else int(len(label) <= _LONGEST_PARTY and bool(_PARTY.search(label)))


def is_name(label: str) -> bool:
    """Return whether the words may be somebody's name."""
    return len(label) <= _LONGEST_PARTY and bool(_NAME.fullmatch(label))
