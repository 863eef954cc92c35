"""``python -m paraph_client listen``: events of a sandbox come to a receiver on a developer's machine as webhooks."""

import json
import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import NoReturn

import httpx

from paraph_client.answers import Event
from paraph_client.clients import Client
from paraph_client.errors import ParaphError
from paraph_client.webhooks import signature_of

_LIVELY_SECONDS, _LIVELY_WAIT, _IDLE_WAIT = 60.0, 1.0, 5.0
_RETRY_WAIT = 5.0
_RECEIVER_SECONDS = 5.0  # as the service gives webhooks
_PASSING = 500  # statuses from here on, and 429, are outages


def listen(
    url: str,
    key: str,
    forward_to: str,
    *,
    secret: str | None = None,
    since: str | None = None,
    event: str | None = None,
) -> int | str:
    """Forward events until Ctrl-C; return 0, or the sentence that says why it does not go on.

    Goes on behind the cursor ``since``, or from now on; with ``event``, only those of this type. Whatever the receiver
    does not take with a 2xx comes again until it does, in order. Outages of either side are waited for."""
    client = Client(url, key)
    receiver = httpx.Client(timeout=_RECEIVER_SECONDS)
    with client, receiver:
        listener = _Listener(client, receiver, forward_to, secret or secrets.token_hex(32), since, event)
        try:
            listener.begin(told_secret=secret is None)
            listener.run()
        except _Ended as end:
            return str(end)
        except KeyboardInterrupt:
            _tell(f"\nTo go on from here: --since {listener.cursor}" if listener.cursor else "")
            return 0


class _Ended(Exception):
    """Why there is nothing more to wait for."""


@dataclass
class _Listener:
    """``cursor`` is that of the page at work, of which the receiver has ``taken`` the events with these ids."""

    client: Client
    receiver: httpx.Client
    forward_to: str
    secret: str
    cursor: str | None
    event: str | None
    taken: set[int] = field(default_factory=set)
    lively_until: float = 0.0

    def begin(self, *, told_secret: bool) -> None:
        """Find the place to begin at."""
        while not self._reached():
            time.sleep(_RETRY_WAIT)
        _tell(f"Forwarding events to {self.forward_to}. Ctrl-C ends.")
        if told_secret:
            _tell(f"They are signed with PARAPH_WEBHOOK_SECRET={self.secret}")

    def run(self) -> NoReturn:
        while True:
            time.sleep(self._round())

    def _reached(self) -> bool:
        try:
            if self.client.health().environment != "sandbox":
                raise _Ended(
                    "PARAPH_API_KEY is a key of production. Only events of a sandbox are forwarded, so that what real "
                    "people sign does not go to a developer's machine."
                )
            self.cursor = self.cursor or self.client.list_events(after="latest").next
        except (httpx.TransportError, ParaphError) as error:
            _outage(error)
            return False
        return True

    def _round(self) -> float:
        """Forward a page of events; return the seconds to wait before the next round."""
        try:
            page = self.client.list_events(after=self.cursor, limit=100, event=self.event)
        except (httpx.TransportError, ParaphError) as error:
            _outage(error)
            return _RETRY_WAIT
        for event in page.data:
            if event.id in self.taken:
                continue
            self.lively_until = time.monotonic() + _LIVELY_SECONDS
            if not self._forwarded(event):
                return _RETRY_WAIT  # and then asked for anew: its links must be fresh
            self.taken.add(event.id)
        self.cursor = page.next
        self.taken.clear()
        if page.has_more:
            return 0.0
        return _LIVELY_WAIT if time.monotonic() < self.lively_until else _IDLE_WAIT

    def _forwarded(self, event: Event) -> bool:
        """Whether the receiver took the event."""
        body = json.dumps(event.payload, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Paraph-Webhooks/1",
            "X-Service-Event": event.event,
            "X-Service-Event-Id": str(event.id),
            "X-Service-Delivery": str(uuid.uuid4()),
            "X-Service-Signature": signature_of(body, self.secret),
        }
        began, status, took = time.monotonic(), "no answer", False
        try:
            answer = self.receiver.post(self.forward_to, content=body, headers=headers)
            status, took = str(answer.status_code), answer.is_success
        except httpx.TransportError as error:
            status = f"no answer ({type(error).__name__})"
        milliseconds = round((time.monotonic() - began) * 1000)
        again = "" if took else f"; again in {_RETRY_WAIT:.0f} s"
        _tell(f"{event.event}  request {event.signature_request.id}  {status}  {milliseconds} ms{again}")
        return took


def _outage(error: httpx.TransportError | ParaphError) -> None:
    """Tell of an outage. Raises ``_Ended`` where it is none, and asking again does not help."""
    if isinstance(error, ParaphError) and error.status < _PASSING and error.status != httpx.codes.TOO_MANY_REQUESTS:
        raise _Ended(str(error)) from error
    _tell(f"The service does not answer ({error or type(error).__name__}); again in {_RETRY_WAIT:.0f} s")


def _tell(line: str) -> None:
    print(line, flush=True)
