"""What events and webhooks say of a signer, and what the request's sender noted of it, which stands in these too."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from paraph.audit_trail.erase import ERASED
from paraph.flow.personal_data.erased_signer import FIRST_NAME, LAST_NAME, pseudonym, update
from paraph.flow.personal_data.place import Facts, Place, columns, naming
from paraph.kernel import clock
from paraph.signature_requests.models import CopyRecipient, SignatureRequest, Signer
from paraph.webhooks.models import Attempt, Delivery, DeliveryStatus, Destination, Event

_Told = TypeVar("_Told", Event, Delivery)


def _about(signer: Signer, rows: Iterable[_Told]) -> Iterator[_Told]:
    """Yield those whose payload is about the signer, or says why the signer declined."""
    for row in rows:
        content = json.loads(row.payload)
        if signer.pk in (content.get("signer", {}).get("id"), content.get("metadata", {}).get("signer_id")):
            yield row


def _events(signer: Signer) -> Iterator[Event]:
    """Events that the API lists or will list."""
    yield from _about(signer, Event.objects.filter(request=signer.request_id).order_by("pk"))


def _told_event(event: Event) -> Facts:
    content = json.loads(event.payload)
    return {"id": event.pk, "event": event.event_type, "at": content["occurred_at"], **_said(content)}


def _said(content: Facts) -> Facts:
    """Return what a payload says of the signer."""
    return {"signer": content["signer"]} if "signer" in content else {"reason": content["metadata"]["reason"]}


def _erase_events(signer: Signer, found: Sequence[Event]) -> int:
    return sum(update(event, payload=_anonymous(signer, event.payload)) for event in found)


def _deliveries(signer: Signer) -> Iterator[Delivery]:
    """Return the recorded webhooks about the signer, also those that still wait."""
    yield from _about(signer, Delivery.objects.filter(request=signer.request_id).order_by("pk"))


def _told_delivery(delivery: Delivery) -> Facts:
    responses = Attempt.objects.filter(delivery=delivery).exclude(response="").values_list("response", flat=True)
    return {
        "id": delivery.pk,
        "event": delivery.event_type,
        "at": clock.iso(delivery.occurred_at),
        "url": delivery.url,
        **_said(json.loads(delivery.payload)),
        "answers": list(responses),
    }


def _erase_deliveries(signer: Signer, found: Sequence[Delivery]) -> int:
    """With what receivers answered to them."""
    for delivery in found:
        update(delivery, payload=_anonymous(signer, delivery.payload))
        Attempt.objects.filter(delivery=delivery).update(response="", error="")
    return len(found)


def _anonymous(signer: Signer, payload: str) -> str:
    content, last_name = json.loads(payload), f"{LAST_NAME} {signer.pk}"
    if "signer" not in content:
        content["metadata"]["reason"] = ERASED
        return _dumped(content)
    content["signer"] |= {
        "first_name": FIRST_NAME,
        "last_name": last_name,
        "full_name": f"{FIRST_NAME} {last_name}",
        "email": pseudonym(signer),
    }
    return _dumped(content)


def _own_data(signer: Signer) -> Iterator[SignatureRequest]:
    """Yield the request, where what its sender calls it or notes of it names the signer."""
    if words_naming(signer):
        yield signer.request


def words_naming(named: Signer | CopyRecipient) -> dict[str, str]:
    """Return what of the words for the request, and of the data noted with it, names the person."""
    request = named.request
    words = _own_texts(request) | {f"metadata.{key}": text for key, text in (request.metadata or {}).items()}
    return {name: words[name] for name in naming(named, words)}


def _own_texts(request: SignatureRequest) -> dict[str, str]:
    names = ("title", "subject", "message", "external_id", "redirect_url", "callback_url")
    return {name: getattr(request, name) for name in names}


def _told_own_data(request: SignatureRequest) -> Facts:
    facts = {**_own_texts(request), "metadata": request.metadata}
    return {"request": request.pk, **{name: fact for name, fact in facts.items() if fact}}


def erase_own_data(signer: Signer | CopyRecipient, found: Sequence[SignatureRequest]) -> int:
    """Empty the texts that name the person, here and in every event and recorded webhook of the request, and what
    receivers answered to these."""
    for request in found:
        texts = dict.fromkeys(naming(signer, _own_texts(request)), "")
        metadata = dict.fromkeys(naming(signer, request.metadata or {}), "")
        if metadata:
            request.metadata |= metadata
        SignatureRequest.objects.filter(pk=request.pk).update(metadata=request.metadata, **texts)
        rows: list[Event | Delivery] = [*Event.objects.filter(request=request)]
        rows += Delivery.objects.filter(request=request)
        for row in rows:
            content = json.loads(row.payload)
            told = content["signature_request"]
            content["signature_request"] = {name: fact for name, fact in told.items() if name not in texts}
            if "metadata" in told:
                told["metadata"] |= metadata
            update(row, payload=_dumped(content))
        Attempt.objects.filter(delivery__request=request).update(response="", error="")
        _forget_addresses(signer, request)
    return len(found)


def _forget_addresses(signer: Signer | CopyRecipient, request: SignatureRequest) -> None:
    """Empty where webhooks of the request went or were to go, if it names the signer. Those that wait are not sent."""
    deliveries = Delivery.objects.filter(request=request, destination=Destination.CALLBACK)
    naming_signer = [row.pk for row in deliveries if naming(signer, {"url": row.url})]
    gone = Delivery.objects.filter(pk__in=naming_signer)
    gone.filter(finished_at=None).update(status=DeliveryStatus.FAILED, finished_at=clock.now(), claimed_at=None)
    gone.update(url="", endpoint="")


def _dumped(content: Facts) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


IN_WEBHOOKS: tuple[Place[Signer, Any], ...] = (
    Place("events", columns("webhooks_event", "payload"), _events, _told_event, _erase_events),
    Place(
        "webhooks",
        columns("webhooks_delivery", "payload") | columns("webhooks_attempt", "response error"),
        _deliveries,
        _told_delivery,
        _erase_deliveries,
    ),
    Place(
        "what senders call requests",
        columns(
            "signature_requests_signaturerequest",
            "title subject message external_id redirect_url callback_url metadata",
        )
        | columns("webhooks_delivery", "url endpoint"),
        _own_data,
        _told_own_data,
        erase_own_data,
    ),
)
