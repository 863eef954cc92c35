"""Reading one file from a multipart body, as a stream: no more of it is kept in memory than a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.translation import gettext as _

from paraph.api.v1.incoming import Readable, body_stream
from paraph.flow.upload import refuse_beyond_limit
from paraph.kernel.errors import DomainError

_IN_MEMORY = 1024 * 1024
_BESIDE_THE_FILE = 16 * 1024 * 1024  # bytes of other fields, and of what stands between
_TAIL = 256  # bytes: the longest boundary, its dashes and line ends


@dataclass(frozen=True)
class Part:
    file: BinaryIO
    name: str
    content_type: str


@contextmanager
def one_file(request: HttpRequest, field: str) -> Iterator[Part]:
    """The file of the field, gone on leaving. Raises ``unsupported_media_type`` for another kind of body,
    ``payload_too_large`` as soon as the file passes the limit, ``validation_error`` for a broken body, no file or
    more than one."""
    if request.content_type != "multipart/form-data":
        raise DomainError("unsupported_media_type", _("The Content-Type must be multipart/form-data."))
    handler = _Receiving()
    try:
        _receive(request, handler)
        yield _only(handler.parts, field)
    finally:
        for _field, part in handler.parts:
            part.file.close()


def _receive(request: HttpRequest, handler: "_Receiving") -> None:
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024 + _BESIDE_THE_FILE
    body, length = body_stream(request, most)
    if length is not None and length > most:
        refuse_beyond_limit(length)  # as it says itself, before any of it is read
    declared = {**request.META, "CONTENT_LENGTH": str(1 if length is None else length)}  # the parser wants one
    stream = _Tail(body)
    broken = DomainError("validation_error", _("The multipart body is broken."))
    try:
        MultiPartParser(declared, cast(Any, stream), [handler], "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation) as error:  # too many or too large fields beside the file
        raise broken from error
    if not stream.tail.rstrip(b"\r\n").endswith(b"--"):  # the last boundary, without which the file may be cut
        raise broken


def _only(parts: list[tuple[str, Part]], field: str) -> Part:
    named = [part for name, part in parts if name == field]
    if not named:
        message = _("The body must hold a file in the field “%(field)s”.")
        raise DomainError("validation_error", message % {"field": field})
    if len(parts) > 1:
        raise DomainError("validation_error", _("The body must hold one file only."))
    return named[0]


class _Tail:
    """The body, remembering its end."""

    def __init__(self, body: Readable) -> None:
        self._body = body
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        block = self._body.read(size)
        self.tail = (self.tail + block)[-_TAIL:]
        return block


class _Receiving(FileUploadHandler):
    """Keeps each file in memory while small and in a temporary file beyond, never beyond the limit."""

    chunk_size = 256 * 1024

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[str, Part]] = []

    def new_file(self, field_name: str, file_name: str, content_type: str, *_rest: Any) -> None:
        file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  closed by one_file()
        self.parts.append((field_name, Part(cast(BinaryIO, file), file_name, content_type.lower())))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        refuse_beyond_limit(start + len(raw_data))
        self.parts[-1][1].file.write(raw_data)

    def file_complete(self, file_size: int) -> None:  # noqa: ARG002  the form of the framework
        self.parts[-1][1].file.seek(0)
