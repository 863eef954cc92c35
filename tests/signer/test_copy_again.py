"""A signer who comes back after completion has the link to their copy mailed to their own address."""

import re
from typing import Any

import pytest

from paraph.flow.messages import copies
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import SignatureRequest
from paraph.signer import language
from paraph.tenants.models import Organization
from tests.factories import Scene, scene, sign
from tests.production import Client

pytestmark = pytest.mark.django_db(transaction=True)
BUTTON = 'name="do" value="copy"'
WORDS = language.words("en")


@pytest.fixture
def made() -> Scene:
    """Everybody has signed, and the documents are sealed."""
    made = scene()
    sign(made)
    SignatureRequest.objects.update(finalized=True)
    return made


def mails() -> list[Any]:
    return list(CapturedMessage.objects.filter(text__contains="?ticket=").order_by("pk"))


def asked(client: Client, made: Scene, **extra: Any) -> Any:
    return client.post(made.url(rest="?lang=en"), {"do": "copy"}, **extra)


def test_the_page_offers_it_mails_it_and_says_so(client: Client, made: Scene, settings: Any) -> None:
    page = client.get(made.url()).content.decode()
    assert BUTTON in page and "a•••@example.com" in page and "ada1@example.com" not in page
    answer = asked(client, made)
    assert answer.status_code == 303 and answer["Location"] == f"{made.url()}?lang=en&mailed=1"
    [mail] = mails()
    assert mail.to == "ada1@example.com"
    told = client.get(answer["Location"]).content.decode()
    assert WORDS["copy_kept"] in told and BUTTON not in told, "there is no mail server"
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    told = client.get(answer["Location"]).content.decode()
    assert WORDS["copy_mailed"].format(recipient="a•••@example.com") in told and BUTTON not in told
    link = re.search(r"\S+\?ticket=\S+", mail.text)
    assert link
    assert "Download my copy" in client.get(link.group().removeprefix(settings.PARAPH.public_url)).content.decode()


def test_three_times_a_day(client: Client, made: Scene) -> None:
    assert [asked(client, made).status_code for _ in range(4)] == [303, 303, 303, 429]
    refused = asked(client, made)
    assert WORDS["copy_limit"] in refused.content.decode() and int(refused["Retry-After"]) > 0
    assert len(mails()) == 3


def test_a_mail_that_no_server_takes_is_not_said_to_be_mailed(
    client: Client, made: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not count."""

    def refuse(*_: object, **__: object) -> str:
        raise ConnectionRefusedError

    monkeypatch.setattr(copies, "send_email", refuse)
    for _ in range(4):
        refused = asked(client, made)
        assert refused.status_code == 503 and WORDS["delivery_failed"] in refused.content.decode()
    told = client.get(made.url(rest="?mailed=1")).content.decode()
    assert BUTTON in told
    monkeypatch.undo()
    assert asked(client, made).status_code == 303


@pytest.mark.parametrize("why", ["not sealed", "unwanted", "deleted", "another site"])
def test_where_there_is_no_copy_nothing_is_mailed(client: Client, made: Scene, why: str) -> None:
    extra = {}
    if why == "not sealed":
        SignatureRequest.objects.update(finalized=False)
    elif why == "unwanted":
        Organization.objects.update(mails_copy_links=False)
    elif why == "deleted":
        SignatureRequest.objects.update(files_deleted_at=made.request.created_at)
    else:
        extra = {"HTTP_SEC_FETCH_SITE": "cross-site"}
    assert (BUTTON in client.get(made.url()).content.decode()) == (why == "another site")
    assert asked(client, made, **extra).status_code in (404, 422)
    assert mails() == []


def test_a_form_from_before_the_signature_mails_nothing(client: Client, made: Scene) -> None:
    answer = client.post(made.url(), {"do": "sign", "code": "123456"})
    assert answer.status_code == 200 and WORDS["already_signed_title"] in answer.content.decode()
    assert mails() == []
