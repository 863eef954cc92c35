"""As much of S3 as a bucket of ours needs, over HTTP: objects are put, whole and in parts, read in ranges, listed,
deleted. The server refuses headers with checksums, as some stores do. A signed address must be signed for the very
host that it is requested from."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate, parsedate_to_datetime
from hashlib import md5
from threading import Event
from typing import ClassVar, Literal
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.loopback import Handler, served

ID, SECRET, REGION = "id", "secret", "us-east-1"
_UNKNOWN = ("x-amz-checksum", "x-amz-sdk-checksum", "x-amz-trailer", "transfer-encoding")
_KEPT = ("Content-Type", "Content-Disposition")


class Line:
    """The line to a server. ``asked``: how many requests came. ``goes``: ``on``; ``silent``: requests are taken and not
    answered; ``slowly``: the head of an answer comes, and then a byte now and then."""

    def __init__(self) -> None:
        self.address, self.asked = "", 0
        self.goes: Literal["on", "silent", "slowly"] = "on"
        self.ended = Event()

    def still_goes(self, how: str, seconds: float) -> bool:
        return self.goes == how and not self.ended.wait(seconds)


@contextmanager
def hanging_s3_server(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[Line]:
    """Yield the line to a server on this machine, which is known as ``host``. Its address begins with ``http:`` even
    where it speaks TLS."""
    line = Line()
    handler = type("Handler", (_Handler,), {"objects": {}, "uploads": {}, "line": line})
    with served(handler, host, tls) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # of clients that were killed
        line.address = f"http://{host}:{server.server_port}"
        try:
            yield line
        finally:
            line.ended.set()


@contextmanager
def s3_server(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Yield the address of a server that answers everything."""
    with hanging_s3_server(host, tls) as line:
        yield line.address


def variables(address: str) -> dict[str, str]:
    """The environment of a client of the server at this address."""
    known = {"AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION}
    return known | {"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true"}


def use(monkeypatch: pytest.MonkeyPatch, address: str, **more: str) -> None:
    """Make this process a client of the server at this address."""
    for name, value in (variables(address) | more).items():
        monkeypatch.setenv(name, value)


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict[str, tuple[bytes, dict[str, str]]]]
    uploads: ClassVar[dict[str, dict[int, bytes]]]
    line: ClassVar[Line]

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        unknown = [name for name in self.headers if name.lower().startswith(_UNKNOWN)]
        if unknown or "STREAMING" in self.headers.get("x-amz-content-sha256", ""):
            self.close_connection = True
            self._answer(501, b"<Error><Code>NotImplemented</Code></Error>")
        self.line.asked += 1
        while self.line.still_goes("silent", 0.05):
            pass
        return not unknown

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if part := parse_qs(urlsplit(self.path).query).get("partNumber"):
            self.uploads[self._name()][int(part[0])] = content
            self._answer(200, b"", {"ETag": _etag(content)})
            return
        kept = {name: self.headers[name] for name in _KEPT if name in self.headers}
        self.objects[self._name()] = content, {**kept, "Last-Modified": formatdate(usegmt=True)}
        self._answer(200, b"", {"ETag": _etag(content)})

    def do_POST(self) -> None:
        """Begin or complete an upload in parts."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "uploads" in parse_qs(urlsplit(self.path).query, keep_blank_values=True):
            self.uploads[self._name()] = {}
            self._answer(200, b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
            return
        parts = self.uploads.pop(self._name())
        numbers = [
            each.text or "" for each in ElementTree.fromstring(content).iter() if each.tag.endswith("PartNumber")
        ]
        whole = b"".join(parts[int(number)] for number in numbers)
        self.objects[self._name()] = whole, {"Last-Modified": formatdate(usegmt=True)}
        told = f"<CompleteMultipartUploadResult><ETag>{_etag(whole)}</ETag></CompleteMultipartUploadResult>"
        self._answer(200, told.encode())

    def do_DELETE(self) -> None:
        self.objects.pop(self._name(), None)
        self._answer(204)

    def do_GET(self) -> None:
        if "X-Amz-Signature" in self.path and not self._is_signed():
            self._answer(403)
            return
        if "list-type" in (asked := parse_qs(urlsplit(self.path).query)):
            self._answer(200, self._list(asked))
            return
        if self._name() not in self.objects:
            self._answer(404)
            return
        content, headers = self.objects[self._name()]
        headers = {**headers, "ETag": _etag(content)}
        if "Range" not in self.headers:
            self._answer(200, content, headers)
            return
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        part = content[int(first) : int(last) + 1]
        span = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
        self._answer(206, part, {**headers, "Content-Range": span})

    do_HEAD = do_GET

    def _name(self) -> str:
        return unquote(urlsplit(self.path).path)

    def _list(self, asked: dict[str, list[str]]) -> bytes:
        """List all objects in one answer, however many there are, and without folders."""
        bucket = self._name().rstrip("/") + "/"
        [prefix], [after] = asked.get("prefix", [""]), asked.get("start-after", [""])
        names = sorted(name.removeprefix(bucket) for name in list(self.objects) if name.startswith(bucket + prefix))
        listed = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>{_iso(headers)}</LastModified>"
            f"<ETag>{_etag(content)}</ETag><Size>{len(content)}</Size></Contents>"
            for name in names
            if name > after
            for content, headers in [self.objects[bucket + name]]
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode()

    def _is_signed(self) -> bool:
        address, _, given = f"http://{self.headers['Host']}{self.path}".rpartition("&X-Amz-Signature=")
        auth = S3SigV4QueryAuth(Credentials(ID, SECRET), "s3", REGION)
        request = AWSRequest("GET", address)
        request.context["timestamp"] = parse_qs(urlsplit(address).query)["X-Amz-Date"][0]
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return bool(auth.signature(text, request) == given)

    def _answer(self, status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            while content and self.line.still_goes("slowly", 0.02):
                self.wfile.write(content[:1])
                content = content[1:]
            self.wfile.write(content)


def _iso(headers: dict[str, str]) -> str:
    return parsedate_to_datetime(headers["Last-Modified"]).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _etag(content: bytes) -> str:
    return f'"{md5(content, usedforsecurity=False).hexdigest()}"'
