"""The form of object keys."""

import re

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*", re.ASCII)
_LONGEST = 200  # the length of the columns that hold keys


def checked_key(key: str) -> str:
    """Return the key. Raise ``ValueError`` unless it consists of plain names between single slashes; no name is empty
    or starts with a dot, so that no key leads out of the store or to its staged objects."""
    if len(key) > _LONGEST or not _KEY.fullmatch(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def folder_of(number: int) -> str:
    """Return the folder for the objects of the row with this id. A thousand rows share a folder, because making a
    folder durable takes as long as storing a file."""
    return str(number // 1000)
