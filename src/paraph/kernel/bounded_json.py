"""JSON whose arrays, objects and commas are counted before the first value is built.

A text of nothing but ``[],`` takes thirty times its size in memory once it is parsed, while real bodies hold few arrays
and objects for their size. A limit as high as the largest real body needs therefore bounds the memory of every body.

No other thread runs Python while a large body is parsed. Threads parse large bodies one after the other, so that a call
that waits for the interpreter waits for one of them, however many arrive at a time.
"""

import json
import math
from collections.abc import Callable
from threading import Lock
from typing import Any

_LARGE = 64 * 1024  # bytes, which take a millisecond

_turn = Lock()


class TooManyError(ValueError):
    """More arrays and objects, or more commas, than allowed."""


def loads(
    content: bytes, limit: int, parse_constant: Callable[[str], Any] = float, *, comma_limit: float = math.inf
) -> Any:
    """Parse JSON. ``limit``: of arrays and objects; ``comma_limit``: of commas; both count what stands in strings too.
    ``parse_constant`` gets ``NaN`` and the infinities, as in :func:`json.loads`.

    Raise :class:`TooManyError` beyond a limit, ``RecursionError`` for nesting that is too deep, and ``ValueError`` for
    anything else that is not JSON.
    """
    if content.count(b"[") + content.count(b"{") > limit or content.count(b",") > comma_limit:
        raise TooManyError(f"more than {limit} arrays and objects, or than {comma_limit} commas")
    if len(content) <= _LARGE:
        return json.loads(content.decode(), parse_constant=parse_constant)
    with _turn:
        return json.loads(content.decode(), parse_constant=parse_constant)
