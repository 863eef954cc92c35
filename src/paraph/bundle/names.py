"""The names of documents as those of files."""

import re

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')  # in a file's name, for one of the systems that unpack it
_ENDING = ".pdf"
_LONGEST = 200  # bytes; most systems take 255


def free_name(name: str, taken: set[str]) -> str:
    """Return the name without what no file's name may have, and with a number where another file has it. Adds it to
    ``taken``."""
    safe = _UNSAFE.sub("_", name).strip(" .")
    stem = safe[: -len(_ENDING)] if safe.lower().endswith(_ENDING) else safe
    stem = stem.encode()[:_LONGEST].decode(errors="ignore").rstrip(" .").lstrip(" .-") or "document"
    number, free = 1, f"{stem}{_ENDING}"
    while free.casefold() in taken:
        number += 1
        free = f"{stem}-{number}{_ENDING}"
    taken.add(free.casefold())
    return free
