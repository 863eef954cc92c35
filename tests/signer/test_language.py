"""The language of one signer, which the sender named (rule 4.5), against a request in another."""

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import translation

from paraph import words
from paraph.flow.messages import emails
from paraph.flow.sending.invite import invite
from paraph.flow.signing.sign import sandbox_sign, send_otp
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Signer
from tests.api.v1.api_clients import api_client, payload
from tests.factories import TYPED, VISITOR, Scene, scene
from tests.production import Client

pytestmark = pytest.mark.django_db


def portuguese(**more: Any) -> Scene:
    of_signer = {"language": "pt", "locale": "pt", "phone": "+351912345678"}
    return scene(locale="de", locale_chosen=True, signer=of_signer, **more)


@pytest.fixture(autouse=True)
def spoken() -> Iterator[None]:
    """Calls leave the language that they asked for to the thread."""
    with translation.override("en"):
        yield


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def signer_of(made: Scene) -> Signer:
    return Signer.objects.select_related("request__organization").get(pk=made.signers[0].pk)


def test_the_invitation() -> None:
    signer = signer_of(portuguese())
    mail = emails.invitation(signer, "https://sign.example/x")
    assert emails.invitation_subject("pt", signer.request.organization.name) == mail.subject
    assert words.of("mail", "pt")["open"] in mail.text


def test_a_reminder() -> None:
    mail = emails.reminder(signer_of(portuguese()), "https://sign.example/x")
    assert words.of("mail", "pt")["open"] in mail.text


def test_a_code_by_mail_and_by_sms() -> None:
    signer = signer_of(portuguese())
    german = signer_of(scene(locale="de", locale_chosen=True))
    assert emails.one_time_code(signer, "123456").subject != emails.one_time_code(german, "123456").subject
    assert emails.one_time_code(signer, "123456") == emails.one_time_code(signer, "123456", "pt")
    assert emails.one_time_code_sms(signer, "123456") == emails.one_time_code_sms(signer, "123456", "pt")
    assert emails.one_time_code_sms(signer, "123456") != emails.one_time_code_sms(signer, "123456", "de")


def test_the_page_and_its_consent(client: Client) -> None:
    page = text(client.get(portuguese().url(), HTTP_ACCEPT_LANGUAGE="fr"))
    assert '<html lang="pt"' in page and consent_notice("pt", 1) in page


def test_answers_for_programs_that_name_none(client: Client) -> None:
    answer = client.post(portuguese().url(rest="/otp"), "{}", "application/json")
    assert answer.headers["Content-Language"] == "pt"


def test_a_signature_by_the_sandbox() -> None:
    made = portuguese()
    sandbox_sign(signer_of(made), TYPED, VISITOR)
    assert [each.metadata["locale"] for each in made.entries() if each.event_type == "signer.signed"] == ["pt"]


def test_from_creation_to_the_signature(client: Client) -> None:
    owner = api_client()
    owner.headers["Accept-Language"] = "de"
    content = payload(owner.document(), mode="parallel", send_email=True, identity_declaration_accepted=True)
    content["signers"][0]["language"] = "pt"
    answer = owner.create(content).json()
    for row, locale in zip(answer["signers"], ("pt", "de"), strict=True):
        CapturedMessage.objects.all().delete()
        invite(row["id"])
        assert words.of("mail", locale)["open"] in CapturedMessage.objects.get().text
        path = re.sub("^https?://[^/]+", "", row["signing_url"])
        page = text(client.get(path, HTTP_ACCEPT_LANGUAGE="fr"))
        assert f'<html lang="{locale}"' in page
        signer = Signer.objects.select_related("request__organization").get(pk=row["id"])
        send_otp(signer, "email", VISITOR)
        code = CapturedMessage.objects.latest("id")
        written = emails.one_time_code(signer, "000000", locale)
        assert re.sub(r"\d{6}", "000000", code.subject) == re.sub(r"\d{6}", "000000", written.subject)
        sandbox_sign(signer, TYPED, VISITOR)
        assert Signer.objects.get(pk=row["id"]).locale == locale
