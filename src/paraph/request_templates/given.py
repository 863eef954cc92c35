"""A template as an application gives it: checked as a creation, of which nobody is known."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from paraph.drafts.content import options_of as options_given
from paraph.drafts.models import Json
from paraph.request_templates.bulk.columns import folded
from paraph.request_templates.input import TemplateInput
from paraph.request_templates.models import LONGEST_ROLE, Template
from paraph.request_templates.saving import Names
from paraph.signature_requests.input import PERSON, TAKING_PART, Assignment, UnnamedRequest, options_of
from paraph.signature_requests.payload import look_for_unknown
from paraph.signature_requests.placing import PlannedDocument, PlannedField, PlannedPlacement
from paraph.signature_requests.plan import RequestPlan, make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problems, restated
from paraph.signature_requests.values import Input, InvalidValueError, text
from paraph.tenants.scope import TenantScope


def read(scope: TenantScope, value: object, locale: str) -> tuple[Names, Template]:
    """Return what to save of ``value``, that of the root key ``template``. ``locale``: of its requests,
    "" where none was named.

    Raises what :func:`paraph.signature_requests.plan.make_plan` does, with every problem in one message.
    """
    problems = Problems()
    if not isinstance(value, dict):
        problems.add("template", _("it must be an object."))
        problems.refuse()
    assert isinstance(value, dict)
    look_for_unknown(value, TemplateInput, "", problems, [])
    _check_text(value, "name", "name", problems)
    _check_roles(value, problems)
    try:
        plan = make_plan(scope, _as_creation(value), locale=locale, shape=UnnamedRequest)
    except InvalidPayloadError as refused:
        raise restated(refused, _path, problems) from refused
    problems.refuse()
    return _kept(value, plan, locale)


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
    """Return what a role has on a document, as it was given, with the rectangles that it comes to."""
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
    """Return the payload without people. What is malformed stays so, and is refused as there."""
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
    """Return what a field of the payload is called in the template."""
    path = re.sub(r"^(signers\[\d+\])\.ref$", r"\1.name", path)
    return re.sub(r"\bsigners\b", "roles", path).replace(".signer_ref", ".role")


def _check_text(holder: Json, name: str, path: str, problems: Problems, **limits: int) -> bool:
    try:
        text(holder[name], **limits)
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
        if _check_text(role, "name", path, problems, longest=LONGEST_ROLE):
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
