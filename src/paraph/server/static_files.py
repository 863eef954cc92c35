"""``/static/``: style sheets, scripts and icons of the pages, under names that change with their contents.

They are read from the packages at the start and kept in memory, compressed (docs/decisions/compression.md).
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from paraph.server.bodies import Compressed

_A_YEAR = 365 * 24 * 60 * 60  # seconds
_CONTENT_TYPES = {  # nothing else is asked: machines differ in the endings that they know
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_WITH = re.compile(rb"^// with (\S+\.js)$", re.MULTILINE)
_COMMENTS = {".css": re.compile(rb"/\*.*?\*/", re.DOTALL), ".js": re.compile(rb"^\s*//.*$", re.MULTILINE)}


class StaticFiles(ManifestFilesMixin, InMemoryStorage):  # type: ignore[misc]  # Django composes its own in the same way
    """What ``{% static %}`` names: every static file of the installed applications, each also under its hashed name.
    The name of a file that does not exist is an error."""

    def __init__(self) -> None:
        super().__init__(base_url=settings.STATIC_URL)
        for _, _, outcome in self.post_process({name: (self, name) for name in self._gather()}):
            if isinstance(outcome, Exception):
                raise outcome

    def _gather(self) -> set[str]:
        """Return the names of all files. Where two applications have a file of the same name, the first one counts, as
        for Django's own commands."""
        files = dict[str, bytes]()
        for finder in get_finders():
            for name, storage in finder.list([]):
                if name not in files:
                    with storage.open(name) as file:
                        files[name] = file.read()
        for name in files:
            self.save(name, ContentFile(_bare(name, _whole(name, files))))
        return set(files)


def _whole(name: str, files: Mapping[str, bytes]) -> bytes:
    """Return the file with each line such as "// with pad.js" replaced by the file that it names: what a page needs
    together comes in one answer."""
    folder = PurePosixPath(name).parent
    return _WITH.sub(lambda found: _whole(str(folder / found[1].decode()), files), files[name])


def _bare(name: str, content: bytes) -> bytes:
    """Return the file without indents, empty lines and comments on lines of their own, which are a tenth of what a
    signing page loads. No string in our files may span several lines."""
    without = _COMMENTS.get(PurePosixPath(name).suffix)
    if without is None:
        return content
    lines = (line.strip() for line in without.sub(b"", content).splitlines())
    return b"\n".join(line for line in lines if line)


@cache
def contents() -> dict[str, Compressed]:
    """Return every static file by its hashed name, compressed. Called before processes are forked, which then share the
    files."""
    files = {}
    storage: Any = staticfiles_storage  # the StaticFiles that STORAGES names
    for name in storage.hashed_files.values():
        with storage.open(name) as file:
            files[name] = Compressed(file.read(), _CONTENT_TYPES[PurePosixPath(name).suffix])
        assert files[name].gzipped
    return files


@require_safe
def static_file(request: HttpRequest, name: str) -> HttpResponse:
    """Return a file that every cache keeps for a year: a changed file has another name."""
    file = contents().get(name)
    if file is None:
        raise Http404
    response = file.response(request)
    response["Cache-Control"] = f"public, max-age={_A_YEAR}, immutable"
    return response
