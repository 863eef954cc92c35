"""Files that readers understand differently, refuse or repair: many of each class, the same ones for the same seed."""

from collections.abc import Callable, Iterator
from random import Random

from tests.pdf.odd_files import annotations, contents, encrypted, signed, spellings, structure

CLASSES: dict[str, Callable[[Random], bytes]] = {
    **structure.CLASSES,
    **encrypted.CLASSES,
    **contents.CLASSES,
    **signed.CLASSES,
    **annotations.CLASSES,
    **spellings.CLASSES,
}


def odd_files(count: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield ``count`` files with the names of their classes, spread evenly over the classes."""
    names = list(CLASSES)
    for number in range(count):
        turn, place = divmod(number, len(names))
        yield names[place], odd_file(names[place], seed, turn)


def odd_file(name: str, seed: int, turn: int) -> bytes:
    """Return file number ``turn`` of a class, always the same one for the same ``seed``."""
    return CLASSES[name](Random(f"{seed} {name} {turn}"))
