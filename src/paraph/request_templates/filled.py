"""The creation payload of a template as an application fills it (rule 4.5)."""

import re
from typing import Any

from django.utils.translation import gettext as _

from paraph.drafts.payload import options_payload, role_payload
from paraph.request_templates.input import TemplateSendingInput
from paraph.request_templates.models import Role, Template
from paraph.request_templates.payload import TemplatePayload, role_ref
from paraph.request_templates.prefilled import prefill
from paraph.signature_requests.input import PERSON, options_of
from paraph.signature_requests.payload import look_for_unknown
from paraph.signature_requests.problems import Problems

Json = dict[str, Any]


def fill(template: Template, value: object, problems: Problems) -> Json:
    """Return the payload of the template with the signers and options of ``value``, that of the root key
    ``signature_request``, after adding what is wrong with the roles that it names. Signers stand where ``value`` has
    them; what else is malformed stays so. Raises ``validation_error`` for what is no object."""
    if not isinstance(value, dict):
        problems.add("signature_request", _("it must be an object."))
        problems.refuse()
    assert isinstance(value, dict)
    look_for_unknown(value, TemplateSendingInput, "", problems, [])
    roles = template.roles
    payload = options_payload(template) | {"send_email": False, "identity_declaration_accepted": False}
    payload |= template.more_options | options_of(value) | {"documents": TemplatePayload(template).documents}
    if "signers" in value:
        payload["signers"] = _signers(roles, value["signers"], problems)
        prefill(payload["documents"], payload["signers"], value["signers"], problems)
    return payload


def path_of(path: str) -> str:
    """Return what a field of the payload is called in the call."""
    if path.startswith("documents"):
        return "template." + path.replace("signers", "roles").replace("signer_ref", "role")
    return re.sub(r"^(signers\[\d+\])\.ref$", r"\1.role", path)


def _signers(roles: list[Role], given: Any, problems: Problems) -> Any:
    """Return the signers of the payload, with nobody in each role that is not named."""
    if not isinstance(given, list):
        return given
    by_name, free = {role.name: role for role in roles}, list(roles)
    signers: list[Any] = []
    for index, each in enumerate(given):
        path = f"signers[{index}].role"
        signers.append(_signer(each, path, by_name, free, problems) if isinstance(each, dict) else each)
    for role in free:
        sentence = _("nobody signs as “%(role)s”: each role of the template needs one signer.")
        problems.add("signers", sentence % {"role": role.name})
    return signers + [_in(role, {}) for role in free]


def _signer(given: Json, path: str, roles: dict[str, Role], free: list[Role], problems: Problems) -> Json:
    """Return the signer of the payload, without a ``ref`` where there is no such role, or no more."""
    person = {name: given[name] for name in PERSON if name in given}
    for required in PERSON[:3] if not person else ():
        problems.add(f"{path.removesuffix('role')}{required}", _("it is required."))
    name = given.get("role")
    if name is None:
        problems.add(path, _("it is required."))
    elif not isinstance(name, str):
        problems.add(path, _("it must be a string."))
    elif role := roles.get(name):
        if role in free:
            free.remove(role)
            return _in(role, person)
        problems.add(path, _("another signer has the role “%(role)s” already.") % {"role": name})
    else:
        problems.add(path, _("the template has no role “%(role)s”.") % {"role": name[:100]})
    return person


def _in(role: Role, person: Json) -> Json:
    order = {"ref": role_ref(role), "order": role.position + 1} | role_payload(role.role)
    return person | order | {"otp_channel": role.otp_channel or None}
