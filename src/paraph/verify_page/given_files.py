"""What a visitor gives: files that are sent, and digests of those that stay with the visitor."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError

from paraph.flow.housekeeping.make_room import require_disk
from paraph.kernel.errors import DomainError
from paraph.server.uploads import StagedFiles

MOST_FILES = 50
_BESIDE = 1 << 20  # bytes of a body beside the files
_DIGEST = re.compile(r"([0-9a-f]{64}) (\d{1,12}) (.{1,255})", re.ASCII | re.DOTALL)


class VerdictRefused(Exception):
    """Why there is no verdict. ``word``: the name of the words that say it; ``values``: what they have in them."""

    def __init__(self, word: str, status: int, *, retry_after: int = 0, **values: Any) -> None:
        super().__init__(word)
        self.word, self.status, self.retry_after, self.values = word, status, retry_after, values


@dataclass
class Given:
    """The files by their names, and SHA-256 and size of those that are only compared."""

    files: dict[str, BinaryIO] = field(default_factory=dict)
    compared: dict[str, tuple[str, int]] = field(default_factory=dict)
    size: int = 0

    def free(self, name: str) -> str:
        """Return a name that nothing else has, as it can be shown."""
        name = visible(name)
        names = [name, *(f"{name} ({number})" for number in range(2, MOST_FILES + 2))]
        return next(each for each in names if each not in self.files and each not in self.compared)


def visible(text: str) -> str:
    """Return what others wrote without characters that cannot be seen, such as marks that turn its direction."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


@contextmanager
def given_files(request: HttpRequest) -> Iterator[Given]:
    """Read the form into files that are gone after the block. Raise VerdictRefused."""
    size, limit = int(request.META.get("CONTENT_LENGTH") or 0), settings.PARAPH.upload_limit_mb
    if size > (limit << 20) + _BESIDE:
        raise VerdictRefused("too_large", 413, limit=limit)
    given = Given()
    with ExitStack() as staged:
        try:
            require_disk(size)
            request.upload_handlers = [StagedFiles(staged)]
            files, digests = request.FILES.getlist("file"), request.POST.getlist("compared")
        except (MultiPartParserError, SuspiciousOperation) as error:
            raise VerdictRefused("unreadable_form", 400) from error
        except (DomainError, OSError) as refused:  # the disk is full, or the body was cut
            raise VerdictRefused("unavailable_title", 503, retry_after=5) from refused
        if not files:
            raise VerdictRefused("no_file", 422)
        if len(files) + len(digests) > MOST_FILES:
            raise VerdictRefused("too_many_files", 413, count=MOST_FILES)
        for each in files:
            each.seek(0)
            given.files[given.free(each.name or "")] = cast(BinaryIO, each.file)
            given.size += each.size or 0
        for text in digests:
            found = _DIGEST.fullmatch(text)
            if not found:
                raise VerdictRefused("unreadable_form", 400)
            given.compared[given.free(found[3])] = found[1], int(found[2])
        yield given
