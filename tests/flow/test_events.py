"""Everything that happens to requests is journaled under one of the names of rules 6.2 and 21."""

import pytest

from paraph.audit_trail.models import Entry, EventType
from paraph.flow.ending import expire_due
from paraph.flow.messages.sent_once import note_undelivered
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.webhooks.outbox import EVENTS
from tests.api.v1.api_clients import api_client, payload
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off


def test_the_names_are_those_of_the_specification() -> None:
    assert [str(name) for name in EventType] == [
        "signature_request.created",
        "signature_request.identity_declared",
        "signer.notified",
        "signer.delivery_failed",
        "signer.corrected",
        "request.extended",
        "signer.otp_sent",
        "signer.signed",
        "request.completed",
        "request.completion_notified",
        "request.expired",
        "signature_request.pades_signed",
        "signature_request.certificate_issued",
    ]
    assert [str(name) for name in EVENTS] == [
        "signer.notified",
        "signer.otp_sent",
        "signer.signed",
        "request.completed",
        "request.expired",
    ]


@pytest.mark.django_db
def test_these_events_and_no_others_are_journaled() -> None:
    owner = api_client()
    options = {"send_email": True, "identity_declaration_accepted": True, "notify_signers_on_completion": True}
    assert owner.create(payload(owner.document(), **options)).status_code == 201
    request = SignatureRequest.objects.get()
    work_off()
    signer = request.signers.latest("order")
    corrected = owner.post(f"/signature_requests/{request.pk}/signers/{signer.pk}/correct", {"email": "x@example.org"})
    extended = owner.post(f"/signature_requests/{request.pk}/extend", {"validity_days": 90})
    assert (corrected.status_code, extended.status_code) == (200, 200)
    work_off()
    for position in range(request.signers.count()):
        sign(Scene(request, list(request.signers.all()), list(request.request_documents.all())), position)
        work_off()
    note_undelivered(request.signers.latest("order"), "completion-1", "550 no")
    scene(expires_at=clock.now())
    expire_due()
    journaled = list(Entry.objects.values_list("event_type", flat=True))
    assert set(journaled) == set(EventType)
