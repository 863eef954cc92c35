"""What a template keeps of a draft or of a request: what holds for whoever signs next. The values that fields were
filled in with beforehand, what an application noted of the request, and the addresses that it named for it are of its
people, and are not kept."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from paraph.drafts.models import OPTIONS, WRITTEN, Draft
from paraph.request_templates.models import TemplateDocument, TemplateField, TemplateStamp
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.models import Channel, Field, SignatureRequest

_KEPT_OPTIONS = ("send_email", "reminders", "decline_allowed")
_STAMP_BYTES = 120
_RECTANGLE = ("page_number", "x", "y", "width", "height")

StampPlaces = list[tuple[int, dict[str, Any]]]
"""The signer, as an index, and the rectangle of each stamp."""

FieldPlaces = list[tuple[int, dict[str, Any]]]
"""The signer, as an index, and what each field has: the rectangle and the ``content``."""


@dataclass(frozen=True)
class Content:
    """``channels``: how each signer gets codes. ``documents``: the id of each with the places on it. ``given``: the
    placements on each as an application gave them. ``roles``: of those who do not all sign; ``fields``: those on each
    document, where there are any."""

    options: dict[str, Any]
    channels: list[str]
    documents: list[tuple[int, StampPlaces]]
    given: list[list[dict[str, Any]]] | None = None
    roles: list[str] = field(default_factory=list)
    fields: list[FieldPlaces] = field(default_factory=list)


def of_draft(draft: Draft) -> Content:
    signers = list(draft.signers.all())
    index_of = {signer.pk: index for index, signer in enumerate(signers)}
    rows = draft.documents.prefetch_related("stamps", "fields")
    documents = [
        (row.document_id, [(index_of[stamp.signer_id], stamp.rectangle()) for stamp in row.stamps.all()])
        for row in rows
    ]
    fields = [
        [
            (index_of[each.signer_id], each.rectangle() | {"content": _valueless(each.content)})
            for each in row.fields.all()
        ]
        for row in rows
    ]
    channels, roles = [signer.otp_channel for signer in signers], [signer.role for signer in signers]
    options = draft.options()
    options["more_options"] = {name: each for name, each in draft.more_options.items() if name in _KEPT_OPTIONS}
    return Content(options, channels, documents, roles=roles, fields=fields)


def of_request(request: SignatureRequest) -> Content:
    signers = list(request.signers.all())
    rows = request.request_documents.prefetch_related("placements", "fields")
    index_of = {signer.pk: index for index, signer in enumerate(signers)}
    documents = [
        (
            row.document_id,
            [
                (
                    index_of[placement.signer_id],
                    {name: getattr(placement, name) for name in _RECTANGLE},
                )
                for placement in row.placements.all()
            ],
        )
        for row in rows
    ]
    fields = [[(index_of[each.signer_id], _field(each)) for each in row.fields.all()] for row in rows]
    options = {name: getattr(request, name) for name in (*OPTIONS, *WRITTEN)}
    if request.decline_allowed:
        options["more_options"] = {"decline_allowed": True}
    channels = [signer.otp_channel or Channel.EMAIL for signer in signers]
    return Content(options, channels, documents, roles=[signer.role for signer in signers], fields=fields)


def _valueless(content: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in content.items() if name != "value"}


def _field(asked: Field) -> dict[str, Any]:
    """Return the rectangle and the content of the payload, without what is as by default."""
    content: dict[str, Any] = {"name": asked.name, "type": asked.type}
    if asked.label != asked.name:
        content["label"] = asked.label
    if "required" in KINDS[asked.type].attributes:
        content["required"] = asked.required
    given = ("options", "max_length", "minimum", "maximum")
    content |= {name: value for name in given if (value := getattr(asked, name)) is not None and value != ""}
    if asked.read_only:  # whoever sends the template says what stands there
        content["read_only"] = True
    if KINDS[asked.type].is_number:  # bounds are numbers in a payload, and texts in rows
        content |= {name: float(content[name]) for name in ("minimum", "maximum") if name in content}
    return {name: getattr(asked, name) for name in _RECTANGLE} | {"content": content | {"font_size": asked.font_size}}


def size_of_placements(ids: list[int]) -> int:
    """Return about how many bytes an answer tells of what these templates place: of each document what was given, else
    its rows."""
    given = TemplateDocument.objects.filter(template__in=ids, given__isnull=False)
    placed = {"document__template__in": ids, "document__given__isnull": True}
    return (
        _bytes(given, "given")
        + TemplateStamp.objects.filter(**placed).count() * _STAMP_BYTES
        + _bytes(TemplateField.objects.filter(**placed), "content")
    )


def _bytes(rows: QuerySet[Any], column: str) -> int:
    size: int = rows.aggregate(size=Coalesce(Sum(Length(Cast(column, TextField())) + _STAMP_BYTES), 0))["size"]
    return size
