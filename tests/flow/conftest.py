"""Fixtures that the tests of verbs share."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.receiver import answer, receiver
from tests.refusing import RefusingServer, refusing_server


@pytest.fixture
def box(settings: Any) -> Iterator[RefusingServer]:
    """Set gateways that accept mails and SMS; yield the mail server."""
    with refusing_server(settings) as mailbox, receiver(answer(200)) as operator:
        sms_url = f"apprise+{operator.url(path='').replace('http', 'json')}/{{to}}"
        settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": sms_url})
        yield mailbox
