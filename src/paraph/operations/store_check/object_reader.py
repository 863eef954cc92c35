"""Reading an object and telling whether it is what its row says."""

import hashlib
from collections.abc import Callable
from typing import Any

from paraph.evidence.named_objects import NamedObject
from paraph.storage import store

Problem = dict[str, Any]
"""``problem`` (``missing``, ``changed`` or ``unreadable``), ``key``, ``row`` and for the last one ``cause``."""

_BLOCK = 1 << 20


def problem_with(named: NamedObject, take: Callable[[bytes], object]) -> Problem | None:
    """Reads the object in blocks, which ``take`` gets; returns None where size and SHA-256 are those of the row."""
    digest, size = hashlib.sha256(), 0
    try:
        with store.open(named.key) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
                take(block)
    except FileNotFoundError:
        return _problem("missing", named)
    except OSError as error:
        return {**_problem("unreadable", named), "cause": error.strerror or str(error)}
    same = size == named.size and digest.digest() == named.sha256
    return None if same else _problem("changed", named)


def _problem(problem: str, named: NamedObject) -> Problem:
    return {"problem": problem, "key": named.key, "row": f"{named.row[0]} {named.row[1]}"}
