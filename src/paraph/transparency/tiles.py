"""Where tiles and bundles of entries lie, and what is in them (C2SP tlog-tiles)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from paraph.transparency.merkle import TILE, ProofRefused

_PATH = re.compile(r"(\d|[1-5]\d|6[0-3]|entries)/((?:x\d{3}/){0,6}\d{3})(?:\.p/([1-9]\d{0,2}))?", re.ASCII)
_ENTRY = (32).to_bytes(2, "big")


class Tile(NamedTuple):
    """``level`` is -1 for a bundle of entries. ``number`` counts the tiles of a level. ``width``: how many hashes or
    entries it has."""

    level: int
    number: int
    width: int = TILE

    def __str__(self) -> str:
        level = "entries" if self.level < 0 else str(self.level)
        return f"{level}/{number_path(self.number)}" + (f".p/{self.width}" if self.width < TILE else "")


def read_path(path: str) -> Tile | None:
    """Return the tile that a path below ``/tile/`` names; None where it names none, or not in its one form."""
    match = _PATH.fullmatch(path)
    if not match:
        return None
    level = -1 if match[1] == "entries" else int(match[1])
    tile = Tile(level, int(match[2].replace("/", "").replace("x", "")), int(match[3] or TILE))
    return tile if str(tile) == path else None


def number_path(number: int) -> str:
    path = f"{number % 1000:03}"
    while number := number // 1000:
        path = f"x{number % 1000:03}/{path}"
    return path


def entries_key(number: int) -> str:
    """Return where the object store has a bundle of entries, the last of which grows."""
    return f"transparency/entries/{number_path(number)}"


def bundle(entries: Sequence[bytes]) -> bytes:
    return b"".join(_ENTRY + each for each in entries)


def read_bundle(content: bytes, width: int) -> list[bytes]:
    """Return so many entries from the beginning of a bundle. Raise ProofRefused where there are fewer."""
    parts = [content[at : at + 34] for at in range(0, 34 * width, 34)]
    if any(part[:2] != _ENTRY or len(part) != 34 for part in parts):
        raise ProofRefused("A bundle of entries has too few of them, or of another length than 32 bytes.")
    return [part[2:] for part in parts]
