"""Files that may be more than fits in memory together."""

from collections.abc import Callable, Iterator, Mapping


class FilesByName(Mapping[str, bytes]):
    """Files by their names, each read anew whenever it is asked for."""

    def __init__(self, readers: Mapping[str, Callable[[], bytes]]) -> None:
        self._readers = readers

    def __getitem__(self, name: str) -> bytes:
        return self._readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def selected(self, chosen: Callable[[str], bool]) -> "FilesByName":
        """Return those whose names are chosen."""
        return FilesByName({name: read for name, read in self._readers.items() if chosen(name)})
