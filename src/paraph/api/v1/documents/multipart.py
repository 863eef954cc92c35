"""Reading one file from a multipart body, as a stream: no more of it is in memory than a piece."""

from typing import Any, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils.translation import gettext as _

from paraph.api.v1.documents.leading_file import FilePart, UploadBody, copy_content, delimiter_of, ends, leading_file
from paraph.flow.sending.upload import IncomingFile, refuse_beyond_limit
from paraph.kernel.errors import DomainError
from paraph.server.incoming_body import body_stream

_BESIDE_THE_FILE = 16 * 1024 * 1024  # bytes of other fields, and of what stands between
_TAIL = 256  # bytes: the longest boundary, its dashes and line ends


def check_type(request: HttpRequest) -> None:
    """Raise ``unsupported_media_type`` for another kind of body."""
    if request.content_type != "multipart/form-data":
        raise DomainError("unsupported_media_type", _("The Content-Type must be multipart/form-data."))


def announced_size(request: HttpRequest) -> int:
    """Return the most bytes that the file may have, by what the body says of itself; 0 where it says nothing."""
    length = request.META.get("CONTENT_LENGTH") or ""
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024
    return min(int(length), most) if length.isascii() and length.isdigit() else 0


def receive_file(request: HttpRequest, field: str, file: IncomingFile) -> FilePart:
    """Write the file of the field to ``file``. Raises ``payload_too_large`` as soon as it passes the limit,
    ``validation_error`` for a broken body, no file or more than one."""
    parts = _receive(request, file)
    named = [part for part in parts if part.field == field]
    if not named:
        message = _("The body must contain a file in the field “%(field)s”, with a file name in UTF-8.")
        raise DomainError("validation_error", message % {"field": field})
    if len(parts) > 1:
        raise DomainError("validation_error", _("The body must contain only one file."))
    return named[0]


def _receive(request: HttpRequest, file: IncomingFile) -> list[FilePart]:
    most = settings.PARAPH.upload_limit_mb * 1024 * 1024 + _BESIDE_THE_FILE
    stream, length = body_stream(request, most)
    if length is not None and length > most:
        refuse_beyond_limit(length)  # as it says itself, before any of it is read
    body, delimiter = UploadBody(stream), delimiter_of(request.META["CONTENT_TYPE"])
    leading = leading_file(body, delimiter) if delimiter else None
    if not delimiter or not leading:
        return _parse(request, body, _Receiving(file))
    if not copy_content(body, delimiter, file.write):
        raise _broken()
    return [leading] if ends(body, delimiter) else _parse(request, body, _Receiving(file, leading))


def _parse(request: HttpRequest, body: UploadBody, handler: "_Receiving") -> list[FilePart]:
    """Return the parts of what is left of the body, and the one that came before it."""
    declared = {**request.META, "CONTENT_LENGTH": "1"}  # the parser wants one, and reads to the end
    stream = _Tail(body)
    try:
        MultiPartParser(declared, cast(Any, stream), [handler], "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation) as error:  # too many or too large fields beside the file
        raise _broken() from error
    if not stream.tail.rstrip(b"\r\n").endswith(b"--"):  # the last boundary, without which the file may be cut
        raise _broken()
    return handler.parts


def _broken() -> DomainError:
    return DomainError("validation_error", _("The multipart body is malformed."))


class _Tail:
    """The body, remembering its end."""

    def __init__(self, body: UploadBody) -> None:
        self._body = body
        self.tail = b""

    def read(self, size: int) -> bytes:
        block = self._body.read(size)
        self.tail = (self.tail + block)[-_TAIL:]
        return block


class _Receiving(FileUploadHandler):
    """Write what comes as it comes, never beyond the limit. Where there are several files all is refused later, and
    only the first one is written."""

    chunk_size = 64 * 1024

    def __init__(self, file: IncomingFile, *before: FilePart) -> None:
        super().__init__()
        self.parts = list(before)
        self._file = file

    def new_file(self, field_name: str, file_name: str, content_type: str, *_rest: Any) -> None:
        self.parts.append(FilePart(field_name, file_name, content_type.lower()))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        refuse_beyond_limit(start + len(raw_data))
        if len(self.parts) == 1:
            self._file.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        """Nothing is left to do."""
