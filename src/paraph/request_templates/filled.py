"""The creation of a template with people in its roles (rule 4.5): the people of a bulk send's row, or those that an
application names, with values in place of those that the template's fields have."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from paraph.drafts.content import creation_of
from paraph.drafts.models import Json
from paraph.request_templates.input import TemplateSendingInput
from paraph.request_templates.models import Template, person_of
from paraph.signature_requests.fields.input import FieldInput, check_field
from paraph.signature_requests.input import PERSON, options_of
from paraph.signature_requests.payload import look_for_unknown, object_of
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import shown

Person = dict[str, Any]
"""``first_name``, ``last_name``, ``email``, ``phone``, and, where there are any, ``values``: those of fields, by name,
as the payload has them."""


def with_people(creation: Json, people: Sequence[Person]) -> Json:
    """Return the creation of a template with these people in the roles, in their order."""
    signers = [{**role, **person} for role, person in zip(creation["signers"], people, strict=True)]
    values = {signer["ref"]: signer.pop("values", {}) for signer in signers}
    documents = [
        {"id": each["id"], "signers": [_with_values(one, values[one["signer_ref"]]) for one in each["signers"]]}
        for each in creation["documents"]
    ]
    return {**creation, "signers": signers, "documents": documents}


def _with_values(assignment: Json, values: Json) -> Json:
    if not values or "fields" not in assignment:
        return assignment
    fields = [
        field | ({"value": values[field["name"]]} if field["name"] in values else {}) for field in assignment["fields"]
    ]
    return {**assignment, "fields": fields}


def fill(template: Template, value: object, problems: Problems) -> Json:
    """Return the payload of the template with the signers and options of ``value``, which stands under the root key
    ``signature_request``. Add to ``problems`` what is wrong with the roles that it names. Signers keep the order of
    ``value``; whatever else is malformed is left as it is. Raise ``validation_error`` where ``value`` is no object."""
    said = object_of(value)
    look_for_unknown(said, TemplateSendingInput, problems)
    creation = creation_of(template.content)
    roles = {role.name: signer for role, signer in zip(template.roles, creation["signers"], strict=True)}
    payload = {**template.content, **options_of(said), "documents": creation["documents"]}
    del payload["signers"]
    if "signers" in said:
        payload["signers"] = _signers(roles, said["signers"], problems)
        _prefill_all(payload["documents"], payload["signers"], said["signers"], problems)
    return payload


def path_of(path: str) -> str:
    """Return the path of a field of the payload as the application's call has it."""
    if path.startswith("documents"):
        return "template." + path.replace("signers", "roles").replace("signer_ref", "role")
    return re.sub(r"^(signers\[\d+\])\.ref$", r"\1.role", path)


def _signers(roles: dict[str, Json], given: Any, problems: Problems) -> Any:
    """Return the signers of the payload: those given, then the roles that none of them names."""
    if not isinstance(given, list):
        return given
    free = dict(roles)
    signers: list[Any] = []
    for index, each in enumerate(given):
        path = f"signers[{index}].role"
        signers.append(_signer(each, path, roles, free, problems) if isinstance(each, dict) else each)
    for name in [name for name, signer in free.items() if not person_of(signer)]:
        sentence = _("nobody signs as “%(role)s”: each role of the template needs one signer.")
        problems.add("signers", sentence % {"role": name})
    return [*signers, *free.values()]


def _signer(given: Json, path: str, roles: dict[str, Json], free: dict[str, Json], problems: Problems) -> Json:
    """Return the signer of the payload, without a ``ref`` where the role does not exist or is already taken."""
    person = {name: given[name] for name in PERSON if name in given}
    name = given.get("role")
    always = person_of(roles[name]) if isinstance(name, str) and name in roles else {}
    for required in PERSON[:3] if not person and not always else ():
        problems.add(f"{path.removesuffix('role')}{required}", _("it is required."))
    if name is None:
        problems.add(path, _("it is required."))
    elif not isinstance(name, str):
        problems.add(path, _("it must be a string."))
    elif name in free:
        role = {part: said for part, said in free.pop(name).items() if part not in PERSON}
        return (person or always) | role | ({"language": given["language"]} if given.get("language") else {})
    elif name in roles:
        problems.add(path, _("another signer has the role “%(role)s” already.") % {"role": name})
    else:
        problems.add(path, _("the template has no role “%(role)s”.") % {"role": name[:100]})
    return person


def _prefill_all(documents: list[Json], signers: Any, given: Any, problems: Problems) -> None:
    """Write the values of ``given``, the signers as the call has them, into the fields of the payload's ``documents``.
    ``signers``: the same signers as the payload has them. Entries without a role or that cannot be read are skipped."""
    if not isinstance(given, list) or not isinstance(signers, list):
        return
    for index, (signer, each) in enumerate(zip(signers, given, strict=False)):
        if not isinstance(each, dict) or not isinstance(signer, dict) or each.get("fields") is None:
            continue
        path = f"signers[{index}].fields"
        if not isinstance(each["fields"], list):
            problems.add(path, _("it must be an array."))
        elif "ref" in signer:
            assigned = [one for document in documents for one in document["signers"]]
            own = [field for one in assigned if one["signer_ref"] == signer["ref"] for field in one.get("fields", ())]
            _prefill(own, each["fields"], path, problems)


def _prefill(fields: list[Json], given: list[Any], path: str, problems: Problems) -> None:
    seen: set[str] = set()
    for index, each in enumerate(given):
        here = f"{path}[{index}]"
        if problems.full:
            return
        if not isinstance(each, dict):
            problems.add(here, _("it must be an object."))
            continue
        name, value = each.get("name"), each.get("value")
        named = [field for field in fields if field["name"] == name]
        if not isinstance(name, str):
            problems.add(f"{here}.name", _("it must be a string.") if "name" in each else _("it is required."))
        elif not named:
            sentence = _("the role has no field “%(name)s”.")
            problems.add(f"{here}.name", sentence % {"name": shown(name)})
        elif name in seen:
            sentence = _("“%(name)s” has a value already.")
            problems.add(f"{here}.name", sentence % {"name": shown(name)})
        else:
            seen.add(name)
            if value is not None:
                _write(named, value, f"{here}.value", problems)


def _write(named: list[Json], value: object, path: str, problems: Problems) -> None:
    for field in named:
        found = Problems()
        check_field(FieldInput.model_validate({**field, "value": value}), "", found)
        if found:
            problems.add(path, found.named[0].sentence)
            return
        field["value"] = value
