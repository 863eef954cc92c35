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


class HttpAuthority:
    """The authority at an address, which may contain a user name and password."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = _without_credentials(url)

    def answer(self, request: bytes, timeout: float) -> bytes:
        """Post the request and return the reply. Raise :class:`AuthorityFailed` for anything but a timestamp reply
        of at most 256 KiB."""
        end = time.monotonic() + timeout
        headers = {"Content-Type": QUERY_TYPE, "Accept": REPLY_TYPE}
        limits = httpx.Timeout(timeout, connect=timeout / 2, pool=timeout / 2)
        try:
            with _client(os.getpid()).stream(
                "POST", self._url, content=request, headers=headers, timeout=limits
            ) as response:
                _check_reply(response)
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > _LARGEST_REPLY:
                        raise AuthorityFailed("its answer is too large")
                    if time.monotonic() > end:
                        raise AuthorityFailed(f"no whole answer within {timeout:.1f} seconds")
                return body
        except httpx.TimeoutException as error:
            raise AuthorityFailed(f"no answer within {timeout:.1f} seconds") from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            raise AuthorityFailed(f"it cannot be reached ({type(error).__name__})") from error


def _check_reply(response: httpx.Response) -> None:
    if response.status_code != 200:
        raise AuthorityFailed(f"it answered with HTTP status {response.status_code}")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != REPLY_TYPE:
        raise AuthorityFailed(f"it answered with {media_type or 'no media type'} instead of a timestamp")


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
