"""Putting right what was sent, in the dashboard: a signer, the message and the end (rule 20)."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Activity, Role
from tests.dashboard.conftest import just_logged_in, scene
from tests.factories import Scene, jobs, sign

pytestmark = pytest.mark.django_db

NEW = "ada.lovelace@example.org"
ADA = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada1@example.com", "phone": "", "otp_channel": ""}


@pytest.fixture
def made() -> Scene:
    return scene(signers=2, mode="sequential", send_email=True, environment="production", subject="Your laese")


@pytest.fixture
def client(made: Scene) -> Client:
    return just_logged_in(made.request.organization, Role.MEMBER)


def address(made: Scene, rest: str = "") -> str:
    return f"/app/{made.request.organization_id}/requests/{made.request.pk}{rest}"


def correcting(made: Scene, position: int = 0) -> str:
    return address(made, f"/signers/{made.signers[position].pk}/correct")


def text(response: Any) -> str:
    return unescape(response.content.decode())


def after(client: Client, response: Any, made: Scene) -> str:
    assert (response.status_code, response["Location"]) == (303, address(made))
    return text(client.get(address(made)))


@pytest.fixture
def mail_server(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://mail.example"})


class TestCorrecting:
    def test_the_request_leads_there_and_the_form_has_what_is_known(self, made: Scene, client: Client) -> None:
        assert f'href="{correcting(made)}"' in text(client.get(address(made)))
        page = text(client.get(correcting(made)))
        assert "Correct Ada Lovelace" in page and 'value="ada1@example.com"' in page and 'value="Lovelace"' in page
        assert 'name="role"' not in page and 'name="id"' not in page

    @pytest.mark.usefixtures("mail_server")
    def test_another_address_has_another_link_and_a_new_invitation(self, made: Scene, client: Client) -> None:
        Signer.objects.filter(pk=made.signers[0].pk).update(status="notified", notified_at=clock.now())
        page = after(client, client.post(correcting(made), {**ADA, "email": NEW}), made)
        assert "Ada Lovelace was corrected. The earlier link no longer works. A new invitation is on its way." in page
        assert "Ada Lovelace was corrected: E-mail." in page
        assert [(name, given["signer_id"]) for name, given in jobs()][-1] == ("invite", made.signers[0].pk)
        entry = made.entries()[-1]
        assert (entry.event_type, entry.ip) == ("signer.corrected", "127.0.0.1")
        assert Activity.objects.get(action="signer.corrected").actor_kind == "member"

    def test_without_a_mail_server_the_link_is_to_be_given(self, made: Scene, client: Client) -> None:
        page = after(client, client.post(correcting(made), {**ADA, "email": NEW}), made)
        assert "The earlier link no longer works. Please give them the new one." in page

    @pytest.mark.usefixtures("mail_server")
    def test_who_is_not_in_turn_is_invited_later(self, made: Scene, client: Client) -> None:
        entered = ADA | {"first_name": "Émile", "last_name": "Zola", "email": "zola@example.org"}
        page = after(client, client.post(correcting(made, 1), entered), made)
        assert "They are invited when it is their turn." in page
        assert jobs() == []

    def test_a_name_leaves_the_link(self, made: Scene, client: Client) -> None:
        page = after(client, client.post(correcting(made), {**ADA, "last_name": "King", "language": "sv"}), made)
        assert "Ada King was corrected." in page and "earlier link" not in page
        signer = Signer.objects.get(pk=made.signers[0].pk)
        assert (signer.replaced_links, signer.locale) == (0, "sv")
        assert "Ada King was corrected: Last name, Language." in page

    def test_what_is_wrong_stands_at_its_field(self, made: Scene, client: Client) -> None:
        Signer.objects.filter(pk=made.signers[1].pk).update(email="zola@example.org")
        for entered, field, sentence in [
            ({"email": "x"}, "email", "“x” is not an e-mail address."),
            ({"email": "Zola@example.org"}, "email", "Another signer of this request has this address."),
            ({"last_name": ""}, "last_name", "Enter a last name."),
            ({"otp_channel": "sms"}, "otp_channel", ""),
        ]:
            response = client.post(correcting(made), {**ADA, **entered})
            assert response.status_code == 422 and sentence in text(response)
            assert f'<a href="#id_{field}">' in text(response)
        response = client.post(correcting(made), ADA)
        assert response.status_code == 422
        assert "Nothing changes: the signer has these values already." in text(response)
        assert "signer.corrected" not in made.events()

    def test_who_signed_by_sms_keeps_that_way_without_a_gateway(self, client: Client, made: Scene) -> None:
        Signer.objects.filter(pk=made.signers[0].pk).update(otp_channel="sms", phone="+33612345678")
        entered = ADA | {"otp_channel": "sms", "phone": "+33 6 12 34 56 79"}
        after(client, client.post(correcting(made), entered), made)
        assert Signer.objects.get(pk=made.signers[0].pk).phone == "+33612345679"

    def test_who_has_signed_cannot_be_corrected(self, made: Scene, client: Client) -> None:
        sign(made)
        assert f'href="{correcting(made)}"' not in text(client.get(address(made)))
        page = text(client.get(correcting(made)))
        assert "The signer has already signed." in page and "<form class=" not in page
        response = client.post(correcting(made), {**ADA, "email": NEW})
        assert response.status_code == 422 and "The signer has already signed." in text(response)


class TestChanging:
    def test_message_and_end(self, made: Scene, client: Client) -> None:
        assert f'href="{address(made, "/extend")}"' in text(client.get(address(made)))
        assert 'value="Your laese"' in text(client.get(address(made, "/extend")))
        entered = {"validity_days": "30", "subject": "Your lease", "message": "Dear tenants,\r\nplease sign."}
        page = after(client, client.post(address(made, "/extend"), entered), made)
        request = SignatureRequest.objects.get(pk=made.request.pk)
        assert (request.subject, request.message) == ("Your lease", "Dear tenants,\nplease sign.")
        assert request.expires_at - clock.now() > timedelta(days=29)
        assert "Saved. Signers have time until" in page and "Signers got more time: until" in page
        actions = set(Activity.objects.values_list("action", flat=True))
        assert {"request.extended", "request.reworded"} <= actions

    def test_the_message_alone_leaves_the_end(self, made: Scene, client: Client) -> None:
        after(client, client.post(address(made, "/extend"), {"subject": "Your lease", "message": ""}), made)
        request = SignatureRequest.objects.get(pk=made.request.pk)
        assert request.expires_at == made.request.expires_at and "request.extended" not in made.events()

    def test_fewer_or_too_many_days_change_nothing(self, made: Scene, client: Client) -> None:
        for days, sentence in [
            ("1", "The request can already be signed until"),
            ("91", "It must be 1 to 90 days."),
            ("x", "It must be 1 to 90 days."),
        ]:
            response = client.post(address(made, "/extend"), {"validity_days": days, "subject": "Other"})
            assert response.status_code == 422 and sentence in text(response)
            assert SignatureRequest.objects.get(pk=made.request.pk).subject == "Your laese"

    def test_without_mails_there_is_no_message(self) -> None:
        made = scene(environment="production")
        client = just_logged_in(made.request.organization, Role.MEMBER)
        page = text(client.get(address(made, "/extend")))
        assert 'name="message"' not in page and "Give more time" in page
        after(client, client.post(address(made, "/extend"), {"validity_days": "30"}), made)

    def test_what_is_over_stays_over(self, made: Scene, client: Client) -> None:
        SignatureRequest.objects.update(status="expired")
        assert "The request is over." in text(client.get(address(made, "/extend")))
        response = client.post(address(made, "/extend"), {"validity_days": "30", "subject": "", "message": ""})
        assert response.status_code == 422 and "The request is over." in text(response)
