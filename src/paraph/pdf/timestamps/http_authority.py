"""A timestamp authority reached over HTTP (RFC 3161 §3.4)."""

import atexit
import os
import time
from functools import lru_cache

import httpx

from paraph.pdf.timestamps.timestamp import AuthorityFailed

QUERY_TYPE = "application/timestamp-query"
REPLY_TYPE = "application/timestamp-reply"
_LARGEST_REPLY = 256 * 1024
_MOST_REDIRECTS = 3
_REDIRECTS = {301, 302, 307, 308}
_DROPPED = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""What a server that has closed a kept connection makes of the next request on it."""


class HttpAuthority:
    """The authority at an address, which may contain a user name and password."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = _without_credentials(url)

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Post the request and return the reply, at most 256 KiB. Raise :class:`AuthorityFailed` where none comes.

        Whatever media type the reply has, the token in it is verified. A redirect on the same host is followed; a
        connection that breaks is tried once more with a fresh one.
        """
        end = time.monotonic() + timeout
        try:
            try:
                return self._reply(_client(os.getpid()), request, end)
            except _DROPPED:
                with httpx.Client(follow_redirects=False) as fresh:
                    return self._reply(fresh, request, end)
        except httpx.TimeoutException as error:
            raise AuthorityFailed(f"no answer within {timeout:.1f} seconds") from error
        except TimeoutError as error:
            raise AuthorityFailed(f"no whole answer within {timeout:.1f} seconds") from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise AuthorityFailed(f"it cannot be reached ({type(error).__name__})") from error

    def _reply(self, client: httpx.Client, request: bytes, end: float) -> bytes:
        url = httpx.URL(self._url)
        headers = {"Content-Type": QUERY_TYPE, "Accept": REPLY_TYPE}
        for _ in range(1 + _MOST_REDIRECTS):
            seconds = _left(end)
            limits = httpx.Timeout(seconds, connect=seconds / 2, pool=seconds / 2)
            with client.stream("POST", url, content=request, headers=headers, timeout=limits) as response:
                if response.status_code not in _REDIRECTS:
                    return _body(response, end)
                url = _target(url, response.headers.get("location", ""))
        raise AuthorityFailed(f"it redirects more than {_MOST_REDIRECTS} times")


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _target(url: httpx.URL, location: str) -> httpx.URL:
    """Return where a redirect leads. To another host, or back to http, the operator has to send us."""
    target = url.join(location)
    if target.host != url.host or target.scheme not in {url.scheme, "https"}:
        shown = _without_credentials(str(target))
        raise AuthorityFailed(f"it redirects to {shown}, which PARAPH_TIMESTAMP_AUTHORITIES may name instead")
    return target.copy_with(username=url.username, password=url.password)


def _body(response: httpx.Response, end: float) -> bytes:
    if response.status_code != 200:
        raise AuthorityFailed(f"it answered with HTTP status {response.status_code}")
    body = b""
    for part in response.iter_bytes():
        body += part
        if len(body) > _LARGEST_REPLY:
            raise AuthorityFailed("its answer is too large")
        _left(end)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != REPLY_TYPE and body[:1] != b"\x30":
        raise AuthorityFailed(f"it answered with {media_type or 'no media type'} instead of a timestamp")
    return body


@lru_cache(maxsize=1)
def _client(process: int) -> httpx.Client:
    """Return the connection pool of the process: a forked one must not share its parent's sockets."""
    del process
    client = httpx.Client(follow_redirects=False)
    atexit.register(client.close)
    return client


def _without_credentials(url: str) -> str:
    try:
        return str(httpx.URL(url).copy_with(username=None, password=None, query=None))
    except (httpx.InvalidURL, TypeError, ValueError):
        return "the timestamp authority with an impossible address"
