"""Forms without files: what a body has of them is not read, whoever sends it."""

from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, StopUpload


class NoFiles(FileUploadHandler):
    """The upload handler of all pages. A page that takes files sets its own, with limits, before the body is read
    (:mod:`paraph.dashboard.documents.uploads`, :mod:`paraph.dashboard.small_file`)."""

    def new_file(self, *_described: Any, **_more: Any) -> None:
        raise StopUpload(connection_reset=True)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002  Django passes both
        raise StopUpload(connection_reset=True)

    def file_complete(self, file_size: int) -> None:
        """Never called."""
