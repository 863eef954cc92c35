"""The shapes of webhook payloads, for the OpenAPI document (rule 6.1)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from paraph.api.v1.shapes import Id, Name, Timestamp, Url
from paraph.signature_requests.input import MOST_DOCUMENTS
from paraph.signature_requests.values import LONGEST_EMAIL, LONGEST_NAME, METADATA

_ABSENT: Any = None  # a key that most events lack; it is never null


def _without_default(schema: dict[str, Any]) -> None:
    for name in ("external_id", "metadata", "declined", "signer_id"):
        schema["properties"].get(name, {}).pop("default", None)


class WebhookRequest(BaseModel):
    """The request that the event is about, as it was at that moment."""

    id: Id = Field(description="What `GET /signature_requests/{request_id}` reads.")
    status: Literal["pending", "completed", "expired"] = Field(description="Its state at the moment of the event.")
    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    external_id: Name = Field(_ABSENT, description="There where one was given at creation.")
    metadata: Annotated[dict[str, str], WithJsonSchema(METADATA)] = Field(
        _ABSENT, description="There where any was given at creation."
    )

    model_config = ConfigDict(json_schema_extra=_without_default)


class WebhookSigner(BaseModel):
    """The signer whom the event is about, as of that moment."""

    id: Id = Field(description="The signer's id in the request.")
    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    full_name: str = Field(min_length=3, max_length=2 * LONGEST_NAME + 1, description="First name, space, last name.")
    email: str = Field(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="As given at creation.",
        json_schema_extra={"format": "email"},
    )
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
    declined: Literal[True] = Field(_ABSENT, description="There where a signer declined.")
    signer_id: Id = Field(_ABSENT, description="Likewise: the signer.")

    model_config = ConfigDict(json_schema_extra=_without_default)


class RequestExpiredEvent(BaseModel):
    """The validity ended, or somebody ended it, before everybody had signed."""

    event: Literal["request.expired"] = Field(description="The event type.")
    occurred_at: Timestamp = Field(description="When the validity ended, or the request was ended.")
    signature_request: WebhookRequest
    metadata: EarlyEnd = Field(_ABSENT, description="There where the request was ended before its time.")

    model_config = ConfigDict(json_schema_extra=_without_default)


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
