"""JSON whose arrays, objects and commas are counted before the first value is built.

A text of nothing but ``[],`` takes thirty times its size in memory once it is parsed, while real bodies hold few arrays
and objects for their size. A limit as high as the largest real body needs therefore bounds the memory of every body.

No other thread runs Python while a large body is parsed. Threads parse large bodies one after the other, so that a call
that waits for the interpreter waits for one of them, however many arrive at a time. In a web process, a request with
such a body is expensive work (:mod:`paraph.kernel.places`).
"""

import json
import math
from collections.abc import Callable
from itertools import chain
from threading import Lock
from typing import Any

from paraph.kernel.places import expensive_request

DEEPEST = 64
"""How deep arrays and objects may be nested; real bodies have ten levels."""

_LARGE = 64 * 1024  # bytes, which take a millisecond to parse

_turn = Lock()


class TooManyError(ValueError):
    """More arrays and objects, or more commas, than allowed."""


class TooDeepError(ValueError):
    """Arrays and objects that are nested deeper than :data:`DEEPEST`."""


def loads(
    content: bytes, limit: int, parse_constant: Callable[[str], Any] = float, *, comma_limit: float = math.inf
) -> Any:
    """Parse JSON. ``limit``: of arrays and objects; ``comma_limit``: of commas; both also count signs in strings.
    ``parse_constant`` gets ``NaN`` and the infinities, as in :func:`json.loads`. Raise :class:`TooManyError` beyond a
    limit, :class:`TooDeepError` for nesting that is too deep, and ``ValueError`` for anything else that is not JSON."""
    parts = content.count(b"[") + content.count(b"{")
    if parts > limit or content.count(b",") > comma_limit:
        raise TooManyError(f"more than {limit} arrays and objects, or than {comma_limit} commas")
    if len(content) <= _LARGE:
        return _parsed(content, parts, parse_constant)
    expensive_request()  # handling so many values takes as long as parsing them
    with _turn:
        return _parsed(content, parts, parse_constant)


def _parsed(content: bytes, parts: int, parse_constant: Callable[[str], Any]) -> Any:
    try:
        value = json.loads(content.decode(), parse_constant=parse_constant)
    except RecursionError:
        raise TooDeepError from None
    if parts > DEEPEST and _is_too_deep(value):
        raise TooDeepError
    return value


def _is_too_deep(value: Any) -> bool:
    """Return whether the nesting exceeds :data:`DEEPEST`: code that walks through the value recurses at each level."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        members = chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level)
        level = [each for each in members if isinstance(each, dict | list)]
    return bool(level)
