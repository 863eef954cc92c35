"""The creation payload of a template with people in its roles (rule 4.5)."""

from collections.abc import Sequence
from typing import Any

from paraph.drafts.payload import assignment, options_payload, role_payload
from paraph.request_templates.models import Template, TemplateDocument, TemplateRole

Person = dict[str, Any]
"""``first_name``, ``last_name``, ``email``, ``phone``; ``values``, where there are any: those of fields by name, as the
payload has them."""


class TemplatePayload:
    """Reads the template once, for any number of requests."""

    def __init__(self, template: Template) -> None:
        self._options = options_payload(template)
        self._roles = list(template.roles.all())
        rows = template.documents.prefetch_related("stamps", "fields")
        self.documents = [_document(row, self._roles) for row in rows]

    def of(self, people: Sequence[Person]) -> dict[str, Any]:
        """Return the payload with these people in the roles, in their order."""
        signers = [_signer(role, person) for role, person in zip(self._roles, people, strict=True)]
        values = {signer["ref"]: signer.pop("values", {}) for signer in signers}
        documents = (
            [_filled(document, values) for document in self.documents] if any(values.values()) else self.documents
        )
        return {**self._options, "signers": signers, "documents": documents}


def role_ref(role: TemplateRole) -> str:
    """Return what problems of the payload call the signer; with the number, because two roles may have one name."""
    return f"{role.position + 1}. {role.name}"


def _signer(role: TemplateRole, person: Person) -> dict[str, Any]:
    return {
        **person,
        "phone": person["phone"] or None,
        "ref": role_ref(role),
        "order": role.position + 1,
        "otp_channel": role.otp_channel or None,
        **role_payload(role.role),
    }


def _document(row: TemplateDocument, roles: Sequence[TemplateRole]) -> dict[str, Any]:
    assignments = [
        assignment(
            role_ref(role),
            role.role,
            [stamp for stamp in row.stamps.all() if stamp.role_id == role.pk],
            [field for field in row.fields.all() if field.role_id == role.pk],
        )
        for role in roles
    ]
    return {"id": row.document_id, "signers": [each for each in assignments if each]}


def _filled(document: dict[str, Any], values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the document of the payload with these values, by the reference of the signer and the name of the
    field."""
    signers = [
        each | {"fields": [_with_value(field, values[each["signer_ref"]]) for field in each["fields"]]}
        if "fields" in each
        else each
        for each in document["signers"]
    ]
    return document | {"signers": signers}


def _with_value(field: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    return field | ({"value": values[field["name"]]} if field["name"] in values else {})
