"""JSON whose arrays, objects and commas are counted before the first value is built.

Of nothing but ``[],`` the values take thirty times the room of the text. Real bodies hold more than that: who allows
as many arrays and objects as the largest real body has bounds what any other one takes. Counting takes a hundredth of
the time that reading does.

While a large one is read, no other thread runs Python. So threads read large ones in turn: who waits for the
interpreter waits for one of them, not for as many as are sent at a time.
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
    content: bytes, most: int, parse_constant: Callable[[str], Any] = float, *, most_commas: float = math.inf
) -> Any:
    """The value. ``parse_constant`` gets ``NaN`` and the infinities, as in :func:`json.loads`.

    Raises :class:`TooManyError`, where brackets and commas within strings count as well; ``RecursionError`` where it is
    nested too deeply; ``ValueError`` for all else, such as ``UnicodeDecodeError`` and ``json.JSONDecodeError``.
    """
    if content.count(b"[") + content.count(b"{") > most or content.count(b",") > most_commas:
        raise TooManyError(f"more than {most} arrays and objects, or than {most_commas} commas")
    if len(content) <= _LARGE:
        return json.loads(content.decode(), parse_constant=parse_constant)
    with _turn:
        return json.loads(content.decode(), parse_constant=parse_constant)
