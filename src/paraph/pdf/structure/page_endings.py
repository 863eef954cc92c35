"""How the contents of pages end, each read once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paraph.pdf.structure.contents_grammar import ContentsDecoder
from paraph.pdf.structure.graphics_state import CLEAN, Ending, ending
from paraph.pdf.structure.objects import PdfStream, Ref


class PageEndings:
    """The endings of one file, whose references ``resolve`` follows. ``clean_contents``: the contents of every page
    leave nothing open and close nothing that they did not open, so that they are not read again."""

    def __init__(self, resolve: Callable[[Any], Any], *, clean_contents: bool = False) -> None:
        self._resolve = resolve
        self._all_clean = clean_contents
        self._endings: dict[tuple[Any, ...], Ending | None] = {}
        self._decoder = ContentsDecoder()

    def contents(self, value: Any) -> list[Any] | None:
        """Return the references of the content streams in a page's entry; ``None`` for malformed contents."""
        resolved = self._resolve(value)
        if isinstance(resolved, list):
            return list(resolved) if all(type(item) is Ref for item in resolved) else None
        if value is None:
            return []
        return [value] if isinstance(resolved, PdfStream) else None

    def ending(self, contents: Iterable[Any]) -> Ending | None:
        """Return how these streams together end; ``None`` where viewers may disagree."""
        if self._all_clean:
            return CLEAN
        key = tuple(contents)
        if key not in self._endings:
            texts = self.decoded(key)
            self._endings[key] = None if texts is None else ending(texts)
        return self._endings[key]

    def decoded(self, contents: Sequence[Any]) -> list[bytes] | None:
        """Return the decoded streams; ``None`` where one of them fails."""
        streams = [self._resolve(item) for item in contents]
        return self._decoder.decode(streams) if all(type(stream) is PdfStream for stream in streams) else None
