"""The world around the service: a mail server, a timestamp authority and a webhook receiver that can be down."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, cast

from aiosmtpd.controller import Controller

from paraph.keys import development_authority
from paraph.keys.development import root_file
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from tests.cli.service import free_port
from tests.loopback import send
from tests.pdf.timestamps.test_authorities import REPLY, server
from tests.receiver import Handler, Receiver, answer, receiver

REFUSING = "nobody"  # how the addresses begin whose mailboxes do not exist


class MailServer:
    """``taken``: Message-IDs, in order, by recipient. ``answered``: how often each Message-ID was sent to the end, by a
    sender that lived to say QUIT, which it does after it has noted that the mail is out. ``refused``: how often each
    mailbox that begins with :data:`REFUSING`, and so refuses all mails, was named."""

    def __init__(self) -> None:
        self.down = threading.Event()
        self.taken: dict[str, list[str]] = {}
        self.answered: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.codes: dict[str, str] = {}
        self._of_session: dict[Any, str] = {}

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]) -> str:
        if address.startswith(REFUSING) and not self.down.is_set():
            self.refused[address] += 1
            return f"550 5.1.1 <{address}>: Recipient address rejected: User unknown"
        envelope.rcpt_tos.append(address)
        return "250 Ok"

    async def handle_DATA(self, _server: Any, session: Any, envelope: Any) -> str:
        if self.down.is_set():
            return "451 4.3.2 not now"
        mail = cast(Any, message_from_bytes(envelope.content, policy=policy.default))
        to, name = envelope.rcpt_tos[0], str(mail["Message-ID"])
        self.taken.setdefault(to, []).append(name)
        self._of_session[session.peer] = name
        if code := re.match(r"\d{6}", str(mail["Subject"])):
            self.codes[to] = code.group()
        return "250 Ok"

    async def handle_QUIT(self, _server: Any, session: Any, _envelope: Any) -> str:
        if name := self._of_session.pop(session.peer, None):
            self.answered[name] += 1
        return "221 Bye"


class World:
    """Each part works until its ``down`` event is set."""

    def __init__(self, host: str, mail: Controller, hooks: Receiver, authority: str, roots: Path) -> None:
        self.mail: MailServer = mail.handler
        self.hooks = hooks
        self.hooks_url = hooks.url(host)
        self.authority_down = threading.Event()
        self.hooks_down = threading.Event()
        self.settings = {
            "PARAPH_SMTP_URL": f"smtp://{host}:{mail.port}",
            "PARAPH_TIMESTAMP_AUTHORITIES": authority,
            "PARAPH_TIMESTAMP_ROOTS": str(roots),
        }


@contextmanager
def world(folder: Path, host: str = "127.0.0.1") -> Iterator[World]:
    """Yield a mail server, a timestamp authority and a webhook receiver, which listen at that address."""
    authority = development_authority(folder / "authority", b"s" * 32)
    built_in = BuiltInAuthority(authority.timestamp_key)
    mail = MailServer()
    controller = Controller(mail, hostname=host, port=free_port())
    with ExitStack() as stack:
        controller.start()
        stack.callback(controller.stop)
        made: list[World] = []

        def stamp(handler: BaseHTTPRequestHandler, body: bytes) -> None:
            if made[0].authority_down.is_set():
                send(handler, 503)
            else:
                send(handler, body=built_in.answer(body), Content_Type=REPLY)

        def take(handler: Handler) -> None:
            answer(503 if made[0].hooks_down.is_set() else 200)(handler)

        hooks = stack.enter_context(receiver(take, host=host))
        url = stack.enter_context(server(stamp, host))
        made.append(World(host, controller, hooks, url, root_file(folder / "authority")))
        yield made[0]
