"""Files on their way to clients. A client that reads slowly keeps a thread busy, so at most a quarter of the threads
sends files (docs/decisions/slow-readers.md)."""

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from threading import Condition

from django.conf import settings
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from paraph.kernel.places import named_tenant
from paraph.server.client_address import client_address, guarded_network

AT_ONCE = 256 * 1024  # bytes that the server takes from the thread without waiting for the client
_BRIEFLY = 0.25  # seconds that anybody waits for a place: a fast client needs less for its file
_PATIENTLY = 2.0
_RETRY_AFTER_SECONDS = 2
_BUSY = "Too many files are being downloaded at the moment. Try again in a few seconds."


class OutgoingBodies:
    """The middleware. A small file leaves in one piece; a larger one needs a place, and without one the response is
    503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if not isinstance(response, StreamingHttpResponse) or response.is_async or request.method == "HEAD":
            return response
        if int(response.headers.get("Content-Length", AT_ONCE + 1)) <= AT_ONCE:
            response.streaming_content = [b"".join(_pieces(response))]
        elif places().take(party := named_tenant() or guarded_network(client_address(request))):
            response.streaming_content = _Sending(_pieces(response), partial(places().leave, party))
        else:
            response.close()
            return _refused()
        return response


class DownloadPlaces:
    """Places for threads that send files: for one party, a tenant or else a client's network, at most half of them (one
    at least). ``wanted``: when a request last waited for one."""

    def __init__(self, places: int, patient: int) -> None:
        """``patient``: how many requests may wait for long."""
        self._places = places
        self._taken: list[str] = []  # the party of each place
        self._patient = patient
        self._changed = Condition()
        self.wanted = -float("inf")

    def take(self, party: str = "") -> bool:
        """Take a place and return True, or False if none became free in time."""
        with self._changed:
            if not self._has_room(party):
                self._wait(party)
            if not self._has_room(party):
                return False
            self._taken.append(party)
            return True

    def leave(self, party: str = "") -> None:
        with self._changed:
            self._taken.remove(party)
            self._changed.notify_all()

    def _has_room(self, party: str) -> bool:
        is_within_share = not party or self._taken.count(party) < max(1, self._places // 2)
        return len(self._taken) < self._places and is_within_share

    def _wait(self, party: str) -> None:
        patiently = self._patient > 0
        self._patient -= patiently
        try:
            end = time.monotonic() + (_PATIENTLY if patiently else _BRIEFLY)
            while not self._has_room(party) and (left := end - time.monotonic()) > 0:
                self.wanted = time.monotonic()
                self._changed.wait(min(left, _BRIEFLY))
        finally:
            self._patient += patiently


@cache
def places() -> DownloadPlaces:
    """Return the places of this process: a quarter of its threads may send, an eighth may wait for long. Others do
    expensive work at the same time (:mod:`paraph.kernel.places`), and some must be left."""
    threads = settings.PARAPH.web_threads
    return DownloadPlaces(max(1, threads // 4), threads // 8)


class _Sending:
    """The pieces of a file. Gives its place back when it is closed."""

    def __init__(self, pieces: Iterator[bytes], leave: Callable[[], None]) -> None:
        self._pieces = pieces
        self._leave = leave
        self._ended = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._pieces)

    def close(self) -> None:
        if not self._ended:
            self._ended = True
            self._leave()

    def __del__(self) -> None:
        """Give the place back where the server fails before the first piece and never closes it."""
        self.close()


def _pieces(response: StreamingHttpResponse) -> Iterator[bytes]:
    """Yield the pieces of a response that is not asynchronous."""
    return iter(response.streaming_content)  # type: ignore[arg-type]


def _refused() -> JsonResponse:
    headers = {"Cache-Control": "no-store", "Retry-After": str(_RETRY_AFTER_SECONDS)}
    return JsonResponse({"error": {"code": "unavailable", "message": _BUSY}}, status=503, headers=headers)
