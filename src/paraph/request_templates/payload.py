"""The creation payload of a template with people in its roles (rule 4.5)."""

from collections.abc import Sequence
from typing import Any

from paraph.drafts.payload import assignment, options_payload, role_payload
from paraph.request_templates.models import Role, Template

Json = dict[str, Any]
Person = dict[str, Any]
"""``first_name``, ``last_name``, ``email``, ``phone``; ``values``, where there are any: those of fields by name, as the
payload has them."""


class TemplatePayload:
    """Reads the template once, for any number of requests."""

    def __init__(self, template: Template) -> None:
        self._options = options_payload(template)
        self._roles = template.roles
        self.documents = [_document(each, self._roles) for each in template.request["documents"]]

    def of(self, people: Sequence[Person]) -> Json:
        """Return the payload with these people in the roles, in their order."""
        signers = [_signer(role, person) for role, person in zip(self._roles, people, strict=True)]
        values = {signer["ref"]: signer.pop("values", {}) for signer in signers}
        documents = (
            [_filled(document, values) for document in self.documents] if any(values.values()) else self.documents
        )
        return {**self._options, "signers": signers, "documents": documents}


def role_ref(role: Role) -> str:
    """Return what problems of the payload call the signer; with the number, because two roles may have one name."""
    return f"{role.position + 1}. {role.name}"


def placed(entries: Sequence[Json]) -> list[Json]:
    """Return these stamps with their rectangles, page by page; without those whose tag is nowhere."""
    found = [{"type": "coordinates", "value": at} for each in entries if (at := _rectangle(each, each["value"]))]
    return sorted(found, key=lambda each: each["value"]["page_number"])


def asked(entries: Sequence[Json]) -> list[Json]:
    """Return these fields with their rectangles."""
    return [
        {name: part for name, part in each.items() if name != "at"}
        | {"placement": {"type": "coordinates", "value": _rectangle(each, each["placement"]["value"])}}
        for each in entries
    ]


def _rectangle(entry: Json, given: Json) -> Json | None:
    if "at" not in entry:
        return given
    return entry["at"] and dict(zip(("page_number", "x", "y", "width", "height"), entry["at"], strict=True))


def _signer(role: Role, person: Person) -> Json:
    return {
        **person,
        "phone": person["phone"] or None,
        "ref": role_ref(role),
        "order": role.position + 1,
        "otp_channel": role.otp_channel or None,
        **role_payload(role.role),
    }


def _document(document: Json, roles: Sequence[Role]) -> Json:
    given = {each["signer_ref"]: each for each in document["signers"]}
    assignments = []
    for role in roles:
        own = given.get(str(role.position), {})
        assignments.append(
            assignment(role_ref(role), role.role, placed(own.get("stamps", ())), asked(own.get("fields", ())))
        )
    return {"id": document["id"], "signers": [each for each in assignments if each]}


def _filled(document: Json, values: dict[str, Json]) -> Json:
    """Return the document of the payload with these values, by the reference of the signer and the name of the
    field."""
    signers = [
        each | {"fields": [_with_value(field, values[each["signer_ref"]]) for field in each["fields"]]}
        if "fields" in each
        else each
        for each in document["signers"]
    ]
    return document | {"signers": signers}


def _with_value(field: Json, values: Json) -> Json:
    return field | ({"value": values[field["name"]]} if field["name"] in values else {})
