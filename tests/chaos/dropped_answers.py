"""``python -m tests.chaos.dropped_answers [--creations 200]``: every second answer to a creation is lost after its
commit, and nothing is created twice.

Both Python clients upload and create through a proxy that lets the service answer and then hangs up. They repeat their
calls by themselves; afterwards there are as many documents, requests and invitations as were asked for.
"""

import argparse
import asyncio
import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from paraph_client import AsyncClient, Client, DocumentInput, Placement, SignerInput, at
from tests.cli.service import Service
from tests.pdf.pdf_factory import paper, text

_INVITED_SECONDS = 120
_CLIENTS = 4


@contextmanager
def dropping_proxy(url: str) -> Iterator[tuple[str, list[int]]]:
    """The address of a proxy of the service, and the statuses of the answers that it kept to itself."""
    count, dropped, lock = itertools.count(), list[int](), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = httpx.post(f"{url}{self.path}", content=body, headers=dict(self.headers), timeout=60)
            with lock:
                drops = bool(next(count) % 2)
                if drops:
                    dropped.append(answer.status_code)
            self.close_connection = True
            if drops:
                return
            self.send_response(answer.status_code)
            for name in ("Content-Type", "Retry-After"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", dropped
    server.shutdown()
    thread.join()
    server.server_close()


def create(url: str, key: str, creations: int) -> int:
    """Make documents and requests through the proxy, half of them by each client; return how many answers were lost."""
    with dropping_proxy(url) as (proxy, dropped), ThreadPoolExecutor(_CLIENTS) as threads:
        made = list(threads.map(lambda number: _one(proxy, key, number), range(creations)))
    assert len(set(made)) == creations, "two creations were told of one request"
    assert set(dropped) <= {201, 409, 503}, f"the service answered {set(dropped)}"
    return dropped.count(201)


def _one(url: str, key: str, number: int) -> int:
    pdf = paper(text(f"Contract {number}", 100, 700))
    fields: dict[str, Any] = {
        "mode": "parallel",
        "validity_days": 1,
        "signers": [SignerInput("a", "Ada", "Lovelace", f"invited{number}@example.com")],
        "send_email": True,
        "identity_declaration_accepted": True,
    }
    if number % 2:
        with Client(url, key, retries=20) as client:
            document = client.upload_document(pdf)
            return client.create_signature_request(documents=[_signed_by_all(document.id)], **fields).id

    async def by_the_other() -> int:
        async with AsyncClient(url, key, retries=20) as client:
            document = await client.upload_document(pdf)
            made = await client.create_signature_request(documents=[_signed_by_all(document.id)], **fields)
            return made.id

    return asyncio.run(by_the_other())


def _signed_by_all(document_id: int) -> DocumentInput:
    return DocumentInput(document_id, [Placement("a", [at(1, 72, 72)])])


def judge(url: str, key: str, inbox: Any, creations: int) -> None:
    """Raise ``AssertionError`` unless everything is there once. ``inbox``: returns the captured messages."""
    with Client(url, key) as client:
        found = {
            "documents": client.documents(limit=1).pagination.count,
            "requests": client.signature_requests(limit=1).pagination.count,
        }
    assert found == {"documents": creations, "requests": creations}, found
    deadline = time.monotonic() + _INVITED_SECONDS
    while len(invited := _invited(inbox())) < creations:
        assert time.monotonic() < deadline, f"{len(invited)} of {creations} invitations in {_INVITED_SECONDS} s"
        time.sleep(0.5)
    assert len(invited) == len(set(invited)) == creations, "somebody was invited twice"


def _invited(messages: list[dict[str, Any]]) -> list[str]:
    return [each["to"] for each in messages if each["to"].startswith("invited")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--creations", type=int, default=200)
    creations = parser.parse_args().creations
    folder = Path(tempfile.mkdtemp(prefix="paraph-dropped-"))
    service = Service(folder, PARAPH_RATE_LIMIT_FACTOR="20")
    service.start()
    try:
        key = service.first_key()
        lost = create(service.base_url, key, creations)
        judge(service.base_url, key, service.inbox, creations)
    finally:
        service.stop()
        shutil.rmtree(folder)
    print(f"{creations} documents, requests and invitations; {lost} answers were lost after their commit")


if __name__ == "__main__":
    main()
