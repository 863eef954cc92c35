"""What a template keeps of a draft or of a request: what holds for whoever signs next. The values that fields were
filled in with beforehand, what an application noted of the request, and the addresses that it named for it are of its
people, and are not kept."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from paraph.drafts.models import OPTIONS, WRITTEN, Draft
from paraph.drafts.payload import payload
from paraph.request_templates.models import Template
from paraph.signature_requests.fields.kinds import KINDS
from paraph.signature_requests.models import Channel, Field, Placement, SignatureRequest

Json = dict[str, Any]

_KEPT_OPTIONS = ("send_email", "reminders", "decline_allowed")


@dataclass(frozen=True)
class Content:
    """``options`` by the names of their columns. ``signers``: the ``otp_channel`` and the ``role`` of each;
    ``documents``: as :class:`paraph.request_templates.models.Template` has them."""

    options: Json
    signers: list[Json]
    documents: list[Json]


def of_draft(draft: Draft) -> Content:
    whole, rows = payload(draft), list(draft.signers.all())
    ref_of = {signer["ref"]: str(position) for position, signer in enumerate(whole["signers"])}
    documents = [
        {"id": each["id"], "signers": [_valueless(one, ref_of[one["signer_ref"]]) for one in each["signers"]]}
        for each in whole["documents"]
    ]
    options = draft.options()
    options["more_options"] = {name: each for name, each in draft.more_options.items() if name in _KEPT_OPTIONS}
    return Content(options, [{"otp_channel": row.otp_channel, "role": row.role} for row in rows], documents)


def of_request(request: SignatureRequest) -> Content:
    signers = list(request.signers.all())
    documents = []
    for row in request.request_documents.prefetch_related("placements", "fields"):
        assignments = [
            {
                "signer_ref": str(position),
                "stamps": [_place(each) for each in row.placements.all() if each.signer_id == signer.pk],
                "fields": [_field(each) for each in row.fields.all() if each.signer_id == signer.pk],
            }
            for position, signer in enumerate(signers)
        ]
        kept = [
            each
            for each, signer in zip(assignments, signers, strict=True)
            if each["stamps"] or each["fields"] or signer.is_approver
        ]
        documents.append({"id": row.document_id, "signers": kept})
    options = {name: getattr(request, name) for name in (*OPTIONS, *WRITTEN)}
    if request.decline_allowed:
        options["more_options"] = {"decline_allowed": True}
    roles = [{"otp_channel": signer.otp_channel or Channel.EMAIL, "role": signer.role} for signer in signers]
    return Content(options, roles, documents)


def _valueless(assignment: Json, ref: str) -> Json:
    fields = [{name: each for name, each in field.items() if name != "value"} for field in assignment.get("fields", ())]
    return assignment | {"signer_ref": ref, "fields": fields}


def _place(at: Placement | Field) -> Json:
    value = {name: getattr(at, name) for name in ("page_number", "x", "y", "width", "height")}
    return {"type": "coordinates", "value": value}


def _field(asked: Field) -> Json:
    """Return the field of the payload, without what is as by default."""
    content: Json = {"name": asked.name, "type": asked.type, "placement": _place(asked)}
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
    return content | {"font_size": asked.font_size}


def size_of_placements(ids: list[int]) -> int:
    """Return about how many bytes an answer tells of what these templates place."""
    rows = Template.objects.filter(pk__in=ids)
    size: int = rows.aggregate(size=Coalesce(Sum(Length(Cast("request", TextField()))), 0))["size"]
    return size
