"""Files on their way to clients. A client that reads slowly keeps a thread busy where the proxy does not take the file
out at once, so at most a quarter of the threads sends files (docs/decisions/slow-clients.md)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from paraph.kernel.places import NoPlaceError, sending_file
from paraph.server.client_address import client_address, guarded_network
from paraph.server.outage import unavailable

AT_ONCE = 256 * 1024  # bytes that the server takes from the thread without waiting for the client


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
            return response
        place = ExitStack()
        try:
            place.enter_context(sending_file(guarded_network(client_address(request))))
        except NoPlaceError as refusal:
            response.close()
            return unavailable(refusal.message)
        response.streaming_content = _Sending(_pieces(response), place)
        return response


class _Sending:
    """The pieces of a file. Gives its place back when it is closed, or collected: where the server fails before the
    first piece, it never closes it."""

    def __init__(self, pieces: Iterator[bytes], place: ExitStack) -> None:
        self._pieces = pieces
        self._place = place

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._pieces)

    def close(self) -> None:
        self._place.close()


def _pieces(response: StreamingHttpResponse) -> Iterator[bytes]:
    """Yield the pieces of a response that is not asynchronous."""
    return iter(response.streaming_content)  # type: ignore[arg-type]
