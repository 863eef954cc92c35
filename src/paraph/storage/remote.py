"""Objects in a bucket (s3://, gs:// or az://), through obstore.

Credentials and endpoints come from the variables of the provider's own tools (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL``, ``GOOGLE_APPLICATION_CREDENTIALS``, ``AZURE_STORAGE_ACCOUNT_KEY`` …). Addresses of downloads are
signed for the endpoint that callers reach; where there is none, the service hands the objects out itself.

A bucket that does not answer delays nobody for long (docs/decisions/fair-waiting.md): each call has a time limit and
takes one of the places that a web process has for the store. After a call has waited in vain, the others fail at once
until a single call, made for all of them, is answered.
"""

import errno
import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from ipaddress import ip_address
from itertools import product
from mimetypes import guess_type
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import from_url

from paraph.kernel.errors import AwayError, DomainError
from paraph.kernel.places import object_store
from paraph.kernel.settings import SERVED_BY_US
from paraph.storage.objects import SeekableFile, StagedObject, checked_key, presigned_url

_BLOCK = 1 << 20
_PROVIDERS = ("AWS", "GOOGLE", "AZURE")  # how the names of their variables begin
_TIMES = {"CONNECT_TIMEOUT": "5s", "READ_TIMEOUT": "10s", "TIMEOUT": "60s"}
"""How long to wait for a connection, for an answer (or more of it), and for the end of an answer. They are set as
variables, unless the operator has set them: options given in code would override the operator's other variables."""
_RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=10)}
_IN_VAIN = 9.0  # s; a call that fails after more than this shows that the store hangs: a little less than the timeout
_IN_ALL = 60.0  # s during which a single call tries for all others, at most
_PAUSE = 5.0  # s for which a store that hangs is left alone
_AT_ONCE = 2  # parts of a large object sent side by side: few, so that each arrives in time on a slow line


class RemoteStore:
    """The bucket at ``url``, whose endpoint callers reach at ``public_url``; "": at the same address, unless that is
    known to be internal. Raise ``DomainError("configuration", …)`` when obstore cannot use it. Methods raise
    ``AwayError`` when the bucket refuses, fails or does not answer in time."""

    def __init__(self, url: str, public_url: str = "") -> None:
        self._url, self._again_at = url, 0.0
        self._store = _opened(url, "PARAPH_STORAGE_URL", url, retry_config=_RETRIES)
        self._public: Any = self._store
        if public_url == SERVED_BY_US or (not public_url and internal_endpoint(url)):
            self._public = None
        elif public_url:
            options = {"client_options": {"allow_http": True}} if public_url.startswith("http:") else {}
            self._public = _opened(url, "PARAPH_STORAGE_PUBLIC_URL", public_url, endpoint=public_url, **options)

    def put(self, key: str, content: bytes | BinaryIO) -> None:
        """Store the object, and set the name that browsers save a download under to the last part of the key, because a
        presigned address cannot set it."""
        name = checked_key(key).rpartition("/")[2]
        attributes = {
            "Content-Type": guess_type(name)[0] or "application/octet-stream",
            "Content-Disposition": f'attachment; filename="{name}"',
        }
        with self._asking():
            obstore.put(self._store, key, content, attributes=cast(Any, attributes), max_concurrency=_AT_ONCE)

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        with TemporaryFile() as file:
            yield StagedObject(file, lambda key: self._keep(file, key))

    def get(self, key: str) -> bytes:
        with self._asking():
            return obstore.get(self._store, checked_key(key)).bytes().to_bytes()

    def open(self, key: str) -> BinaryIO:
        with self._asking():
            reader = obstore.open_reader(self._store, checked_key(key))
        return io.BufferedReader(_ObjectFile(reader, self._asking), _BLOCK)

    def delete(self, *keys: str) -> None:
        """Delete several objects at a time, or each by itself if the bucket refuses to delete one that is missing."""
        try:
            with self._asking():
                obstore.delete(self._store, list(map(checked_key, keys)))
        except FileNotFoundError:
            for key in keys if len(keys) > 1 else ():
                self.delete(key)

    def presign(self, key: str, filename: str, seconds: int) -> str:
        """Return a signed address. A download from the bucket has the name that :meth:`put` has set; one from the
        service has the name ``filename``."""
        if self._public is None:
            return presigned_url(key, filename, seconds)
        return obstore.sign(self._public, "GET", checked_key(key), timedelta(seconds=seconds))

    def free_bytes(self) -> int:
        return disk_usage(gettempdir()).free

    def listing(self, prefix: str, after: str) -> Iterator[tuple[str, int, datetime]]:
        """Yield objects in the bucket's own order, which is that of the keys in S3, Google Cloud and Azure."""
        pages = obstore.list(self._store, checked_key(prefix.rstrip("/")) + "/", offset=after or None)

        def next_page() -> Any:
            with self._asking():
                return next(pages, None)

        for page in iter(next_page, None):
            for entry in page:
                yield entry["path"], entry["size"], entry["last_modified"]

    def sweep(self) -> None:
        """Do nothing: a bucket never shows a half-written object."""

    def _keep(self, file: BinaryIO, key: str) -> None:
        file.seek(0)
        self.put(key, file)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Guard a block that calls the bucket. Raise ``FileNotFoundError``, ``AwayError`` with one sentence, or
        ``NoPlaceError`` if too many threads wait for the bucket."""
        with object_store():
            began, again_at = time.monotonic(), 0.0
            if began < self._again_at:
                raise self._away("did not answer in time, and is asked again in a few seconds")
            if self._again_at:  # this call tries for all others
                self._again_at = began + _IN_ALL
            try:
                yield
            except (BaseError, OSError) as fault:
                seconds, cause = time.monotonic() - began, str(fault).partition("\n\nDebug source")[0]
                again_at = began + seconds + _PAUSE if seconds > _IN_VAIN else 0.0
                if isinstance(fault, NotFoundError | FileNotFoundError):
                    raise FileNotFoundError(cause) from None
                how = f"did not answer within {seconds:.0f} s" if again_at else f"answers: {' '.join(cause.split())}"
                raise self._away(how) from None
            finally:
                self._again_at = again_at

    def _away(self, sentence: str) -> AwayError:
        return AwayError(errno.EIO, f"the object store fails: {self._url} {sentence}")


def _opened(url: str, setting: str, value: str, **options: Any) -> Any:
    for provider, (name, seconds) in product(_PROVIDERS, _TIMES.items()):
        os.environ.setdefault(f"{provider}_{name}", seconds)
    if url.startswith("s3:"):  # deleting many objects at once needs a checksum, which not every store takes
        options["config"] = {"disable_bulk_delete": True}
    try:
        return from_url(url, **options)
    except (BaseError, ValueError, TypeError) as error:
        cause = str(error).splitlines()[0]
        raise DomainError("configuration", f"{setting} {value} is not usable: {cause}.") from error


class _ObjectFile(SeekableFile):
    """Adapt obstore's reader, whose ``read`` does not return ``bytes``, to the standard library's files. Each read
    is guarded by ``asking()``."""

    def __init__(self, reader: Any, asking: Callable[[], AbstractContextManager[None]]) -> None:
        self._reader, self._asking = reader, asking

    def readinto(self, buffer: Any) -> int:
        with self._asking():
            block = self._reader.read(len(buffer)).to_bytes()
        buffer[: len(block)] = block
        return len(block)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))


_VARIABLES = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
    "az": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
}
_INTERNAL_DOMAINS = (".local", ".internal", ".svc", ".lan", ".localdomain", ".home.arpa")


def internal_endpoint(url: str) -> bool:
    """Return whether the endpoint that the environment names for the bucket at ``url`` is private by its very name: a
    private address, a name without a dot, or one in a domain that the Internet does not have."""
    variables = _VARIABLES.get(urlsplit(url).scheme, ())
    named = next((os.environ[name] for name in variables if os.environ.get(name)), "")
    host = urlsplit(named).hostname or ""
    if not host:
        return False
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_INTERNAL_DOMAINS)
