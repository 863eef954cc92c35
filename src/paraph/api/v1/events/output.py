"""Events as the API lists them: what a webhook says, and an id."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from paraph.api.v1.events.webhook_schemas import EarlyEnd, WebhookDocument, WebhookRequest, WebhookSigner
from paraph.api.v1.shapes import Id, Output, Timestamp, Url
from paraph.signature_requests.input import MOST_DOCUMENTS

_ABSENT: Any = None  # an event has its own keys only
_OF_COMPLETED = "Of `request.completed`: "


def _without_defaults(schema: dict[str, Any]) -> None:
    for each in schema["properties"].values():
        each.pop("default", None)


class Event(Output):
    """One thing that happened to a request: what its webhook says, as it was stated at that moment, and its `id`."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    id: Id = Field(
        description="Identifies the event: the `id` of its entry in the audit log, and the header "
        "`X-Service-Event-Id` of all its deliveries."
    )
    event: Literal["signer.notified", "signer.otp_sent", "signer.signed", "request.completed", "request.expired"] = (
        Field(description="The event type.")
    )
    occurred_at: Timestamp = Field(description="When it happened. `request.completed` is listed once it is sealed.")
    signature_request: WebhookRequest
    metadata: EarlyEnd = Field(
        _ABSENT, description="Of `request.expired`, where the request was ended before its time."
    )
    signer: WebhookSigner = Field(
        _ABSENT, description="Of `signer.notified`, `signer.otp_sent` and `signer.signed`: whom it is about."
    )
    documents: list[WebhookDocument] = Field(
        _ABSENT,
        max_length=MOST_DOCUMENTS,
        description=f"{_OF_COMPLETED}one entry per document, in the request's order, with addresses made for this "
        "answer; empty once the files are deleted by the organization's retention.",
    )
    certificate_url: Url | None = Field(
        _ABSENT, description=f"{_OF_COMPLETED}presigned address of the proof file; null once it is deleted."
    )
    certificate_expires_in: Literal[900] | None = Field(
        _ABSENT, description=f"{_OF_COMPLETED}seconds for which that address works; null once it is deleted."
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
