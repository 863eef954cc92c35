"""Files in forms: none unless a page takes them, and then in memory or in the staging area of the store."""

from collections.abc import Callable
from contextlib import ExitStack
from operator import attrgetter
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

from paraph.storage import store
from paraph.storage.objects import StagedObject


class NoFiles(FileUploadHandler):
    """The upload handler of all pages. A page that takes files sets its own, with limits, before the body is read."""

    def new_file(self, *_described: Any, **_more: Any) -> None:
        raise StopUpload(connection_reset=True)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002  Django passes both
        raise StopUpload(connection_reset=True)

    def file_complete(self, file_size: int) -> None:
        """Never called."""


class StagedFile(UploadedFile):  # type: ignore[type-arg]  # it takes no type at run time
    """A file of a form. ``writer``: what took its pieces."""

    def __init__(self, writer: Any, *described: Any) -> None:
        super().__init__(*described)
        self.writer = writer


class StagedFiles(FileUploadHandler):
    """Write each file into the staging area of uploads, where it stays until ``staged`` closes. ``writer``: returns
    what takes the pieces of an object in the making, by default its file."""

    chunk_size = 256 * 1024

    def __init__(self, staged: ExitStack, writer: Callable[[StagedObject], Any] = attrgetter("file")) -> None:
        super().__init__()
        self._staged, self._writer_of = staged, writer

    def new_file(self, *described: Any, **more: Any) -> None:
        super().new_file(*described, **more)
        made = self._staged.enter_context(store.stage())
        self._file, self._writer = made.file, self._writer_of(made)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002  Django passes it
        self._writer.write(raw_data)

    def file_complete(self, file_size: int) -> StagedFile:
        return StagedFile(self._writer, self._file, self.file_name or "", self.content_type or "", file_size)
