"""Several untrusted files, each read as a whole when a job asks for it."""

import contextlib
import os
from collections.abc import Sequence
from typing import overload


class WholeFiles(Sequence[bytes]):
    """Files behind descriptors, which it owns; a context manager that closes them. A file is read anew whenever it is
    asked for: several may be more than fits in memory together."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._opened = contextlib.ExitStack()
        self._files = [self._opened.enter_context(os.fdopen(each, "rb")) for each in descriptors]

    def __enter__(self) -> "WholeFiles":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        file = self._files[index]
        file.seek(0)
        return file.read()
