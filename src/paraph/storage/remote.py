"""Objects in a bucket (s3://, gs:// or az://), through obstore.

Credentials and endpoints come from the variables of the provider's own tools (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL``, ``GOOGLE_APPLICATION_CREDENTIALS``, ``AZURE_STORAGE_ACCOUNT_KEY`` …). Addresses of downloads are
signed for the endpoint that callers reach; where there is none, the service hands the objects out itself.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from ipaddress import ip_address
from mimetypes import guess_type
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

from paraph.kernel.errors import DomainError
from paraph.kernel.settings import SERVED_BY_US
from paraph.storage.objects import StagedObject, checked_key
from paraph.storage.presign import presigned_url

_BLOCK = 1 << 20


class RemoteStore:
    """The store at ``url``, whose endpoint callers reach at ``public_url``; "": they reach the same, unless it is known
    to be internal. Raise ``DomainError("configuration", …)`` when obstore cannot use it."""

    faults: tuple[type[Exception], ...] = (BaseError, OSError)

    def __init__(self, url: str, public_url: str = "") -> None:
        self._store = _opened(url, "PARAPH_STORAGE_URL", url)
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
        obstore.put(self._store, key, content, attributes=cast(Any, attributes))

    @contextmanager
    def stage(self) -> Iterator[StagedObject]:
        with TemporaryFile() as file:
            yield StagedObject(file, lambda key: self._keep(file, key))

    def get(self, key: str) -> bytes:
        try:
            return obstore.get(self._store, checked_key(key)).bytes().to_bytes()
        except obstore.exceptions.NotFoundError as error:
            raise FileNotFoundError(key) from error

    def open(self, key: str) -> BinaryIO:
        try:
            reader = obstore.open_reader(self._store, checked_key(key))
        except obstore.exceptions.NotFoundError as error:
            raise FileNotFoundError(key) from error
        return io.BufferedReader(_ObjectFile(reader), _BLOCK)

    def delete(self, *keys: str) -> None:
        """Delete several at a time; each by itself in a bucket that refuses one which is gone."""
        try:
            obstore.delete(self._store, list(map(checked_key, keys)))
        except FileNotFoundError:
            for key in keys if len(keys) > 1 else ():
                self.delete(key)

    def presign(self, key: str, filename: str, seconds: int) -> str:
        """Sign an address. The bucket saves a download under the name that :meth:`put` has set, the service under
        ``filename``."""
        if self._public is None:
            return presigned_url(checked_key(key), filename, seconds)
        return obstore.sign(self._public, "GET", checked_key(key), timedelta(seconds=seconds))

    def free_bytes(self) -> int:
        return disk_usage(gettempdir()).free

    def listing(self, prefix: str, after: str) -> Iterator[tuple[str, datetime]]:
        """In the order in which the bucket lists, which is that of the keys in S3, Google Cloud and Azure."""
        for page in obstore.list(self._store, checked_key(prefix.rstrip("/")) + "/", offset=after or None):
            yield from ((entry["path"], entry["last_modified"]) for entry in page)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the length of each object in a folder of keys, by its key."""
        pages = obstore.list(self._store, checked_key(folder) + "/")
        return {entry["path"]: entry["size"] for page in pages for entry in page}

    def sweep(self) -> None:
        """Do nothing: a bucket never shows a half-written object."""

    def _keep(self, file: BinaryIO, key: str) -> None:
        file.seek(0)
        self.put(key, file)


def _opened(url: str, setting: str, value: str, **options: Any) -> Any:
    if url.startswith("s3:"):  # deleting many objects at once needs a checksum, which not every store takes
        options["config"] = {"disable_bulk_delete": True}
    try:
        return from_url(url, **options)
    except (BaseError, ValueError, TypeError) as error:
        cause = str(error).splitlines()[0]
        raise DomainError("configuration", f"{setting} {value} is not usable: {cause}.") from error


class _ObjectFile(io.RawIOBase):
    """Adapt obstore's reader, whose ``read`` does not return ``bytes``, to the standard library's files."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
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
