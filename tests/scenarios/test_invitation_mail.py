"""An invitation through a real mail server, which at first refuses it."""

import re
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any, cast

import pytest

from tests.cli.service import Service, wait_until
from tests.loopback import mail_server
from tests.scenarios.people import Backend


class Moody:
    """Refuses the first messages, in two ways, and then takes all."""

    def __init__(self) -> None:
        self.answers = ["451 4.7.1 greylisted", "554 5.7.1 not today"]
        self.refused = 0
        self.taken: list[Any] = []
        self.may_take = threading.Event()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answers or not self.may_take.is_set():
            self.refused += 1
            return self.answers.pop(0) if self.answers else "421 4.3.2 closing"
        self.taken.append(envelope)
        return "250 2.0.0 Ok: queued as 4XkQ"


@pytest.fixture
def moody() -> Moody:
    return Moody()


@pytest.fixture
def service(tmp_path: Path, moody: Moody) -> Iterator[Service]:
    with mail_server(moody) as url:
        service = Service(tmp_path / "data", PARAPH_SMTP_URL=url, PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="2")
        service.begin()
        yield service
        service.stop()


@pytest.mark.thorough
def test_notified_only_once_the_server_has_the_message(service: Service, moody: Moody) -> None:
    backend = Backend(service.base_url, service.key)
    made = backend.ask("zoe", send_email=True, identity_declaration_accepted=True)
    wait_until(lambda: moody.refused >= 2)
    assert [each["status"] for each in backend.read(made["id"])["signers"]] == ["pending"]
    shown = service.command("request", "show", str(made["id"]))
    assert "It waits for the invitation of Zoë Lindqvist" in shown["why"]
    moody.may_take.set()
    service.command("request", "retry", str(made["id"]))
    service.command("request", "retry", str(made["id"]))
    wait_until(lambda: backend.read(made["id"])["signers"][0]["status"] == "notified")
    (notified,) = [entry for entry in backend.journal(made["id"]) if entry["event_type"] == "signer.notified"]
    assert notified["metadata"]["acknowledgement"] == "250 2.0.0 Ok: queued as 4XkQ"
    (envelope,) = moody.taken
    assert envelope.rcpt_tos == ["zoe@example.com"]
    check_letter(envelope.content, made["signers"][0])
    assert "4XkQ" not in "".join(service.output)


def check_letter(content: bytes, signer: dict[str, Any]) -> None:
    mail = cast(Any, message_from_bytes(content, policy=policy.default))
    assert mail["Message-ID"] == f"<invitation-{signer['id']}@localhost>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Id"] == "Paraph <paraph.localhost>"
    assert mail.get_content_type() == "multipart/alternative"
    plain, html = mail.iter_parts()
    assert (plain.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert "Zoë Lindqvist" in plain.get_content() and "Zoë Lindqvist" in html.get_content()
    assert signer["signing_url"] in plain.get_content()
    assert signer["signing_url"] in re.findall(r'href="([^"]+)"', html.get_content())
