"""A site of another origin, which shows a signing page in a frame."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.loopback import Handler, served


@contextmanager
def site(page: Callable[[], str]) -> Iterator[str]:
    """Serve a site with one page. Yield its origin."""

    class Site(Handler):
        def do_GET(self) -> None:
            body = page().encode() if self.path == "/" else b""
            self.send_response(200 if self.path == "/" else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(Site) as server:
        yield server.url
