"""The language of one signer, which the sender named (rule 4.5), against a request in another."""

import re

import pytest

from paraph import words
from paraph.flow.messages import emails
from paraph.flow.sending.invite import invite
from paraph.flow.signing.sign import sandbox_sign, send_otp
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Signer
from tests.api.v1.api_clients import api_client, payload
from tests.factories import TYPED, VISITOR, scene
from tests.production import Client
from tests.signer.calls import call, text

pytestmark = pytest.mark.django_db


def test_messages_pages_and_answers_are_in_the_signers_language(client: Client) -> None:
    of_signer = {"language": "pt", "locale": "pt", "phone": "+351912345678"}
    made = scene(locale="de", locale_chosen=True, signer=of_signer)
    signer = Signer.objects.select_related("request__organization").get()
    link, begins = "https://sign.example/x", words.of("mail", "pt")["open"]
    invitation = emails.invitation(signer, link)
    assert emails.invitation_subject("pt", signer.request.organization.name) == invitation.subject
    assert begins in invitation.text and begins in emails.reminder(signer, link).text
    code, sms = emails.one_time_code(signer, "123456"), emails.one_time_code_sms(signer, "123456")
    assert code == emails.one_time_code(signer, "123456", "pt") != emails.one_time_code(signer, "123456", "de")
    assert sms == emails.one_time_code_sms(signer, "123456", "pt") != emails.one_time_code_sms(signer, "123456", "de")
    page = text(client.get(made.url(), HTTP_ACCEPT_LANGUAGE="fr"))
    assert '<html lang="pt"' in page and consent_notice("pt", 1) in page
    assert call(client, made, "/otp", "{}").headers["Content-Language"] == "pt", "a program that names none"
    sandbox_sign(signer, TYPED, VISITOR)
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
        assert f'<html lang="{locale}"' in text(client.get(path, HTTP_ACCEPT_LANGUAGE="fr"))
        signer = Signer.objects.select_related("request__organization").get(pk=row["id"])
        send_otp(signer, "email", VISITOR)
        code = CapturedMessage.objects.latest("id")
        written = emails.one_time_code(signer, "000000", locale)
        assert re.sub(r"\d{6}", "000000", code.subject) == re.sub(r"\d{6}", "000000", written.subject)
        sandbox_sign(signer, TYPED, VISITOR)
        assert Signer.objects.get(pk=row["id"]).locale == locale
