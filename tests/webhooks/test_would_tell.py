"""What webhooks would state is what they state."""

import json

import pytest

from paraph.flow import events
from paraph.flow.end_early import end_early
from paraph.signature_requests.models import SignatureRequest, Signer, SignerStatus
from paraph.webhooks.models import Delivery, DeliveryStatus
from paraph.webhooks.prepared_delivery import signature
from paraph.webhooks.would_tell import Statement, would_tell
from tests.factories import Scene, sign
from tests.webhooks.parties import seal_everything, told

pytestmark = pytest.mark.django_db


def statements(made: Scene) -> list[Statement]:
    request = SignatureRequest.objects.select_related("application").get(pk=made.request.pk)
    return would_tell(request, list(request.signers.order_by("order")), "an attempt")


def invite(made: Scene, position: int) -> None:
    signer = Signer.objects.select_related("request__application").get(pk=made.signers[position].pk)
    if signer.status == SignerStatus.PENDING:
        signer.status = SignerStatus.NOTIFIED
        signer.save()
    events.signer_notified(signer, "250 ok", reminder=signer.status == SignerStatus.SIGNED)


def test_each_event_is_stated_byte_by_byte_as_it_was_recorded() -> None:
    made, secret = told(signers=2, mode="sequential")
    invite(made, 0)
    sign(made, 0)
    invite(made, 0)  # a mail that was under way while its signer signed
    sign(made, 1)
    seal_everything(made)
    SignatureRequest.objects.filter(pk=made.request.pk).update(finalized=True)
    recorded = list(Delivery.objects.order_by("pk"))
    stated = statements(made)
    assert [each.event_type for each in stated] == [
        *("signer.notified", "signer.otp_sent", "signer.signed", "signer.notified"),
        *("signer.otp_sent", "signer.signed", "request.completed"),
    ]
    assert [each.body for each in stated[:-1]] == [row.payload for row in recorded[:-1]]
    last = json.loads(stated[-1].body)
    assert json.loads(recorded[-1].payload).items() <= last.items() and last["certificate_url"]
    for each in stated:
        assert each.sent
        assert each.sent.headers["X-Service-Signature"] == signature(secret, each.sent.body)
        assert each.sent.headers["X-Service-Event"] == each.event_type


def test_what_links_to_results_waits_for_them() -> None:
    made, _ = told()
    sign(made)
    assert Delivery.objects.latest("pk").status == DeliveryStatus.HELD
    last = statements(made)[-1]
    assert (last.event_type, last.sent, last.body) == ("request.completed", None, "")


def test_an_early_end_is_stated_with_its_reason() -> None:
    made, _ = told()
    end_early(made.request.pk, "sold")
    assert [each.body for each in statements(made)] == [Delivery.objects.get().payload]


def test_nothing_is_recorded_without_a_webhook_url_and_it_is_stated_all_the_same() -> None:
    made, _ = told(webhook_url="")
    sign(made)
    assert not Delivery.objects.exists()
    stated = statements(made)
    assert [each.event_type for each in stated] == ["signer.otp_sent", "signer.signed", "request.completed"]
    assert json.loads(stated[1].body)["signer"]["status"] == "signed"
    assert json.loads(stated[1].body)["signature_request"]["status"] == "pending"
