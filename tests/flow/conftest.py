"""Fixtures that the tests of verbs share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.loopback import mail_server
from tests.receiver import answer, receiver


class Mailbox:
    """The recipients of all mails that the mail server has accepted."""

    def __init__(self) -> None:
        self.recipients: list[str] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.recipients += envelope.rcpt_tos
        return "250 Ok"


@pytest.fixture
def box(settings: Any) -> Iterator[Mailbox]:
    """Set gateways that accept mails and SMS; yield the mailbox that lists the recipients of mails."""
    mailbox = Mailbox()
    with mail_server(mailbox) as smtp_url, receiver(answer(200)) as operator:
        sms_url = f"apprise+{operator.url(path='').replace('http', 'json')}/{{to}}"
        gateways = {"smtp_url": smtp_url, "sms_url": sms_url}
        settings.PARAPH = settings.PARAPH.model_copy(update=gateways)
        yield mailbox
