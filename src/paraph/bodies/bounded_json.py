"""JSON whose arrays and objects are counted before the first of them is built.

Of nothing but ``[],`` the values take thirty times the room of the text. Real bodies hold more than that: who allows
as many arrays and objects as the largest real body has bounds what any other one takes.
"""

import json
from collections.abc import Callable
from typing import Any


class TooManyError(ValueError):
    """More arrays and objects than allowed."""


def loads(content: bytes, limit: int, parse_constant: Callable[[str], Any] = float) -> Any:
    """The value. ``parse_constant`` gets ``NaN`` and the infinities, as in :func:`json.loads`.

    Raises :class:`TooManyError`, where brackets within strings count as well; ``RecursionError`` where it is nested
    too deeply; ``ValueError`` for all else, such as ``UnicodeDecodeError`` and ``json.JSONDecodeError``.
    """
    if content.count(b"[") + content.count(b"{") > limit:
        raise TooManyError(f"more than {limit} arrays and objects")
    return json.loads(content.decode(), parse_constant=parse_constant)
