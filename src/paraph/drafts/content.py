"""The content of drafts and templates: the JSON of a creation (rule 4.5), in which a draft may lack anything.

Signers are known by refs that stay the same when others come and go; approvers are on all documents without being
listed. In a template a signer is a role, and has a ``name`` in place of a person's. Stamps and fields of a draft stand
at coordinates; those of a template stand as they were given, and where that is no whole rectangle, ``at`` has it: None
for an optional stamp whose tag is nowhere.

Applications give a draft as the body of a creation that may lack anything; what is there is checked as in a creation.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from secrets import randbelow
from typing import Any

from pydantic import Field, create_model

from paraph.drafts.models import Json, blank
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    PERSON,
    TAKING_PART,
    Assignment,
    DocumentInput,
    PartialRequest,
    SignatureRequestInput,
    SignerInput,
    Stamp,
    fields_of,
)
from paraph.signature_requests.models import Channel, Role
from paraph.signature_requests.payload import look_for_unknown, object_of
from paraph.signature_requests.placing import PlannedDocument, PlannedField, PlannedPlacement
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import ClosedInput, Id, Text
from paraph.tenants.scope import TenantScope

_OF_SIGNERS = (*PERSON, *TAKING_PART)


def signer_of(known: Mapping[str, Any], ref: str = "") -> Json:
    """Return a signer with what is known of them, and with a new ref unless one is given. A new ref is one that no
    signer has or had, because it stands in the addresses of their pictures, which browsers keep."""
    given = {name: known[name] for name in _OF_SIGNERS if known.get(name)}
    return {"ref": ref or str(1 + randbelow(10**12)), "otp_channel": Channel.EMAIL.value, **given}


def options_of(checked: SignatureRequestInput) -> Json:
    """Return the options that were given, without the declaration of identity, which is for the sender to make."""
    given: Json = checked.model_dump(mode="json", include=set(OPTIONS), exclude_unset=True, exclude_none=True)
    given.pop("identity_declaration_accepted", None)
    return given


def creation_of(content: Json) -> Json:
    """Return the creation with which a member sends the content.

    Its refs name signers to members: with the number, because two may have one name. Mails are sent unless an
    application prepared the draft and wants none, so the member declares with sending that the signers are identified.
    """
    refs, signers = {}, []
    for number, signer in enumerate(content["signers"], start=1):
        known = dict(signer)
        name = known.pop("name", "") or f"{known.get('first_name', '')} {known.get('last_name', '')}"
        refs[signer["ref"]] = f"{number}. {name}"[:200]
        signers.append({**known, "ref": refs[signer["ref"]], "order": number})
    documents = [
        {"id": each["id"], "signers": list(_assignments(each, content["signers"], refs))}
        for each in content["documents"]
    ]
    own = {"identity_declaration_accepted": True, "signers": signers, "documents": documents}
    return {"send_email": True, **content, **own}


def _assignments(document: Json, signers: Sequence[Json], refs: Mapping[str, str]) -> Iterator[Json]:
    listed = {each["signer_ref"]: placed(each) for each in document["signers"]}
    for signer in signers:
        own = listed.get(signer["ref"], {})
        if signer.get("role") == Role.APPROVER:
            yield {"signer_ref": refs[signer["ref"]]}
        elif own.get("stamps") or own.get("fields"):
            yield own | {"signer_ref": refs[signer["ref"]]}


def placed(assignment: Json) -> Json:
    """Return the assignment with all stamps, page by page, and fields at coordinates."""
    stamps = [_at(each["value"], each) for each in assignment.get("stamps", ())]
    fields = [
        {name: part for name, part in each.items() if name != "at"}
        | {"placement": _at(each["placement"]["value"], each)}
        for each in assignment.get("fields", ())
    ]
    there = sorted((stamp for stamp in stamps if stamp["value"]), key=lambda each: int(each["value"]["page_number"]))
    return {"signer_ref": assignment["signer_ref"], "stamps": there, "fields": fields}


def _at(given: Json, entry: Json) -> Json:
    return {"type": "coordinates", "value": entry.get("at", given)}


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
    """Return what to keep of ``value``, that of the root key ``signature_request``. ``locale``: of the draft.

    Raise what :func:`paraph.signature_requests.plan.make_plan` raises, with every problem in one message.
    """
    known, problems = object_of(_without_nulls(value)), Problems()
    look_for_unknown(value, DraftInput, problems)
    plan = make_plan(scope, _as_creation(known), problems, locale, shape=PartialRequest)
    options = options_of(plan.draft)
    if options.get("send_email"):  # drafts are sent with mails unless they say otherwise
        del options["send_email"]
    given = [
        (checked, signer_of(signer))
        for checked, signer in zip(plan.draft.signers, known.get("signers", []), strict=True)
    ]
    refs = {checked.ref: signer["ref"] for checked, signer in given}
    if plan.draft.mode == "sequential":
        taken = {checked.order for checked, _signer in given}
        free = (number for number in count(1) if number not in taken)
        orders = {checked.ref: checked.order or next(free) for checked, _signer in given}
        given.sort(key=lambda each: orders[each[0].ref])
    documents = [{"id": each.document.pk, "signers": _planned_assignments(each, refs)} for each in plan.documents]
    return {**blank(), **options, "signers": [signer for _checked, signer in given], "documents": documents}


def _planned_assignments(planned: PlannedDocument, refs: dict[str, str]) -> list[Json]:
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
    """Return the payload with a ``ref`` for each signer, to be sent with mails by a member, who declares by sending it
    that the signers' identity is known."""
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


def _document(document: Json) -> Json:
    """Return the document without assignments that have neither stamps nor fields."""
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
