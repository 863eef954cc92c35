"""Applications that are told of events, and their deliveries: recorded, claimed, prepared and answered."""

from datetime import datetime
from typing import Any

from paraph.audit_trail.journal import follow
from paraph.database.rows import insert
from paraph.kernel import clock
from paraph.outbound.exchange import PostResult
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.webhooks import outbox
from paraph.webhooks.delivery_queue import ClaimedDelivery, claim, record_outcomes
from paraph.webhooks.dispatcher import PreparedDelivery, prepare_delivery
from tests.factories import Scene, scene
from tests.tenancy import create_application

ACCEPTED = PostResult(200, b"ok", "", 0.012)
REFUSED = PostResult(500, b"oh no", "", 0.034)
UNREACHABLE = PostResult(None, b"", "ConnectError: refused", 0.001)


def told(webhook_url: str = "https://hooks.example/in", **of_scene: Any) -> tuple[Scene, str]:
    """A request of an application with this webhook URL, and the application's secret."""
    made = scene(**of_scene)
    new = create_application(made.request.organization_id, made.request.environment, "told", webhook_url)
    SignatureRequest.objects.filter(pk=made.request.pk).update(application=new.application)
    made.request.refresh_from_db()
    return made, new.webhook_secret


def record(
    request: SignatureRequest, event_type: str, signer: Signer | None = None, occurred_at: datetime | None = None
) -> None:
    """Record an event with its journal entry, as ``flow.events`` does; it may date from before the request's others."""
    entry = follow(request, event_type, signer_id=signer.pk if signer else None, moment=occurred_at)
    entry.created_at = occurred_at or entry.created_at
    insert([entry, *outbox.event_and_deliveries(entry, request, signer)])


def claim_now(now: datetime | None = None, free: int = 100) -> list[ClaimedDelivery]:
    return claim(free, free, now or clock.now())


def prepared_deliveries(now: datetime | None = None) -> list[PreparedDelivery]:
    return [prepare_delivery(claimed) for claimed in claim_now(now)]


def answer_all(result: PostResult, now: datetime) -> int:
    """Send all due deliveries to a receiver that answers with ``result``; return how many there were."""
    due = prepared_deliveries(now)
    record_outcomes([(delivery.claimed.attempt_id, result) for delivery in due], now)
    return len(due)
