"""Without a gateway, production messages are kept on one's own machine and refused on a public service."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from django.test import Client

from paraph.flow.messages.copies import notify_completion
from paraph.flow.sending.invite import invite, remind
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError
from tests.api.v1.api_clients import payload
from tests.drafts.author import Author, author
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db

Configure = Callable[..., None]
PUBLIC = {"base_url": "https://sign.example.com"}


def code(client: Client, made: Scene, channel: str = "email") -> Any:
    return client.post(made.url(0, "/otp"), {"channel": channel}, content_type="application/json")


@pytest.mark.parametrize("fields", [{}, {"base_url": "https://127.0.0.1"}, PUBLIC | {"mail": "captured"}])
def test_on_ones_own_machine_and_where_it_is_wanted_messages_are_kept(
    client: Client, configured: Configure, fields: dict[str, Any]
) -> None:
    configured(**fields)
    made = scene(environment="production", send_email=True, signer={"phone": "+33612345678"})
    invite(made.signers[0].pk)
    for channel, missing in (("email", "No mail server"), ("sms", "No SMS service")):
        answer = code(client, made, channel)
        sentence = f"{missing} is set up, so the code could not be sent. Contact the sender."
        assert answer.status_code == 200 and answer.json()["message"] == sentence
        assert f'data-unsent="{sentence}"' in client.get(made.url(0)).content.decode()
    assert CapturedMessage.objects.count() == 3 and "signer.notified" in made.events()


def test_a_public_service_refuses_those_of_production(client: Client, configured: Configure) -> None:
    configured(**PUBLIC)
    made = scene(environment="production", send_email=True, signer={"phone": "+33612345678"})
    for channel, missing in (("email", "No mail server"), ("sms", "No SMS service")):
        refused = code(client, made, channel)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "delivery_failed")
        assert missing in refused.json()["error"]["message"]
    with pytest.raises(DomainError, match="No mail server is configured"):
        invite(made.signers[0].pk)
    with pytest.raises(DomainError, match="No mail server is configured"):
        notify_completion(made.request.pk)
    assert made.events() == ["signature_request.created"] and not CapturedMessage.objects.exists()
    configured(mail="captured")
    invite(made.signers[0].pk)
    assert "signer.notified" in made.events(), "what waits goes out once there is a gateway"


def test_sandbox_messages_are_kept_there_as_well(client: Client, configured: Configure) -> None:
    configured(**PUBLIC)
    made = scene(send_email=True)
    invite(made.signers[0].pk)
    sent = code(client, made).json()
    assert sent["sandbox_code"] and "was sent" in sent["message"]
    assert "data-unsent" not in client.get(made.url(0)).content.decode()
    assert CapturedMessage.objects.count() == 2


def test_each_channel_is_judged_by_itself(client: Client, configured: Configure) -> None:
    configured(**PUBLIC, sms_url="apprise+json://127.0.0.1:9/{to}")
    made = scene(environment="production", signer={"phone": "+33612345678"})
    assert "No mail server" in code(client, made).json()["error"]["message"]
    assert code(client, made, "sms").json()["error"]["message"].startswith("We could not reach your mailbox or phone")


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"send_email": True, "notify_signers_on_completion": True}, "send_email"),
        ({"send_email": False, "notify_signers_on_completion": True}, "notify_signers_on_completion"),
        ({"send_email": False, "notify_signers_on_completion": False}, ""),
    ],
)
def test_a_request_that_needs_mails_is_refused_by_field(
    configured: Configure, asked: dict[str, bool], path: str, charles: Author
) -> None:
    given = payload(charles.document().pk, identity_declaration_accepted=True, **asked)
    make_plan(charles.scope, given)
    configured(**PUBLIC)
    with pytest.raises(InvalidPayloadError, match="no mail server") if path else nullcontext() as refused:
        make_plan(charles.scope, given)
    assert not refused or [problem.path for problem in refused.value.problems] == [path]
    configured(mail="captured")
    make_plan(charles.scope, given)


def test_nobody_is_reminded_by_mails_that_are_refused(configured: Configure) -> None:
    made = scene(environment="production", send_email=True)
    invite(made.signers[0].pk)
    configured(**PUBLIC)
    with pytest.raises(DomainError, match="no mail server"):
        remind(made.scope(), made.request.pk, made.signers[0].pk, author().actor)


@pytest.mark.parametrize(
    ("base_url", "is_public"),
    [
        ("https://sign.example.com", True),
        ("https://10.0.0.7", True),
        ("https://localhost:8443", False),
        ("https://[::1]:8443", False),
        ("http://sign.example.com", False),
        ("", False),
    ],
)
def test_what_a_public_address_is(base_url: str, is_public: bool) -> None:
    assert Settings(base_url=base_url).is_public is is_public
