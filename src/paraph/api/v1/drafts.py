"""Drafts: what an application prepares and a member reviews and sends in the dashboard."""

from typing import Literal, Self

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from pydantic import Field

from paraph.api.v1 import call
from paraph.api.v1.codes import INPUT, MADE, PLACES, refused
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, existing, json_response, operation
from paraph.api.v1.shapes import Id, Output, Timestamp, Url
from paraph.drafts import models
from paraph.drafts.content import DraftCreation, DraftInput
from paraph.flow.sending.drafts import prepare_draft
from paraph.kernel.clock import iso
from paraph.signature_requests.localized import accepted_locale
from paraph.tenants.models import Environment
from paraph.tenants.scope import scoped


class CreatedDraft(Output):
    """A draft as its creation answers it."""

    id: Id = Field(description="Identifies the draft.")
    review_url: Url = Field(
        description="Where a member of your organization who may send requests signs in, sees the draft with what is "
        "still missing, changes it, and sends or discards it. Once it is sent, the address shows the request."
    )

    @classmethod
    def of(cls, row: models.Draft) -> Self:
        return cls.build(id=row.pk, review_url=_review_url(row))


class Draft(CreatedDraft):
    """A draft that an application prepared, and what became of it."""

    status: Literal["open", "sent", "discarded"] = Field(
        description="`open` until a member sends or discards it. A draft that nobody touches for 90 days is discarded."
    )
    signature_request_id: Id | None = Field(description="The request that it was sent as; null unless `sent`.")
    created_at: Timestamp = Field(description="When the draft was prepared.")

    @classmethod
    def of(cls, row: models.Draft) -> Self:
        return cls.build(
            id=row.pk,
            review_url=_review_url(row),
            status="sent" if row.request_id else "discarded" if row.discarded_at else "open",
            signature_request_id=row.request_id,
            created_at=iso(row.created_at),
        )


@operation(
    "createDraft",
    "POST /drafts",
    CreatedDraft,
    "The draft's `id`, and the address to give to a member.",
    status=201,
    accepts=(KEY,),
    body=Body(DraftCreation, "The request, as far as it is known, under the root key. At most 4 MiB."),
    refuses=(*MADE, *INPUT, *PLACES, "production_only", "validation_unknown_field"),
)
def create_draft(request: ApiRequest) -> HttpResponse:
    """Prepare a draft.

    Prepares a request that a member of your organization reviews and sends: nothing is sent to anybody before. Anything
    may be missing; what is there is checked as in a creation. A draft is sent from the dashboard, so it needs a
    production key and counts as a request sent there. The service sends the mails, unless `send_email` is `false`, and
    the member who sends declares that the signers are identified.
    """
    _production_only(request)
    with call.key_of(request) as key:
        payload = call.read(request, "signature_request", DraftInput)
        locale = accepted_locale(request.headers.get("Accept-Language", ""))

        return call.created_once(
            key,
            payload,
            lambda extra_rows: prepare_draft(request.scope, payload, locale, extra_rows),
            lambda draft_id: _prepared(request).filter(pk=draft_id).first(),
            CreatedDraft.of,
        )


@operation("readDraft", "GET /drafts/{draft_id}", Draft, "The draft's state.", refuses=("production_only",))
def read_draft(request: ApiRequest, draft_id: int) -> HttpResponse:
    """Read a draft.

    Tells what became of a draft that a production key has prepared, at any time.
    """
    _production_only(request)
    return json_response(Draft.of(existing(_prepared(request).filter(pk=draft_id).first())))


def _prepared(request: ApiRequest) -> QuerySet[models.Draft]:
    """Return the drafts of the caller's organization that applications prepared; members' drafts are theirs alone."""
    return scoped(models.Draft, request.scope).exclude(application=None).defer("content")


def _production_only(request: ApiRequest) -> None:
    if request.scope.environment != Environment.PRODUCTION:
        raise refused("production_only")


def _review_url(row: models.Draft) -> str:
    return f"{settings.PARAPH.public_url}/app/{row.organization_id}/drafts/{row.pk}/review"
