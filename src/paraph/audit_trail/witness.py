"""What was acknowledged, noted outside of the database: in a file of this machine's data folder.

A database that loses what it had committed, because a standby that was behind takes over, cannot tell. So each entry
of a journal is noted when it is committed, by the process that then acknowledges it, and each webhook before it is
sent: numbers and hashes, nothing about anybody. The file is for the days after, and never grows beyond 32 MB.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from paraph.audit_trail.models import Entry
from paraph.kernel import clock

_MOST_BYTES = 16 * 1024 * 1024  # of each of two files
_NOW, _EARLIER = "witness.log", "witness.earlier.log"
_ENTRY, _WEBHOOK = "entry", "webhook"


class NotedEntry(NamedTuple):
    """An entry of a journal that was committed. ``hash``: as hexadecimal digits."""

    noted_at: datetime
    request_id: int
    position: int
    event_type: str
    hash: str


class NotedWebhook(NamedTuple):
    """A webhook that was about to be sent."""

    noted_at: datetime
    request_id: int
    delivery_id: int
    event_type: str


def note_entries(entries: Iterable[Entry]) -> None:
    """Note them once the transaction is committed that inserts them."""
    lines = [f"{_ENTRY} {row.request_id} {row.position} {row.event_type} {bytes(row.hash).hex()}" for row in entries]
    transaction.on_commit(partial(_write, lines))


def note_webhooks(sent: Iterable[tuple[int, int, str]]) -> None:
    """Note webhooks: number of the request, of the delivery, event."""
    _write([f"{_WEBHOOK} {request_id} {delivery_id} {event}" for request_id, delivery_id, event in sent])


def noted_since(moment: datetime) -> Iterator[NotedEntry | NotedWebhook]:
    """Yield what this machine noted from that moment on, in its order."""
    for name in (_EARLIER, _NOW):
        with suppress(FileNotFoundError), (_folder() / name).open() as file:
            for line in file:
                found = _read(line)
                if found and found.noted_at >= moment:
                    yield found


def _read(line: str) -> NotedEntry | NotedWebhook | None:
    try:
        at, kind, *words = line.split()
        moment = datetime.fromisoformat(at)
        if kind == _ENTRY:
            request_id, position, event, digest = words
            return NotedEntry(moment, int(request_id), int(position), event, digest)
        request_id, delivery_id, event = words
        return NotedWebhook(moment, int(request_id), int(delivery_id), event)
    except ValueError:  # cut by a crash
        return None


def _write(lines: list[str]) -> None:
    """In one piece, which other processes' do not come between. A disk that is full takes none: the service goes on."""
    if not lines:
        return
    now = clock.now().isoformat()
    with suppress(OSError):
        path = _folder() / _NOW
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, "".join(f"{now} {line}\n" for line in lines).encode())
            if os.fstat(handle).st_size > _MOST_BYTES:
                _begin_anew(path, handle)
        finally:
            os.close(handle)


def _begin_anew(path: Path, handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_EX)
    if path.stat().st_ino == os.fstat(handle).st_ino:  # no other process has done it meanwhile
        path.replace(path.with_name(_EARLIER))


def _folder() -> Path:
    folder: Path = settings.DATA_DIR
    return folder
