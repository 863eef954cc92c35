"""A tenant that wants all of the service for itself, with a free key and everything that it may send."""

import contextlib
import itertools
import json
import multiprocessing
import os
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.pdf.costly import forms
from tests.pdf.hostile import nested_forms
from tests.pdf.hostile_proofs import costly_journal, many_values, pages_of_one_text
from tests.pdf.pdf_factory import paper, text

_PATIENCE_SECONDS = 30
_HEAD_SECONDS = 10  # after which the service hangs up on a client that has sent no head
_KEPT_SECONDS = 5  # for which the client keeps an idle connection
_PAUSE_SECONDS = 0.25  # the attacker shares this machine: its own work must not slow others down
_HUNG_UP = {"RemoteProtocolError", "ReadError", "WriteError"}
_SILENT = 200
_STOPPED_READERS = 10


@dataclass(frozen=True)
class HostileKeys:
    """The tenant's keys of both environments, and the login of a member who may send."""

    organization: int
    sandbox: str
    production: str
    email: str
    password: str


class HostileTenant:
    """A tenant that attacks from a process of its own while the context lasts. Afterwards ``answers`` counts, for each
    attack, the statuses and the names of errors. ``chosen``: parts of the names of attacks, all by default."""

    def __init__(self, base_url: str, keys: HostileKeys, chosen: Sequence[str] = ("",)) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.answers: dict[str, Counter[str]] = {}
        self._told, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_attack, args=(base_url, keys, chosen, theirs), daemon=True)

    def __enter__(self) -> "HostileTenant":
        self._process.start()
        self._told.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._told.send("enough")
        self.answers = self._told.recv()
        self._process.join()


def come_last() -> None:
    """Let this process run only when the processors are idle, because a real attacker would use another machine. The
    session has to come last too: kernels that share processors by session (autogroup) do so before they look at
    priorities."""
    os.setsid()
    with contextlib.suppress(FileNotFoundError):
        Path("/proc/self/autogroup").write_text("19")
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class LateError(httpx.TransportError):
    """The client, which runs last, sent its head so late that the service had to take it for a silent connection."""


class Punctual(httpx.HTTPTransport):
    """A transport that raises :class:`LateError` where the service hangs up on a client that was late."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        began = sent = time.monotonic()
        left = _HEAD_SECONDS - _KEPT_SECONDS

        def note(event: str, _: object) -> None:
            nonlocal sent, left
            if event == "connection.connect_tcp.started":
                left = _HEAD_SECONDS
            elif event.startswith("http11.send_request_headers"):
                sent = time.monotonic()

        request.extensions["trace"] = note
        try:
            return super().handle_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            if sent - began < left:
                raise
            raise LateError("the head was late") from error


def unanswered(answers: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield a sentence for each attack that includes calls without an answer."""
    for name, counts in answers.items():
        errors = {each: count for each, count in counts.items() if each in _HUNG_UP}
        if errors:
            yield f"Some of the {name} got no answer: {errors}."


def _attack(base_url: str, keys: HostileKeys, chosen: Sequence[str], told: Any) -> None:
    come_last()
    with _Attacks(base_url, keys, chosen) as attacks:
        told.send("begun")
        told.recv()
    told.send(attacks.answers)


class _Attacks:
    def __init__(self, base_url: str, keys: HostileKeys, chosen: Sequence[str]) -> None:
        self.answers: dict[str, Counter[str]] = {}
        self._chosen = chosen
        self._base = base_url
        limits = httpx.Limits(max_connections=None, keepalive_expiry=_KEPT_SECONDS)
        self._client = httpx.Client(timeout=_PATIENCE_SECONDS, transport=Punctual(limits=limits))
        self._keys = keys
        self._key = {"X-Api-Key": keys.sandbox}
        self._browser = httpx.Client(base_url=base_url, timeout=_PATIENCE_SECONDS, transport=Punctual())
        self._slow = nested_forms()
        drawn = {"type": "drawn", "strokes": [[["x", 2]] * 45_000]}
        self._points = json.dumps({"code": "123456", "consent": True, "signature": drawn}).encode()
        assigned = {"documents": [{"id": 1, "signers": [{}] * 300_000}]}
        self._assignments = json.dumps({"signature_request": assigned}, separators=(",", ":")).encode()
        self._nested = b'{"template": {"a": ' + b"[" * 700 + b"]" * 700 + b"}}"
        self._proofs = [costly_journal(), many_values(), pages_of_one_text()]
        self._visitors = itertools.count(1)
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> "_Attacks":
        signing_url = self._slow_request()
        large = self._upload(paper(text("a", 50, 50)) + b"\n" * (18 << 20)).json()
        download = str(self._get(f"documents/{large['id']}").json()["download_url"]) if "id" in large else ""
        document, requests = (
            int(self._upload(paper(text("a", 50, 50))).json()["id"]),
            f"{self._base}/api/v1/signature_requests",
        )
        preview = f"{requests}/preview"
        template, filled = self._template(document), self._filled(document)
        draft, bulk = self._draft(), self._bulk()
        people = b"First name,Last name,E-mail\r\n" + b"Ada,Byron,a@example.com\r\n" * 300
        attacks: list[tuple[str, int, Callable[[int], Any]]] = [
            ("slow PDFs", 12, lambda number: self._upload(self._slow + b"%%%d\n" % number)),
            ("slow pictures", 8, lambda _: self._client.get(f"{signing_url}/{self._picture}")),
            ("bad points", 4, lambda _: self._send(f"{signing_url}/signature", self._points)),
            ("bad assignments", 2, lambda _: self._send(f"{self._base}/api/v1/signature_requests", self._assignments)),
            ("codes", 2, lambda _: self._client.post(f"{signing_url}/otp", json={"channel": "email"})),
            ("guesses", 2, lambda number: self._guess(signing_url, number)),
            ("lists", 2, lambda _: self._get("signature_requests?limit=100")),
            ("lists of templates", 4, lambda _: self._get("templates?limit=100")),
            ("templates", 1, lambda _: self._get(f"templates/{template}")),
            ("previews of values", 16, lambda number: self._send(preview, self._values(document, number))),
            (
                "previews as PDF",
                4,
                lambda number: self._send(preview, self._values(document, number), "application/pdf"),
            ),
            ("creations with values", 4, lambda number: self._send(requests, self._values(document, number))),
            ("pages of values", 8, lambda _: self._client.get(f"{filled}/documents/{document}/pages/1-values.svg")),
            ("nested bodies", 2, lambda _: self._send(f"{self._base}/api/v1/templates", self._nested)),
            ("the editor", 4, lambda _: self._browser.get(f"{draft}/places")),
            ("Review", 4, lambda _: self._browser.get(f"{draft}/review")),
            ("people in a table", 2, lambda _: self._post_form(bulk, files={"file": ("people.csv", people)})),
            ("verdicts", 60, lambda _: self._verify()),
            ("silent connections", 1, lambda _: self._be_silent()),
            ("stopped readers", 1, lambda _: self._stop_reading(download)),
        ]
        for name, count, attack in attacks:
            if not any(part in name for part in self._chosen):
                continue
            self.answers[name] = Counter()
            for _ in range(count):
                self._threads.append(threading.Thread(target=self._work, args=(name, attack), daemon=True))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for connection in self._sockets:
            connection.close()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS)

    def _work(self, name: str, attack: Callable[[int], Any]) -> None:
        numbers = itertools.count()
        while not self._stopping.wait(_PAUSE_SECONDS):
            try:
                answer = attack(next(numbers))
                self.answers[name][str(getattr(answer, "status_code", "done"))] += 1
            except (httpx.HTTPError, OSError) as error:
                self.answers[name][type(error).__name__] += 1

    def _verify(self) -> httpx.Response:
        """Ask ``/verify`` from a new address each time, because an address has only ten verdicts a minute."""
        number = next(self._visitors)
        visitor = Punctual(local_address=f"127.1.{number >> 8 & 255}.{number & 255}")
        proof = self._proofs[number % len(self._proofs)]
        files = [("file", ("proof.pdf", proof)), ("file", ("signed.pdf", self._slow))]
        with httpx.Client(transport=visitor, timeout=_PATIENCE_SECONDS) as client:
            return client.post(f"{self._base}/verify", files=files)

    def _slow_request(self) -> str:
        """Return the signing address of a request whose last page is as slow to draw as an upload may be."""
        sizes = itertools.chain.from_iterable(itertools.repeat((600, 450, 300, 200)))
        while (answer := self._upload(forms(next(sizes), page=2))).status_code != 201:
            time.sleep(0.2)
        document = answer.json()["id"]
        self._picture = f"documents/{document}/pages/2.webp"
        stamps = [{"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}]
        signer = {"ref": "a", "first_name": "A", "last_name": "B", "email": "a@example.com"}
        fields = {
            "mode": "parallel",
            "validity_days": 1,
            "signers": [signer],
            "documents": [{"id": document, "signers": [{"signer_ref": "a", "stamps": stamps}]}],
        }
        made = self._post("signature_requests", json={"signature_request": fields})
        return str(made.json()["signers"][0]["signing_url"])

    def _values(self, document: int, number: int, size: int = 20) -> bytes:
        """Return a request with as many values as the plan allows, all new, so that each has to be measured."""
        at = {"page_number": 1, "x": 60, "y": 60, "width": 300, "height": size}
        fields = [
            {
                "type": "multiline",
                "name": f"F{each}",
                "required": False,
                "value": f"{number} {each} " + "Zürich שלום ก็ได้ 漢字" * 40 + f" {time.monotonic()}",
                "placement": {"type": "coordinates", "value": at},
            }
            for each in range(50)
        ]
        return json.dumps({"signature_request": self._request(document, 5, {"fields": fields})}).encode()

    def _request(self, document: int, count: int, more: dict[str, Any]) -> dict[str, Any]:
        stamps = [{"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}]
        refs = "abcde"[:count]
        people = [{"ref": ref, "first_name": "A", "last_name": ref, "email": f"{ref}@example.com"} for ref in refs]
        signers = [{"signer_ref": ref, "stamps": stamps, **more} for ref in refs]
        return {
            "mode": "parallel",
            "validity_days": 1,
            "signers": people,
            "documents": [{"id": document, "signers": signers}],
        }

    def _draft(self) -> str:
        """Return the address of a draft with as many fields as are allowed, prepared by a program for the member."""
        documents = [self._production(f"letter {number}") for number in range(3)]
        place = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
        fields = [{"type": "text", "name": f"F{each}", "required": False, "placement": place} for each in range(50)]
        wanted = self._request(documents[0], 5, {"fields": fields})
        wanted["documents"] = [wanted["documents"][0] | {"id": document} for document in documents]
        made = self._production_post("drafts", {"signature_request": wanted})
        return urlsplit(str(made["review_url"])).path.removesuffix("/review")

    def _bulk(self) -> str:
        """Log the member in, and return the path of the page that sends a template to a table of people."""
        place = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
        assigned = [{"id": self._production("lease"), "roles": [{"role": "T", "stamps": [place]}]}]
        content = {"name": "Lease", "mode": "parallel", "validity_days": 1, "roles": [{"name": "T"}]}
        template = self._production_post("templates", {"template": content | {"documents": assigned}})["id"]
        self._post_form("/account/login/", data={"login": self._keys.email, "password": self._keys.password})
        return f"/app/{self._keys.organization}/templates/{template}/bulk"

    def _production(self, words: str) -> int:
        files = {"file": ("a.pdf", paper(text(words, 50, 50)), "application/pdf")}
        return int(self._production_post("documents", files=files)["id"])

    def _production_post(self, path: str, body: Any = None, **what: Any) -> Any:
        headers = {"X-Api-Key": self._keys.production}
        answer = self._client.post(f"{self._base}/api/v1/{path}", headers=headers, json=body, **what)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def _post_form(self, address: str, data: Any = None, **what: Any) -> httpx.Response:
        """Post the form of a page as a browser does, if the page comes."""
        page = self._browser.get(address)
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        if found is None:
            return page
        sent = {**(data or {}), "csrfmiddlewaretoken": found[1]}
        return self._browser.post(address, data=sent, headers={"Referer": str(page.url)}, **what)

    def _filled(self, document: int) -> str:
        """Return the signing address of a request whose page shows many values, with room for each."""
        made = self._send(f"{self._base}/api/v1/signature_requests", self._values(document, 0, size=600))
        return str(made.json()["signers"][0]["signing_url"])

    def _template(self, document: int) -> int:
        """Make ten templates that are as long as possible; return the id of the last."""
        options = [f"{each} {'x' * 190}" for each in range(50)]
        at = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
        fields = [{"type": "choice", "name": f"F{each}", "options": options, "placement": at} for each in range(50)]
        roles = [{"role": "T", "stamps": [at], "fields": fields}]
        content = {"name": "Large", "roles": [{"name": "T"}], "documents": [{"id": document, "roles": roles}]}
        made = [
            self._post("templates", json={"template": content | {"mode": "parallel", "validity_days": 1}})
            for _ in range(10)
        ]
        return int(made[-1].json()["id"])

    def _send(self, url: str, body: bytes, accept: str = "*/*") -> httpx.Response:
        headers = self._key | {"Content-Type": "application/json", "Accept": accept}
        return self._client.post(url, content=body, headers=headers)

    def _guess(self, signing_url: str, number: int) -> httpx.Response:
        body = {"code": f"{number % 1_000_000:06}", "consent": True}
        return self._client.post(f"{signing_url}/signature", json=body)

    def _be_silent(self) -> None:
        """Keep many connections open without sending anything; replace those that the service has closed."""
        while len(self._sockets) < _SILENT and not self._stopping.is_set():
            self._sockets.append(self._connected())
        for connection in list(self._sockets):
            with contextlib.suppress(BlockingIOError):
                if not connection.recv(1, socket.MSG_DONTWAIT):
                    connection.close()
                    self._sockets.remove(connection)

    def _stop_reading(self, address: str) -> None:
        """Ask for a large file on several connections, and read none of it for a while."""
        parts = urlsplit(address)
        asked = [self._connected() for _ in range(_STOPPED_READERS)]
        for connection in asked:
            connection.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self._stopping.wait(5)
        for connection in asked:
            connection.close()

    def _connected(self) -> socket.socket:
        parts = urlsplit(self._base)
        return socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_PATIENCE_SECONDS)

    def _upload(self, pdf: bytes) -> httpx.Response:
        return self._post("documents", files={"file": ("a.pdf", pdf, "application/pdf")})

    def _post(self, path: str, **what: Any) -> httpx.Response:
        return self._client.post(f"{self._base}/api/v1/{path}", headers=self._key, **what)

    def _get(self, path: str) -> httpx.Response:
        return self._client.get(f"{self._base}/api/v1/{path}", headers=self._key)
