"""What a template keeps of a draft or of a request: everything but the people."""

from dataclasses import dataclass
from typing import Any

from paraph.drafts.models import OPTIONS, WRITTEN, Draft
from paraph.signature_requests.models import Channel, SignatureRequest

StampPlaces = list[tuple[int, dict[str, Any]]]
"""The signer, as an index, and the rectangle of each stamp."""


@dataclass(frozen=True)
class Content:
    """``channels``: how each signer gets codes. ``documents``: the id of each with the places on it. ``given``: the
    placements on each as an application gave them."""

    options: dict[str, Any]
    channels: list[str]
    documents: list[tuple[int, StampPlaces]]
    given: list[list[dict[str, Any]]] | None = None


def of_draft(draft: Draft) -> Content:
    signers = list(draft.signers.all())
    index_of = {signer.pk: index for index, signer in enumerate(signers)}
    rows = draft.documents.prefetch_related("stamps")
    documents = [
        (row.document_id, [(index_of[stamp.signer_id], stamp.rectangle()) for stamp in row.stamps.all()])
        for row in rows
    ]
    return Content(draft.options(), [signer.otp_channel for signer in signers], documents)


def of_request(request: SignatureRequest) -> Content:
    signers = list(request.signers.all())
    index_of = {signer.pk: index for index, signer in enumerate(signers)}
    documents = [
        (
            row.document_id,
            [
                (
                    index_of[placement.signer_id],
                    {name: getattr(placement, name) for name in ("page_number", "x", "y", "width", "height")},
                )
                for placement in row.placements.all()
            ],
        )
        for row in request.request_documents.prefetch_related("placements")
    ]
    channels = [signer.otp_channel or Channel.EMAIL for signer in signers]
    return Content({name: getattr(request, name) for name in (*OPTIONS, *WRITTEN)}, channels, documents)
