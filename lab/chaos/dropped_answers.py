"""``python -m lab.chaos.dropped_answers [--creations 200]``: every second answer to a creation is lost after its
commit, and nothing is created twice.

The Python client, waiting and awaiting, and the TypeScript client upload and create through a proxy that lets the
service answer and then hangs up. They repeat their calls by themselves; afterwards there are as many documents,
requests and invitations as were asked for.
"""

import argparse
import asyncio
import itertools
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from paraph_client import AsyncClient, Client, DocumentInput, Placement, SignerInput, at
from tests.cli.service import Service
from tests.clients import typescript
from tests.pdf.pdf_factory import paper, text

_INVITED_SECONDS = 120
_CLIENTS = 4
_RETRIES = 20


@contextmanager
def dropping_proxy(url: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the address of a proxy of the service, and the statuses of the answers that the proxy has dropped."""
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


def create(url: str, key: str, creations: int, folder: Path) -> int:
    """Make documents and requests through the proxy, a third of them by each client; return how many answers were lost.
    The TypeScript client is compiled into the folder."""
    client = typescript.compiled(folder)
    shares = [range(first, creations, 3) for first in range(3)]
    with dropping_proxy(url) as (proxy, dropped), ThreadPoolExecutor(_CLIENTS) as threads:
        by_node = threads.submit(_by_node, client, proxy, key, shares[0])
        made = list(threads.map(lambda number: _waiting(proxy, key, number), shares[1]))
        made += threads.map(lambda number: asyncio.run(_awaiting(proxy, key, number)), shares[2])
        made += by_node.result()
    assert len(set(made)) == creations, "two creations were told of one request"
    assert set(dropped) <= {201, 409, 503}, f"the service answered {set(dropped)}"
    return dropped.count(201)


def _by_node(client: Path, url: str, key: str, numbers: Sequence[int]) -> list[int]:
    for number in numbers:
        (client / f"{number}.pdf").write_bytes(_pdf(number))
    environment = {"PARAPH_URL": url, "PARAPH_API_KEY": key}
    arguments = [str(client / f"{number}.pdf") for number in numbers]
    said = typescript.run("node", client / "test" / "creations.js", *arguments, environment=environment)
    made: list[int] = json.loads(said)
    return made


def _waiting(url: str, key: str, number: int) -> int:
    with Client(url, key, retries=_RETRIES) as client:
        document = client.upload_document(_pdf(number))
        return client.create_signature_request(**_request(number, document.id)).id


async def _awaiting(url: str, key: str, number: int) -> int:
    async with AsyncClient(url, key, retries=_RETRIES) as client:
        document = await client.upload_document(_pdf(number))
        return (await client.create_signature_request(**_request(number, document.id))).id


def _pdf(number: int) -> bytes:
    return paper(text(f"Contract {number}", 100, 700))


def _request(number: int, document_id: int) -> dict[str, Any]:
    return {
        "mode": "parallel",
        "validity_days": 1,
        "signers": [SignerInput("a", "Ada", "Lovelace", f"invited{number}@example.com")],
        "documents": [DocumentInput(document_id, [Placement("a", [at(1, 72, 72)])])],
        "send_email": True,
        "identity_declaration_accepted": True,
    }


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
        (folder / "client").mkdir()
        lost = create(service.base_url, key, creations, folder / "client")
        judge(service.base_url, key, service.inbox, creations)
    finally:
        service.stop()
        shutil.rmtree(folder)
    print(f"{creations} documents, requests and invitations; {lost} answers were lost after their commit")


if __name__ == "__main__":
    main()
