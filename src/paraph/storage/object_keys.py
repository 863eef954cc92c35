"""What an object key may look like."""

import re

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*", re.ASCII)
_LONGEST = 200  # the length of the columns that hold keys


def checked_key(key: str) -> str:
    """The key itself. Raises ``ValueError`` unless it is made of plain names between single slashes:
    no empty name, none that starts with a dot, so that no key leaves the store or meets its drafts."""
    if len(key) > _LONGEST or not _KEY.fullmatch(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def folder_of(number: int) -> str:
    """The folder for what belongs to a row of that number. A thousand rows share one: making a folder durable takes as
    long as storing a file."""
    return str(number // 1000)
