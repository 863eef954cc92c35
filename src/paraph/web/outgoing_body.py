"""Files on their way to clients. Who reads slowly keeps a thread, so only a quarter of the threads send
(docs/decisions/slow-readers.md)."""

import time
from collections.abc import Callable, Iterator
from functools import cache
from threading import Condition

from django.conf import settings
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

AT_ONCE = 256 * 1024  # bytes that the server takes from the thread without waiting for the client
_BRIEFLY = 0.25  # seconds that anybody waits for a place: a fast client needs less for its file
_PATIENTLY = 2.0
_RETRY_AFTER_SECONDS = 2
_BUSY = "Too many files are being downloaded at the moment. Try again in a few seconds."


class OutgoingBodies:
    """The middleware. Small files leave in one piece; for others there has to be a place, else the answer is 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if not isinstance(response, StreamingHttpResponse) or response.is_async or request.method == "HEAD":
            return response
        if int(response.headers.get("Content-Length", AT_ONCE + 1)) <= AT_ONCE:
            response.streaming_content = [b"".join(_pieces(response))]
        elif places().take():
            response.streaming_content = _Sending(_pieces(response), places().leave)
        else:
            response.close()
            return _refused()
        return response


class Places:
    """``wanted``: when somebody last waited for one."""

    def __init__(self, places: int, patient: int) -> None:
        """``patient``: how many may wait for long."""
        self._free = places
        self._patient = patient
        self._changed = Condition()
        self.wanted = -float("inf")

    def take(self) -> bool:
        """Whether there was one in time."""
        with self._changed:
            if not self._free:
                self._wait()
            if not self._free:
                return False
            self._free -= 1
            return True

    def leave(self) -> None:
        with self._changed:
            self._free += 1
            self._changed.notify()

    def _wait(self) -> None:
        patiently = self._patient > 0
        self._patient -= patiently
        try:
            end = time.monotonic() + (_PATIENTLY if patiently else _BRIEFLY)
            while not self._free and (left := end - time.monotonic()) > 0:
                self.wanted = time.monotonic()
                self._changed.wait(min(left, _BRIEFLY))
        finally:
            self._patient += patiently


@cache
def places() -> Places:
    """Those of this process: a quarter of its threads send, an eighth waits; half of them may wait for others at the
    same time (:mod:`paraph.kernel.waiting`), and some must be left."""
    threads = settings.PARAPH.web_threads
    return Places(max(1, threads // 4), threads // 8)


class _Sending:
    """The pieces of a file, and the place that is free again when it is closed."""

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
        """The server closes it; where that fails before the first piece, its place is not lost."""
        self.close()


def _pieces(response: StreamingHttpResponse) -> Iterator[bytes]:
    """``is_async`` was looked at."""
    return iter(response.streaming_content)  # type: ignore[arg-type]


def _refused() -> JsonResponse:
    headers = {"Cache-Control": "no-store", "Retry-After": str(_RETRY_AFTER_SECONDS)}
    return JsonResponse({"error": {"code": "unavailable", "message": _BUSY}}, status=503, headers=headers)
