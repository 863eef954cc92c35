"""The bodies of calls about templates: their fields, and what the OpenAPI document says of them; and a template as an
application gives it, checked as a creation in which nobody is named."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

from django.utils.translation import gettext as _
from pydantic import Field, PlainValidator, WithJsonSchema, create_model

from paraph.drafts.content import options_of as options_given
from paraph.drafts.models import Json
from paraph.request_templates.csv_file import folded
from paraph.request_templates.models import LONGEST_ROLE, Template
from paraph.request_templates.saving import Names
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldInput, FieldName, PrefilledValue
from paraph.signature_requests.input import (
    MOST_DOCUMENTS,
    MOST_SIGNERS,
    MOST_STAMPS,
    OPTIONS,
    PERSON,
    TAKING_PART,
    Assignment,
    SignatureRequestInput,
    SignerInput,
    Stamp,
    UnnamedRequest,
    fields_of,
    options_of,
)
from paraph.signature_requests.payload import look_for_unknown, object_of
from paraph.signature_requests.placing import PlannedDocument, PlannedField, PlannedPlacement
from paraph.signature_requests.plan import RequestPlan, make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problems, restated
from paraph.signature_requests.values import PRINTABLE, ClosedInput, Id, Input, InvalidValueError, OrNull, Text, text
from paraph.tenants.scope import TenantScope

RoleName = Annotated[
    str,
    PlainValidator(text),
    WithJsonSchema(
        {"type": "string", "minLength": 1, "maxLength": LONGEST_ROLE, "pattern": rf"^{PRINTABLE}*[^\W_]{PRINTABLE}*$"}
    ),
]

RoleInput: Any = create_model(
    "RoleInput",
    __base__=ClosedInput,
    __doc__="In whose place somebody signs, such as “Tenant”.",
    name=(
        RoleName,
        Field(
            description="Unique in the template, whether in capital or small letters, and with a letter or a number in "
            "it.",
            examples=["Tenant"],
        ),
    ),
    **fields_of(SignerInput, TAKING_PART),
)


class RoleStamps(ClosedInput):
    """The stamps and fields of one role on one document. A role appears once per document. One that approves has
    neither."""

    role: RoleName = Field(description="The `name` of a role of the template.", examples=["Tenant"])
    stamps: Annotated[list[Stamp], OrNull] = Field(
        [],
        max_length=MOST_STAMPS,
        description="All stamps of the role on this document, optional ones too: at least one, but none of a role that "
        "approves.",
    )
    fields: Annotated[list[FieldInput], OrNull] = Field(
        [], max_length=MOST_FIELDS, description="What whoever signs in the role fills in on this document."
    )


class TemplateDocumentInput(ClosedInput):
    """An uploaded document, and which roles sign it where. A role absent from the list does not sign it."""

    id: Id = Field(description="The id answered by the upload, of the key's environment. Listed once.")
    roles: list[RoleStamps] = Field(
        min_length=1,
        max_length=MOST_SIGNERS,
        description="Those that sign or approve this document: at least one that signs. Every role is listed on at "
        "least one.",
    )


_ROLES: Any = list[RoleInput]

TemplateInput: Any = create_model(
    "TemplateInput",
    __base__=ClosedInput,
    __doc__="A signature request without people.",
    name=(Text, Field(description="What lists are sorted by. Two templates may have one name.")),
    **fields_of(SignatureRequestInput, OPTIONS),
    roles=(
        _ROLES,
        Field(
            min_length=1,
            max_length=MOST_SIGNERS,
            description="In the signing order of `sequential` mode. As many as your plan allows signers.",
        ),
    ),
    documents=(
        list[TemplateDocumentInput],
        Field(min_length=1, max_length=MOST_DOCUMENTS, description="As many as a request of your plan may have."),
    ),
)

TemplateCreation: Any = create_model(
    "TemplateCreation",
    __base__=ClosedInput,
    __doc__="The body of a template's creation. Unknown fields are refused. An optional field that is null counts as "
    "absent.",
    template=(TemplateInput, Field()),
)


class PrefilledField(ClosedInput):
    """What a field of the role begins with, in place of the template's own."""

    name: FieldName = Field(description="The `name` of a field of the role; on every document that has one.")
    value: PrefilledValue = Field(description="As in a creation.")


FilledRoleInput: Any = create_model(
    "FilledRoleInput",
    __base__=ClosedInput,
    __doc__="Who signs in a role of the template.",
    role=(RoleName, Field(description="The `name` of the role.", examples=["Tenant"])),
    **fields_of(SignerInput, (*PERSON, "language")),
    fields=(
        Annotated[list[PrefilledField], OrNull],
        Field([], max_length=MOST_FIELDS * MOST_DOCUMENTS, description="Values for fields of the role."),
    ),
)

_FILLED_ROLES: Any = list[FilledRoleInput]

TemplateSendingInput: Any = create_model(
    "TemplateSendingInput",
    __base__=ClosedInput,
    __doc__="Who signs, and what is to be otherwise than in the template.",
    signers=(
        _FILLED_ROLES,
        Field(
            min_length=1,
            max_length=MOST_SIGNERS,
            description="One for each role of the template, in any order. A role that always has the same person may "
            "be left out.",
        ),
    ),
    **fields_of(SignatureRequestInput, OPTIONS, optional=True),
)

TemplateSending: Any = create_model(
    "TemplateSending",
    __base__=ClosedInput,
    __doc__="The body of a creation from a template. Unknown fields are refused. An option that is absent or null is "
    "as in the template.",
    signature_request=(TemplateSendingInput, Field()),
)


def read(scope: TenantScope, value: object, locale: str) -> tuple[Names, Template]:
    """Return what to save of ``value``, that of the root key ``template``. ``locale``: of its requests, "" for none.

    Raise what :func:`paraph.signature_requests.plan.make_plan` raises, with every problem in one message.
    """
    said, problems = object_of(value, "template"), Problems()
    look_for_unknown(said, TemplateInput, problems)
    _check_name(said, "name", problems)
    _check_roles(said, problems)
    try:
        plan = make_plan(scope, _as_creation(said), locale=locale, shape=UnnamedRequest)
    except InvalidPayloadError as refused:
        raise restated(refused, _path, problems) from refused
    problems.refuse()
    return _kept(said, plan, locale)


def _kept(value: Json, plan: RequestPlan, locale: str) -> tuple[Names, Template]:
    chosen = plan.draft
    options = {name: each for name, each in options_given(chosen).items() if each is not False}
    if value.get("identity_declaration_accepted"):
        options["identity_declaration_accepted"] = True
    roles = [signer.ref for signer in chosen.signers]
    documents = [
        {
            "id": each.id,
            "signers": [_assignment(one, str(roles.index(one.signer_ref)), planned) for one in each.signers],
        }
        for each, planned in zip(chosen.documents, plan.documents, strict=True)
    ]
    signers = [
        signer.model_dump(include=set(TAKING_PART), exclude_unset=True, exclude_none=True) for signer in chosen.signers
    ]
    content = {**options, "signers": signers, "documents": documents}
    return Names(value["name"], roles), Template(locale=locale, content=content)


def _assignment(given: Assignment, ref: str, planned: PlannedDocument) -> Json:
    """Return the stamps and fields of a role on a document as they were given, with the rectangles planned for them."""
    stamps = {each.stamp: each for each in planned.placements if each.signer_ref == given.signer_ref}
    fields = {each.number: each for each in planned.fields if each.signer_ref == given.signer_ref}
    return {
        "signer_ref": ref,
        "stamps": [
            _with_place(stamp.model_dump(mode="json", exclude_unset=True), stamp.value, stamps.get(number))
            for number, stamp in enumerate(given.stamps)
        ],
        "fields": [
            _with_place(
                field.model_dump(mode="json", exclude_unset=True, exclude_none=True, warnings=False),
                field.placement.value,
                fields[number],
            )
            for number, field in enumerate(given.fields)
        ],
    }


def _with_place(said: Json, value: Input, planned: PlannedPlacement | PlannedField | None) -> Json:
    at = {"page_number": planned.page_number, **asdict(planned.rect)} if planned else None
    whole = {name: getattr(value, name, None) for name in ("page_number", "x", "y", "width", "height")}
    is_said = at == whole and value.model_fields_set >= {"width", "height"}
    return said if is_said else said | {"at": at}


def _as_creation(value: Json) -> Json:
    """Return the payload without people. What is malformed is left as it is, and refused as in a creation."""
    payload = options_of(value)
    if payload.get("identity_declaration_accepted", False) is False:
        payload["identity_declaration_accepted"] = True  # whoever sends declares it
    if "roles" in value:
        payload["signers"] = _each(value["roles"], _signer)
    if "documents" in value:
        payload["documents"] = _each(value["documents"], _document)
    return payload


def _signer(role: Json, index: int) -> Json:
    known = {name: each for name, each in role.items() if name not in PERSON}
    return _renamed(known, "name", "ref") | {"order": index + 1}


def _document(document: Json, _index: int) -> Json:
    found = _renamed(document, "roles", "signers")
    if "signers" in found:
        found["signers"] = _each(found["signers"], lambda each, _: _renamed(each, "role", "signer_ref"))
    return found


def _renamed(entry: Json, old: str, new: str) -> Json:
    return {new if name == old else name: each for name, each in entry.items()}


def _each(entries: Any, change: Any) -> Any:
    """Return the entries, with those that are objects changed."""
    if not isinstance(entries, list):
        return entries
    return [change(each, index) if isinstance(each, dict) else each for index, each in enumerate(entries)]


def _path(path: str) -> str:
    """Return the path of a field of the payload as the template has it."""
    path = re.sub(r"^(signers\[\d+\])\.ref$", r"\1.name", path)
    return re.sub(r"\bsigners\b", "roles", path).replace(".signer_ref", ".role")


def _check_name(holder: Json, path: str, problems: Problems, **limits: int) -> bool:
    try:
        text(holder["name"], **limits)
    except InvalidValueError as invalid:
        problems.add(path, str(invalid))
    except KeyError:
        problems.add(path, _("it is required."))
    else:
        return True
    return False


def _check_roles(value: Json, problems: Problems) -> None:
    """Add what is wrong with the names of roles and with references to them."""
    names: dict[int, str] = {}
    for index, role in _objects(value, "roles"):
        path = f"roles[{index}].name"
        if _check_name(role, path, problems, longest=LONGEST_ROLE):
            if folded(role["name"]):
                names[index] = role["name"]
            else:
                problems.add(path, _("it must contain a letter or a number."))
    counts = Counter(map(folded, names.values()))
    for index, name in names.items():
        if counts[folded(name)] > 1:
            sentence = _("“%(role)s” is the name of another role too.")
            problems.add(f"roles[{index}].name", sentence % {"role": name})
    if isinstance(value.get("roles"), list) and len(names) == len(value["roles"]):
        _check_references(value, names, problems)


def _check_references(value: Json, names: dict[int, str], problems: Problems) -> None:
    known, used = set(names.values()), set[str]()
    for number, document in _objects(value, "documents"):
        here: set[str] = set()
        for index, each in _objects(document, "roles"):
            role, path = each.get("role"), f"documents[{number}].roles[{index}].role"
            if not isinstance(role, str):
                return  # it may be any of them
            if role not in known:
                problems.add(path, _("the template has no role “%(role)s”.") % {"role": role[:100]})
            elif role in here:
                sentence = _("role “%(role)s” is listed twice on this document; one entry takes all its stamps.")
                problems.add(path, sentence % {"role": role})
            here.add(role)
        if not here:
            return
        used |= here
    for index, name in names.items() if used else ():
        if name not in used:
            problems.add(f"roles[{index}]", _("role “%(role)s” signs no document.") % {"role": name})


def _objects(holder: Json, name: str) -> Iterator[tuple[int, Json]]:
    entries = holder.get(name)
    for index, each in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(each, dict):
            yield index, each
