"""The signing page: the server's time, bytes, and the largest paint on a slow phone.

    python -m benchmarks.page [--requests 100]

A service of its own, with requests of 1, 3 and 81 pages of text, initials on each. Printed are:

- the time until the page has come over an open connection, one request after the other, and the processor time of web
  server and database for each. At most 25 ms.
- kilobytes (1,024 bytes) as they are transferred: HTML (at most 3 at 3 pages, 6 at 81), styles and scripts (at most
  16), and all that the first view of a phone loads (at most 80).
- the largest paint in Chromium as a phone, its processor four times slower, over "Slow 4G" as Chromium's developer
  tools have it: median of five first visits. At most 2.5 s. Needs ``chromium`` and the development requirements.
"""

import argparse
import re
import statistics
import tempfile
import time
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pikepdf

from benchmarks.footprint import footprint
from benchmarks.phone import Visit, visits
from benchmarks.started_service import StartedService
from paraph_client import Client, DocumentInput, Placement, SignerInput, at

_PAGES = (1, 3, 81)
_LINE = b"the party of the first part shall indemnify and hold harmless the second party against any claim"
_VISITS = 5
_LOADED = re.compile(r'"(/(?:static|sign/words)/[^"]+\.(?:css|js)(?:\?[^"]*)?)"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder:
        service = StartedService(Path(folder))
        service.start()
        try:
            client = Client(service.url, _key(service))
            urls = {pages: _request(client, pages) for pages in _PAGES}
            print(
                f"\n{'server':<12}{'median ms':>12}{'p95 ms':>10}{'p99 ms':>10}{'processor ms':>15}{'database ms':>14}"
            )
            for pages, url in urls.items():
                _print_server(service, f"{pages} pages", url, arguments.requests)
            print(f"\n{'KB':<12}{'HTML':>12}{'CSS + JS':>10}{'first view':>12}{'requests':>10}{'largest paint s':>17}")
            for pages, url in urls.items():
                _print_first_view(f"{pages} pages", url)
        finally:
            service.stop()


def _key(service: StartedService) -> str:
    organization = service.operate("organization", "create", "Acme Ltd", "--plan", "pro")["id"]
    options = ["--organization", str(organization), "--environment", "sandbox", "--name", "bench"]
    return str(service.operate("application", "create", *options)["api_key"])


def _request(client: Client, pages: int) -> str:
    """The signing address of a request with one document."""
    document = client.upload_document(_paper(pages), "contract.pdf")
    stamps = [Placement("a", [at(pages, 72, 72)])]
    request = client.create_signature_request(
        mode="parallel",
        validity_days=1,
        initials_required=True,
        signers=[SignerInput("a", "Zoë", "Lindqvist", "zoe@example.com")],
        documents=[DocumentInput(document.id, stamps)],
    )
    url = request.signers[0].signing_url
    assert url
    return url


def _paper(pages: int) -> bytes:
    """A4, 45 lines of text on each page."""
    document = pikepdf.new()
    font = document.make_indirect(
        pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    )
    for number in range(1, pages + 1):
        page = document.add_blank_page(page_size=(595, 842))
        page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        lines = b" T* ".join(b"(%d.%d %s) Tj" % (number, line, _LINE) for line in range(1, 46))
        page.obj.Contents = document.make_stream(b"BT /F1 10 Tf 15 TL 56 770 Td %s ET" % lines)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _print_server(service: StartedService, name: str, url: str, requests: int) -> None:
    asked = urlsplit(url)
    with closing(HTTPConnection(asked.netloc)) as connection:  # httpx would take a fifth of the time itself
        for _ in range(10):
            _come(connection, asked.path)
        before, times = footprint(service.pid, memory=False), []
        for _ in range(requests):
            began = time.perf_counter()
            _come(connection, asked.path)
            times.append((time.perf_counter() - began) * 1000)
    after = footprint(service.pid, memory=False)
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    spent = {kind: (after.seconds[kind] - before.seconds.get(kind, 0)) * 1000 / requests for kind in after.seconds}
    database = sum(milliseconds for kind, milliseconds in spent.items() if kind.startswith("postgres"))
    web = spent.get("paraph-web", 0)
    print(f"{name:<12}{cuts[49]:>12.1f}{cuts[94]:>10.1f}{cuts[98]:>10.1f}{web:>15.1f}{database:>14.1f}")


def _come(connection: HTTPConnection, path: str) -> None:
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    assert response.status == HTTPStatus.OK and response.read()


def _print_first_view(name: str, url: str) -> None:
    html = _transferred(url)
    page = httpx.get(url).text
    loaded = sum(_transferred(str(httpx.URL(url).join(path))) for path in _LOADED.findall(page))
    seen = visits(url, _VISITS)
    view = f"{seen[0].kilobytes:>12.1f}{seen[0].requests:>10}{_paint(seen):>17.2f}" if seen else "  chromium is missing"
    print(f"{name:<12}{html / 1024:>12.1f}{loaded / 1024:>10.1f}{view}")


def _transferred(url: str) -> int:
    with httpx.stream("GET", url, headers={"Accept-Encoding": "gzip"}) as answer:
        return sum(map(len, answer.iter_raw()))


def _paint(seen: list[Visit]) -> float:
    return statistics.median(visit.largest_paint for visit in seen)


if __name__ == "__main__":
    main()
