"""Events: what webhooks say, for programs that ask (docs/decisions/events.md); and shapes of webhooks (rule 6.1)."""

import json
from typing import Annotated, Literal

from django.http import HttpResponse
from pydantic import BaseModel, Field, WithJsonSchema

from paraph.api.v1.codes import refused
from paraph.api.v1.endpoint import ApiRequest, DocumentPart, json_response, operation, query
from paraph.api.v1.lists import LATEST, strict
from paraph.api.v1.shapes import Email, FullName, Id, Name, Output, Timestamp, Url, sometimes
from paraph.audit_trail.models import EventType
from paraph.signature_requests.input import MOST_DOCUMENTS
from paraph.signature_requests.models import SignatureRequest
from paraph.signature_requests.values import LARGEST_ID, METADATA
from paraph.tenants.scope import scoped
from paraph.webhooks.event_log import Cursor, EventPage, ListedEvent, end_of, page_after
from paraph.webhooks.outbox import EVENTS, links


class WebhookRequest(BaseModel):
    """The request that the event is about, as it was at that moment."""

    id: Id = Field(description="What `GET /signature_requests/{request_id}` reads.")
    status: Literal["pending", "completed", "expired"] = Field(description="Its state at the moment of the event.")
    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    external_id: Name = sometimes(description="There where one was given at creation.")
    metadata: Annotated[dict[str, str], WithJsonSchema(METADATA)] = sometimes(
        description="There where any was given at creation."
    )


class WebhookSigner(BaseModel):
    """The signer whom the event is about, as of that moment."""

    id: Id = Field(description="The signer's id in the request.")
    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    full_name: FullName
    email: Email
    status: Literal["pending", "notified", "signed"] = Field(description="The state at the moment of the event.")


class WebhookDocument(BaseModel):
    """A sealed document."""

    document_id: Id = Field(description="The document as uploaded.")
    signed_url: Url = Field(description="Presigned address of the sealed PDF, made when the delivery is sent.")
    expires_in: Literal[900] = Field(description="Seconds for which the address works.")


class SignerEvent(BaseModel):
    """Something that one signer did or got."""

    event: Literal["signer.notified", "signer.otp_sent", "signer.signed"] = Field(description="The event type.")
    occurred_at: Timestamp = Field(description="When it happened, however late the delivery.")
    signature_request: WebhookRequest
    signer: WebhookSigner


class RequestCompletedEvent(BaseModel):
    """Everybody has signed, and the results can be downloaded."""

    event: Literal["request.completed"] = Field(description="The event type.")
    occurred_at: Timestamp = Field(description="When the last signer signed.")
    signature_request: WebhookRequest
    documents: list[WebhookDocument] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="One entry per document, in the request's order."
    )
    certificate_url: Url = Field(description="Presigned address of the proof file, one for the request.")
    certificate_expires_in: Literal[900] = Field(description="Seconds for which that address works.")


class EarlyEnd(BaseModel):
    """What is told of a request that was ended before its time."""

    ended_early: Literal[True] = Field(
        description="The request was ended by its sender, a signer who declined or the service's operator."
    )
    reason: str = Field(min_length=1, max_length=500, description="Why, in the words of whoever ended it.")
    declined: Literal[True] = sometimes(description="There where a signer declined.")
    signer_id: Id = sometimes(description="Likewise: the signer.")


class RequestExpiredEvent(BaseModel):
    """The validity ended, or somebody ended it, before everybody had signed."""

    event: Literal["request.expired"] = Field(description="The event type.")
    occurred_at: Timestamp = Field(description="When the validity ended, or the request was ended.")
    signature_request: WebhookRequest
    metadata: EarlyEnd = sometimes(description="There where the request was ended before its time.")


class NoRequest(BaseModel):
    """The request of a test, which does not exist."""

    id: Literal[0] = Field(description="Always 0, which no request has.")
    status: Literal["pending"] = Field(description="Always `pending`.")
    mode: Literal["parallel"] = Field(description="Always `parallel`.")


class TestEvent(BaseModel):
    """A test that a member sent from the dashboard: answer it with 2xx, and do nothing."""

    event: Literal["webhook.test"] = Field(description="The event type.")
    occurred_at: Timestamp = Field(description="When it was sent.")
    signature_request: NoRequest


_OF_COMPLETED = "Of `request.completed`: "


class Event(Output):
    """One thing that happened to a request: what its webhook says, as it was stated at that moment, and its `id`."""

    id: Id = Field(
        description="Identifies the event: the `id` of its entry in the audit log, and the header "
        "`X-Service-Event-Id` of all its deliveries."
    )
    event: Literal["signer.notified", "signer.otp_sent", "signer.signed", "request.completed", "request.expired"] = (
        Field(description="The event type.")
    )
    occurred_at: Timestamp = Field(description="When it happened. `request.completed` is listed once it is sealed.")
    signature_request: WebhookRequest
    metadata: EarlyEnd = sometimes(description="Of `request.expired`, where the request was ended before its time.")
    signer: WebhookSigner = sometimes(
        description="Of `signer.notified`, `signer.otp_sent` and `signer.signed`: whom it is about."
    )
    documents: list[WebhookDocument] = sometimes(
        max_length=MOST_DOCUMENTS,
        description=f"{_OF_COMPLETED}one entry per document, in the request's order, with addresses made for this "
        "answer; empty once the files are deleted by the organization's retention.",
    )
    certificate_url: Url | None = sometimes(
        description=f"{_OF_COMPLETED}presigned address of the proof file; null once it is deleted."
    )
    certificate_expires_in: Literal[900] | None = sometimes(
        description=f"{_OF_COMPLETED}seconds for which that address works; null once it is deleted."
    )


class Events(Output):
    """Events in the order in which they were committed."""

    data: list[Event] = Field(max_length=100, description="The events behind the cursor, oldest first.")
    next: str = Field(
        min_length=22,
        max_length=22,
        description="The cursor to go on from: send it as `after`. Keep it where you keep what the events led to.",
    )
    has_more: bool = Field(description="Whether there are more behind `next` by now.")


_DEFAULT_LIMIT = 50
_LARGEST_LIMIT = 100
_ID: DocumentPart = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID, "format": "int64"}
_PARAMETERS = (
    query(
        "after",
        "A cursor returned as `next`; `latest` for the end. Without it, from the oldest that are kept.",
        type="string",
        pattern="^(latest|[A-Za-z0-9_-]{22})$",
        examples=[LATEST],
    ),
    query("limit", "How many at most.", type="integer", minimum=1, maximum=_LARGEST_LIMIT, default=_DEFAULT_LIMIT),
    query("event", "Only those of the type.", type="string", enum=list(EVENTS)),
    query("signature_request_id", "Only those of the request.", **_ID),
)


@operation(
    "listEvents",
    "GET /events",
    Events,
    "The events behind the cursor.",
    accepts=_PARAMETERS,
    refuses=("not_found", "cursor_expired", "validation_query"),
)
def list_events(request: ApiRequest) -> HttpResponse:
    """List events.

    Lists what webhooks tell of all requests of the key's environment, those sent from the dashboard too, with or
    without a webhook URL, in the order in which it was committed. Go on from `next`: none is missed and none comes
    twice, whatever happens meanwhile. Events are kept for 30 days. With a filter, `next` lies behind what the filter
    leaves out.
    """
    asked, scope = strict(request.GET, *_PARAMETERS), request.scope
    after, about = asked.get("after"), asked.get("signature_request_id")
    if about is not None and not scoped(SignatureRequest, scope).filter(pk=about).exists():
        raise refused("not_found")
    if after == LATEST:
        page = EventPage([], end_of(scope), False)
    else:
        cursor, limit = Cursor.read(after) if after else None, asked.get("limit", _DEFAULT_LIMIT)
        page = page_after(scope, cursor, limit, asked.get("event", ""), about)
    return json_response(Events.build(data=_described(page.events), next=str(page.following), has_more=page.has_more))


def _described(events: list[ListedEvent]) -> list[Event]:
    completed = {each.request_id for each in events if each.event_type == EventType.COMPLETED}
    linked = links(completed) if completed else {}
    return [
        Event.build(
            id=each.id,
            **json.loads(each.payload),
            **(linked[each.request_id] if each.event_type == EventType.COMPLETED else {}),
        )
        for each in events
    ]
