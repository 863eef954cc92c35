"""A mail server that refuses recipients, or its clients, in the words of real ones."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.loopback import mail_server

NO_SUCH_USER = "550 5.1.1 <{}>: Recipient address rejected: User unknown in virtual mailbox table"
FULL_FOR_NOW = "452 4.2.2 <{}>: over quota"


class RefusingServer:
    """``recipients`` and ``content``: the replies to ``RCPT`` and after ``DATA`` by address, with ``{}`` in its place;
    ``sender``: the reply to every ``MAIL``. "" or no reply accepts. ``asked``: how often each recipient was named;
    ``taken``: the recipients of accepted mails, in order, and ``letters`` these mails."""

    def __init__(self) -> None:
        self.recipients: dict[str, str] = {}
        self.content: dict[str, str] = {}
        self.sender = ""
        self.asked: Counter[str] = Counter()
        self.taken: list[str] = []
        self.letters: list[bytes] = []

    async def handle_MAIL(self, _server: Any, _session: Any, envelope: Any, address: str, options: list[str]) -> str:
        if self.sender:
            return self.sender
        envelope.mail_from, envelope.mail_options = address, options
        return "250 Ok"

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]) -> str:
        self.asked[address] += 1
        if reply := self.recipients.get(address, ""):
            return reply.format(address)
        envelope.rcpt_tos.append(address)
        return "250 Ok"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        [address] = envelope.rcpt_tos
        if reply := self.content.get(address, ""):
            return reply.format(address)
        self.taken.append(address)
        self.letters.append(envelope.content)
        return "250 2.0.0 Ok: queued"


@contextmanager
def refusing_server(settings: Any) -> Iterator[RefusingServer]:
    """Make such a server the mail gateway of this process, and yield it."""
    handler = RefusingServer()
    earlier = settings.PARAPH
    with mail_server(handler) as url:
        settings.PARAPH = earlier.model_copy(update={"smtp_url": url})
        try:
            yield handler
        finally:
            settings.PARAPH = earlier
