"""Signature requests (rules 4.5 to 4.7): creating, previewing, listing and reading them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpResponse
from django.utils.translation import gettext as _
from pydantic import Field

from paraph.api.v1 import call
from paraph.api.v1.codes import CREATION, LOOKED_AT
from paraph.api.v1.endpoint import KEY, ApiRequest, Body, json_response, operation
from paraph.api.v1.lists import (
    EXTERNAL_ID,
    PAGING,
    filters,
    page_answer,
    page_of,
    page_of_rows,
    require_readable,
    selection,
)
from paraph.api.v1.shapes import Id, Name, Output, Points, Url, sometimes
from paraph.api.v1.signature_request_shapes import (
    Answer,
    CreatedSignatureRequest,
    SignatureRequest,
    SignatureRequests,
    download_urls,
    own,
    read,
    size_of_fields,
)
from paraph.bundle.make import bundle_address
from paraph.evidence.sealed_files import has_proof
from paraph.flow.sending.create import Sender, create, preview_pdf
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_work
from paraph.server.client_address import origin
from paraph.signature_requests import models
from paraph.signature_requests.fields.input import MOST_FIELDS, SMALLEST_SIDE, FieldName
from paraph.signature_requests.input import MOST_DOCUMENTS, MOST_SIGNERS, MOST_STAMPS, Creation, SignatureRequestInput
from paraph.signature_requests.localized import accepted_locale
from paraph.signature_requests.payload import MOST_PASSED_OVER
from paraph.signature_requests.plan import preview
from paraph.signature_requests.problems import MOST_NAMED
from paraph.signature_requests.values import HEIGHTS, MOST_PAGES, WIDTHS, Input
from paraph.storage.store import LINK_SECONDS
from paraph.tenants.scope import TenantScope, scoped
from paraph.words import DEFAULT_LOCALE

REQUEST_BODY = Body(Creation, "The request, under the root key. At most 4 MiB.")
Create = Callable[[TenantScope, object, Sender, str, ExtraRows], int]


@operation(
    "createSignatureRequest",
    "POST /signature_requests",
    CreatedSignatureRequest,
    "The request. It is `pending`, and so are its signers.",
    status=201,
    accepts=(KEY,),
    body=REQUEST_BODY,
    refuses=CREATION,
)
def create_signature_request(request: ApiRequest) -> HttpResponse:
    """Create a signature request.

    Creates a request from uploaded documents. Everything is checked first, stamps against the pages of the PDFs too;
    whatever is wrong is named in one message, each problem with its path, and nothing is created. Each signer's
    `signing_url` is in the answer. With `send_email` the service invites by e-mail: everybody in `parallel` mode, one
    after the other in `sequential` mode. A repeated call creates another request, unless it names the same
    `Idempotency-Key`.
    """
    return create_once(request, SignatureRequestInput, create)


def create_once(request: ApiRequest, shape: type[Input], create: Create) -> HttpResponse:
    """Answer with the request that ``create`` makes of the body, or made of it before. ``shape``: what the body has
    under its root key."""
    with call.key_of(request) as key:
        payload = call.read(request, "signature_request", shape)
        locale = accepted_locale(request.headers.get("Accept-Language", ""))

        def made(extra_rows: ExtraRows) -> Answer:
            return own(request.scope, create(request.scope, payload, Sender(origin(request)), locale, extra_rows))

        def made_before(request_id: int) -> Answer | None:
            return next(iter(read(request.scope, [request_id])), None)

        return call.created_once(key, payload, made, made_before, _created)


def _created(found: Answer) -> Answer:
    """Return the request as a creation answers it."""
    del found["finalized"]
    return found


class PreviewProblem(Output):
    """Why a creation would be refused."""

    path: str = Field(min_length=1, description="The field, as creation names it.", examples=["signers[1].phone"])
    code: Literal[
        "validation_error", "forbidden", "initials_not_available_on_plan", "identity_declaration_required"
    ] = Field(description="The code by which it would be refused, if it were the only problem.")
    message: str = Field(min_length=1, description="For a person, in the language of Accept-Language.")


class PreviewWarning(Output):
    """A field that creation does not know, and so passes over."""

    path: str = Field(max_length=200, description="Where it stands.", examples=["signers[0].nickname"])
    message: str = Field(min_length=1, description="For a person, in the language of Accept-Language.")


class PreviewPlacement(Output):
    """Where a stamp would stand, in points of the page as a reader sees it, origin at the bottom left."""

    document_id: Id = Field(description="The document.")
    signer_ref: Name = Field(description="The `ref` of the signer.")
    stamp: int = Field(ge=0, lt=MOST_STAMPS, description="Which of the signer's stamps on that document, from 0.")
    page_number: int = Field(ge=1, le=MOST_PAGES, description="From 1.")
    x: Points = Field(ge=0, description="Points from the left edge of the page.")
    y: Points = Field(ge=0, description="Points from the bottom edge of the page.")
    width: Points = Field(ge=WIDTHS[0], le=WIDTHS[1], description="Points.")
    height: Points = Field(ge=HEIGHTS[0], le=HEIGHTS[1], description="Points.")


class PreviewField(Output):
    """Where a field would stand, in points of the page as a reader sees it, origin at the bottom left."""

    document_id: Id = Field(description="The document.")
    signer_ref: Name = Field(description="The `ref` of the signer.")
    field: int = Field(ge=0, lt=MOST_FIELDS, description="Which of the signer's fields on that document, from 0.")
    name: FieldName = Field(description="As in the body.")
    page_number: int = Field(ge=1, le=MOST_PAGES, description="From 1.")
    x: Points = Field(ge=0, description="Points from the left edge of the page.")
    y: Points = Field(ge=0, description="Points from the bottom edge of the page.")
    width: Points = Field(ge=SMALLEST_SIDE, description="Points.")
    height: Points = Field(ge=SMALLEST_SIDE, description="Points.")


class Preview(Output):
    """What a creation would come to."""

    valid: bool = Field(description="Whether it would be accepted now.")
    problems: list[PreviewProblem] = Field(
        max_length=MOST_NAMED + MOST_SIGNERS + 3,
        description=f"All of them, those with a code of their own first; of others {MOST_NAMED} at most.",
    )
    placements: list[PreviewPlacement] = Field(
        max_length=MOST_DOCUMENTS * MOST_SIGNERS * MOST_STAMPS,
        description="Of all stamps that have a place, by document in the order of the body. An optional stamp whose "
        "tag is absent has none.",
    )
    fields: list[PreviewField] = sometimes(
        min_length=1,
        max_length=MOST_DOCUMENTS * MOST_SIGNERS * MOST_FIELDS,
        description="Of all fields that have a place, in the same order. Present only where there are some.",
    )

    warnings: list[PreviewWarning] = sometimes(
        min_length=1,
        max_length=MOST_PASSED_OVER,
        description="What a creation passes over. Present only where there is something.",
    )


@operation(
    "previewSignatureRequest",
    "POST /signature_requests/preview",
    Preview,
    "What a creation would come to.",
    body=REQUEST_BODY,
    refuses=LOOKED_AT,
)
def preview_signature_request(request: ApiRequest) -> HttpResponse:
    """Preview a signature request.

    Takes the body of a creation and creates nothing: it says whether it would be accepted, names every problem with its
    path, and tells where each stamp would stand. With `Accept: application/pdf` the answer is the documents as one PDF,
    with a box and a name where each stamp would stand and PREVIEW across each page, up to 1,000 pages and 100 MiB;
    where a creation would be refused, it is refused with the same status and code.
    """
    given = call.read_all(request, "signature_request", SignatureRequestInput)
    locale = accepted_locale(request.headers.get("Accept-Language", "")) or DEFAULT_LOCALE
    if "application/pdf" in request.headers.get("Accept", ""):
        given.problems.refuse()
        return HttpResponse(preview_pdf(request.scope, given.value, locale), content_type="application/pdf")
    found = preview(request.scope, given.value, locale)
    wrong = [("validation_error", problem) for problem in given.problems.named]
    refusals = [*found.refusals, *wrong[: max(0, MOST_NAMED - len(found.refusals))]]
    problems = [
        PreviewProblem.build(path=problem.path, code=code, message=problem.sentence) for code, problem in refusals
    ]
    placements = [
        PreviewPlacement.build(
            document_id=planned.document.pk,
            signer_ref=placement.signer_ref,
            stamp=placement.stamp,
            page_number=placement.page_number,
            **asdict(placement.rect),
        )
        for planned in found.documents
        for placement in planned.placements
        if placement.signer_ref  # one that could not be read is a problem
    ]
    fields = [
        PreviewField.build(
            document_id=planned.document.pk,
            signer_ref=field.signer_ref,
            field=field.number,
            name=field.given.name,
            page_number=field.page_number,
            **asdict(field.rect),
        )
        for planned in found.documents
        for field in planned.fields
        if field.signer_ref and field.given.name
    ]
    more: dict[str, Any] = {"fields": fields} if fields else {}
    ignored = [
        *((path, _("there is no such field beside signature_request; it is ignored.")) for path in given.passed_over),
        *((path, _("there is no such field here; it is ignored.")) for path in found.passed_over),
    ]
    if ignored:
        more["warnings"] = [
            PreviewWarning.build(path=path, message=message) for path, message in ignored[:MOST_PASSED_OVER]
        ]
    return json_response(Preview.build(valid=not problems, problems=problems, placements=placements, **more))


@operation(
    "listSignatureRequests",
    "GET /signature_requests",
    SignatureRequests,
    "A page of requests, without `download_urls`.",
    accepts=(*PAGING, *filters(models.RequestStatus.values), EXTERNAL_ID),
    refuses=("validation_filters:requests", "validation_too_much"),
)
@expensive_work()
def list_signature_requests(request: ApiRequest) -> HttpResponse:
    """List signature requests.

    Lists the requests of the key's environment, oldest first unless `order` says otherwise.
    """
    asked, page = selection(request.GET, models.RequestStatus.values, EXTERNAL_ID), page_of(request.GET)
    rows = scoped(models.SignatureRequest, request.scope)
    count, entries = page_of_rows(rows, "signature_requests", request.scope, asked, page)
    ids = dict(entries.values_list("pk", "has_fields"))
    if any(ids.values()):
        require_readable(list(ids), size_of_fields)
    return page_answer(SignatureRequests, page, count, read(request.scope, ids))


@operation(
    "readSignatureRequest",
    "GET /signature_requests/{request_id}",
    SignatureRequest,
    "The request; once it is completed and finalized, with `download_urls`.",
)
def read_signature_request(request: ApiRequest, request_id: int) -> HttpResponse:
    """Read a signature request.

    Reads one request. Wait for `finalized`, not for `status`, before you download: sealing follows the last signature.
    `status` is what to go by when you reconcile.
    """
    return json_response(shown(request.scope, request_id))


def shown(scope: TenantScope, request_id: int) -> Answer:
    """Return one of the caller's requests as a read answers it. Raise ``not_found``."""
    found = own(scope, request_id)
    if found["finalized"] and found["status"] == models.RequestStatus.COMPLETED:
        found["download_urls"] = download_urls(request_id)
    return found


class EvidenceBundle(Output):
    """Where all evidence of a request lies, in one file. Reading it again gives a fresh address."""

    evidence_url: Url = Field(description="Presigned address of the bundle, a ZIP archive (ASiC-E).")
    expires_in: Literal[900] = Field(description="Seconds for which the address works.")


@operation(
    "readEvidence",
    "GET /signature_requests/{request_id}/evidence",
    EvidenceBundle,
    "Where the bundle can be downloaded.",
    refuses=("conflict_not_finalized", "gone_files"),
)
def read_evidence(request: ApiRequest, request_id: int) -> HttpResponse:
    """Download all evidence of a signature request.

    Gives the address of one archive with everything that proves a finalized request, to be checked without the service
    by `paraph verify` or by programs of others: uploaded and signed documents, proof, journal, kept timestamps,
    certificates, revocation data, and a page for a lawyer in the language of the request that says how. It is the same
    to the byte as long as nothing comes to it or is erased from it.
    """
    if not own(request.scope, request_id)["finalized"]:
        raise DomainError("conflict", _("The request is not finalized yet."))
    if not has_proof(request_id):
        raise DomainError("gone", _("The files of the request have been deleted."))
    return json_response(EvidenceBundle.build(evidence_url=bundle_address(request_id), expires_in=LINK_SECONDS))
