"""Values that a call gives for fields of a template, in place of the template's own."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from paraph.signature_requests.fields.input import FieldInput, check_field
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import shown

Json = dict[str, Any]


def prefill(documents: list[Json], signers: Any, given: Any, problems: Problems) -> None:
    """Write the values of ``given``, the signers as the call has them, into the fields of the payload's ``documents``.
    ``signers``: the same ones as the payload has them. What has no role, or cannot be read, is left to others."""
    if not isinstance(given, list) or not isinstance(signers, list):
        return
    for index, (signer, each) in enumerate(zip(signers, given, strict=False)):
        if not isinstance(each, dict) or not isinstance(signer, dict) or each.get("fields") is None:
            continue
        path = f"signers[{index}].fields"
        if not isinstance(each["fields"], list):
            problems.add(path, _("it must be an array."))
        elif "ref" in signer:
            _prefill(list(_fields(documents, signer["ref"])), each["fields"], path, problems)


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


def _fields(documents: list[Json], ref: str) -> Iterator[Json]:
    for document in documents:
        for assignment in document["signers"]:
            if assignment["signer_ref"] == ref:
                yield from assignment.get("fields", ())
