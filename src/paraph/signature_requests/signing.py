"""Deciding whether a signer may sign at a moment, for the page, the codes, the signature and the invitation; and what
they sign: the documents with a stamp of theirs, or for an approver the documents that list them."""

from collections import defaultdict
from datetime import datetime
from enum import Enum
from typing import Any

from django.db.models import QuerySet

from paraph import words
from paraph.documents.models import Document, UnrenderablePage
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import (
    Approval,
    Mode,
    Placement,
    RequestDocument,
    RequestStatus,
    SignatureRequest,
    Signer,
    SignerStatus,
)


class SigningEligibility(Enum):
    """Whether a signer may sign, or why not. Values are error codes of the signer endpoints, except for ``OPEN``."""

    OPEN = "open"
    SIGNED = "already_signed"
    EXPIRED = "expired"
    NOT_YOUR_TURN = "not_your_turn"

    def refusal(self) -> DomainError:
        """Return the refusal of somebody who may not sign, in the words of the signing page."""
        return DomainError(self.value, str(words.of("page", "en")[f"{self.value}_title"]))


def signing_eligibility(signer: Signer, moment: datetime | None = None) -> SigningEligibility:
    """Return whether the signer may sign at the moment, by default now. Judges the rows as they were loaded: callers
    lock and reload them where the result must hold until a commit."""
    if signer.status == SignerStatus.SIGNED:
        return SigningEligibility.SIGNED
    if is_over(signer.request, moment or clock.now()):
        return SigningEligibility.EXPIRED
    may_begin = signer.request.mode == Mode.PARALLEL or signer.order == 1
    if may_begin or not _unsigned(signer.request_id).filter(order__lt=signer.order).exists():
        return SigningEligibility.OPEN
    return SigningEligibility.NOT_YOUR_TURN


def require_open(signer: Signer, moment: datetime | None = None) -> None:
    """Raise ``DomainError`` ``already_signed``, ``expired`` or ``not_your_turn`` unless the signer may sign at the
    moment, by default now."""
    eligibility = signing_eligibility(signer, moment)
    if eligibility is not SigningEligibility.OPEN:
        raise eligibility.refusal()


def is_over(request: SignatureRequest, moment: datetime) -> bool:
    """Return whether the request takes no more signatures: from the very second of ``expires_at``, whether or not a
    worker has marked it ``expired``."""
    return request.status != RequestStatus.PENDING or moment >= request.expires_at


def next_signer(request: SignatureRequest) -> int | None:
    """Return the id of the first signer, in signing order, who has not signed; None if all have."""
    return _unsigned(request.pk).order_by("order").values_list("pk", flat=True).first()


def _unsigned(request_id: int) -> QuerySet[Signer]:
    return Signer.objects.filter(request=request_id).exclude(status=SignerStatus.SIGNED)


def listed(signer: Signer) -> QuerySet[RequestDocument]:
    """Return which of the request's documents the signer signs or approves, in their order. Others are not theirs to
    read."""
    places: Any = signer.approvals if signer.is_approver else signer.placements
    return RequestDocument.objects.filter(pk__in=places.values("request_document"))


def documents_of(signer: Signer) -> list[Document]:
    """Return the documents of :func:`listed`."""
    return [row.document for row in listed(signer).select_related("document")]


def signed_digests(signer: Signer) -> list[bytes]:
    """Return the SHA-256 of each document that the signer signs, in any order."""
    return [bytes(digest) for digest in listed(signer).values_list("document__sha256", flat=True)]


def signed_names(request_id: int) -> dict[int, list[str]]:
    """Return for each signer of the request (by id) the names of their documents, in the order of the request."""
    columns = ("signer_id", "request_document__position", "request_document__document__name")
    places = Placement.objects.filter(signer__request=request_id).values_list(*columns)
    approvals = Approval.objects.filter(signer__request=request_id).values_list(*columns)
    names: dict[int, list[str]] = defaultdict(list)
    for signer_id, _, name in sorted(places.union(approvals)):
        names[signer_id].append(name)
    return names


class PageNotShownError(DomainError):
    """A page cannot be shown, so that the signer cannot sign."""

    def __init__(self, page_number: int, document_name: str, document_id: int) -> None:
        message = (
            f"Page {page_number} of “{document_name}” cannot be shown, so it cannot be signed. "
            "Please ask the sender for another file."
        )
        super().__init__("validation_error", message)
        self.page_number = page_number
        self.document_name = document_name
        self.document_id = document_id


def require_shown(signer: Signer) -> None:
    """Raise :class:`PageNotShownError` if the picture of a page failed in a document that the signer signs."""
    pages = UnrenderablePage.objects.filter(document__in=listed(signer).values("document")).order_by("-page_number")
    first = {page.document_id: page.page_number for page in pages}
    for document in documents_of(signer) if first else ():
        if document.pk in first:
            raise PageNotShownError(first[document.pk], document.name, document.pk)
