"""A draft as an application gives it: the body of a creation, of which anything may be missing. What is there is
checked as in a creation."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

from django.utils.translation import gettext as _
from pydantic import Field, create_model

from paraph.drafts.content import options_of, signer_of
from paraph.drafts.models import Json, blank
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    Assignment,
    DocumentInput,
    PartialRequest,
    SignatureRequestInput,
    SignerInput,
    Stamp,
    fields_of,
)
from paraph.signature_requests.payload import look_for_unknown
from paraph.signature_requests.placing import PlannedDocument, PlannedField, PlannedPlacement
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import ClosedInput, Id, Text
from paraph.tenants.scope import TenantScope

DraftSignerInput: Any = create_model(
    "DraftSignerInput",
    __base__=ClosedInput,
    __doc__="A person who signs or approves, as far as it is known.",
    **fields_of(SignerInput, SignerInput.model_fields, optional=True),
)


class DraftAssignment(ClosedInput):
    """The stamps and fields of one signer on one document, as far as they are known."""

    signer_ref: Text = Field(description=Assignment.model_fields["signer_ref"].description, examples=["landlord"])
    stamps: list[Stamp] | None = Field(None, max_length=MOST_STAMPS, description="Stamps that are given are whole.")
    fields: list[FieldInput] | None = Field(
        None, max_length=MOST_FIELDS, description="Fields that are given are whole."
    )


class DraftDocumentInput(ClosedInput):
    """An uploaded document, and who signs it where, as far as it is known."""

    id: Id = Field(description=DocumentInput.model_fields["id"].description)
    signers: list[DraftAssignment] | None = Field(
        None, max_length=MOST_SIGNERS, description="Those who sign this document."
    )


_SIGNERS: Any = list[DraftSignerInput] | None

DraftInput: Any = create_model(
    "DraftInput",
    __base__=ClosedInput,
    __doc__="What is to be signed, by whom, and where, as far as it is known.",
    **fields_of(SignatureRequestInput, OPTIONS, optional=True),
    signers=(_SIGNERS, Field(None, max_length=MOST_SIGNERS, description="As many as a request of your plan may have.")),
    documents=(
        list[DraftDocumentInput] | None,
        Field(None, max_length=MOST_DOCUMENTS, description="As many as a request of your plan may have."),
    ),
)

DraftCreation: Any = create_model(
    "DraftCreation",
    __base__=ClosedInput,
    __doc__="The body of a draft. Unknown fields are refused. A field that is null counts as missing.",
    signature_request=(DraftInput, Field()),
)


def read(scope: TenantScope, value: object, locale: str) -> Json:
    """Return what to keep of ``value``, that of the root key ``signature_request``, as a draft has it. ``locale``: of
    the draft.

    Raises what :func:`paraph.signature_requests.plan.make_plan` does, with every problem in one message.
    """
    known, problems = _without_nulls(value), Problems()
    if not isinstance(known, dict):
        problems.add("signature_request", _("it must be an object."))
        problems.refuse()
    look_for_unknown(value, DraftInput, "", problems, [])
    plan = make_plan(scope, _as_creation(known), problems, locale, shape=PartialRequest)
    options = options_of(plan.draft)
    if options.get("send_email"):  # as drafts are sent unless they say otherwise
        del options["send_email"]
    given = [
        (checked, signer_of(signer))
        for checked, signer in zip(plan.draft.signers, known.get("signers", []), strict=True)
    ]
    refs = {checked.ref: signer["ref"] for checked, signer in given}
    if plan.draft.mode == "sequential":
        free = _unused(plan.draft.signers)
        orders = {checked.ref: checked.order or next(free) for checked, _signer in given}
        given.sort(key=lambda each: orders[each[0].ref])
    documents = [{"id": each.document.pk, "signers": _assignments(each, refs)} for each in plan.documents]
    return {**blank(), **options, "signers": [signer for _checked, signer in given], "documents": documents}


def _assignments(planned: PlannedDocument, refs: dict[str, str]) -> list[Json]:
    """Return who has which stamps and fields on a document, all at coordinates."""
    found: dict[str, Json] = {}

    def of(ref: str) -> Json:
        return found.setdefault(ref, {"signer_ref": refs[ref], "stamps": [], "fields": []})

    for stamp in planned.placements:
        of(stamp.signer_ref)["stamps"].append(_place(stamp))
    for field in planned.fields:
        asked = field.given.model_dump(
            mode="json", exclude={"placement"}, exclude_unset=True, exclude_none=True, warnings=False
        )
        of(field.signer_ref)["fields"].append(asked | {"placement": _place(field)})
    return list(found.values())


def _place(at: PlannedPlacement | PlannedField) -> Json:
    return {"type": "coordinates", "value": {"page_number": at.page_number, **asdict(at.rect)}}


def _as_creation(known: Json) -> Json:
    """Return the payload with a ``ref`` for each signer, sent with mails, by a member who declares with sending that
    the signers' identity is known."""
    payload = {"send_email": True} | known
    if payload.get("identity_declaration_accepted", False) is False:
        payload["identity_declaration_accepted"] = True
    if isinstance(signers := payload.get("signers"), list):
        payload["signers"] = [
            {"ref": f"{number}. -"} | each if isinstance(each, dict) else each
            for number, each in enumerate(signers, start=1)
        ]
    if isinstance(documents := payload.get("documents"), list):
        payload["documents"] = [_document(each) if isinstance(each, dict) else each for each in documents]
    return payload


def _unused(signers: list[Any]) -> Iterator[int]:
    """Yield signing orders that no signer has, the lowest first."""
    taken = {signer.order for signer in signers}
    return (number for number in count(1) if number not in taken)


def _document(document: Json) -> Json:
    """Leave out the assignments without stamps and fields."""
    if not isinstance(document.get("signers"), list):
        return document
    signers = [
        each for each in document["signers"] if not isinstance(each, dict) or each.get("stamps") or each.get("fields")
    ]
    return document | {"signers": signers}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return value
