"""The names of documents as those of files."""

import re
from collections.abc import Iterable

from paraph.pdf.container.asic import SIGNED, UPLOADED

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


def signed_name(document_name: str) -> str:
    """Return the name of the sealed form of the document with this name, such as ``lease-signed.pdf``."""
    stem = document_name[:-4] if document_name.lower().endswith(".pdf") else document_name
    return f"{stem}-signed.pdf"


def bundled(titles: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names that the signed and the uploaded file of each document have in a bundle."""
    names, taken = [*titles], set[str]()
    uploaded = [UPLOADED + free_name(name, taken) for name in names]
    return [(SIGNED + free_name(signed_name(name), taken), up) for name, up in zip(names, uploaded, strict=True)]
