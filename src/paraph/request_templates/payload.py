"""The creation payload of a template with people in its roles (rule 4.5)."""

from collections.abc import Sequence
from typing import Any

from paraph.drafts.payload import options_payload, stamps_payload
from paraph.request_templates.models import Template, TemplateDocument, TemplateRole, TemplateStamp

Person = dict[str, str]
"""``first_name``, ``last_name``, ``email``, ``phone``."""


class TemplatePayload:
    """Reads the template once, for any number of requests."""

    def __init__(self, template: Template) -> None:
        self._options = options_payload(template)
        self._roles = list(template.roles.all())
        self.documents = [_document(row) for row in template.documents.prefetch_related("stamps__role")]

    def of(self, people: Sequence[Person]) -> dict[str, Any]:
        """Return the payload with these people in the roles, in their order."""
        signers = [_signer(role, person) for role, person in zip(self._roles, people, strict=True)]
        return {**self._options, "signers": signers, "documents": self.documents}


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
    }


def _document(row: TemplateDocument) -> dict[str, Any]:
    of_role: dict[str, list[TemplateStamp]] = {}
    for stamp in row.stamps.all():
        of_role.setdefault(role_ref(stamp.role), []).append(stamp)
    assignments = [{"signer_ref": ref, "stamps": stamps_payload(stamps)} for ref, stamps in of_role.items()]
    return {"id": row.document_id, "signers": assignments}
