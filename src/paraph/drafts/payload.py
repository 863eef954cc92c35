"""The creation payload of a draft (rule 4.5), so that it is checked and created as the API does it."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from paraph.drafts.missing import missing
from paraph.drafts.models import Draft, DraftSigner, RequestOptions, Step
from paraph.drafts.signer_name import signer_name
from paraph.signature_requests.fields.input import FieldInput
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.models import Role
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problem
from paraph.tenants.scope import TenantScope

_OF_ROW = re.compile(r"(documents|signers)\[(\d+)\]")


class Refusal(NamedTuple):
    """A sentence on what is wrong with a draft, and the step at which it can be mended."""

    step: Step
    sentence: str


def payload(draft: Draft) -> dict[str, Any]:
    """Return the payload of the draft as it is stored."""
    signers = list(draft.signers.all())
    placed = {(each["id"], one["signer_ref"]): one for each in draft.placed for one in each["signers"]}
    return {
        **options_payload(draft),
        "signers": [_signer(signer) for signer in signers],
        "documents": [_document(row.document_id, signers, placed) for row in draft.documents.all()],
    }


def options_payload(chosen: RequestOptions) -> dict[str, Any]:
    """Return what the payload says beside signers and documents. Mails are sent unless the application that prepared it
    all wants none, so the member declares with sending that the signers' identity is known."""
    return {
        "send_email": True,
        **chosen.more_options,
        "mode": chosen.mode,
        "validity_days": chosen.validity_days,
        "identity_declaration_accepted": True,
        "initials_required": chosen.initials_required,
        "notify_signers_on_completion": chosen.notify_signers_on_completion,
        "branding_profile_id": chosen.branding_profile_id,
    }


def assignment(
    ref: str, role: str, stamps: list[dict[str, Any]], fields: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return who has these stamps and fields on a document; None where there are none. An approver is on each."""
    if role == Role.APPROVER:
        return {"signer_ref": ref}
    if not stamps and not fields:
        return None
    return {"signer_ref": ref, "stamps": stamps} | ({"fields": fields} if fields else {})


def content_of(given: FieldInput) -> dict[str, Any]:
    """Return what rows keep of a field beside its place."""
    content: dict[str, Any] = given.model_dump(
        mode="json", exclude={"placement"}, exclude_unset=True, exclude_none=True, warnings=False
    )
    return content


def parts_payload(chosen: SignatureRequestInput) -> dict[str, Any]:
    """Return what rows keep of options that have parts, with the parts that are known alone."""
    reminders = {"reminders": chosen.reminders.model_dump()} if chosen.reminders else {}
    return reminders | ({"copies": [each.model_dump() for each in chosen.copies]} if chosen.copies else {})


def role_payload(role: str) -> dict[str, str]:
    return {} if role == Role.SIGNER else {"role": role}


def refusals(scope: TenantScope, draft: Draft) -> list[Refusal]:
    """Return why the draft could not be sent now; empty if it could. What is missing is told in the words of the
    steps, and the rest once nothing is."""
    lacking = missing(draft)
    if found := [Refusal(step, sentence) for step in Step for sentence in lacking.of(step)]:
        return found
    try:
        make_plan(scope, payload(draft), locale=draft.locale)
    except InvalidPayloadError as refused:
        return refusals_of(draft, refused)
    return []


def refusals_of(draft: Draft, refused: InvalidPayloadError) -> list[Refusal]:
    """Return the problems of the payload, each with the signer or file that it is about."""
    return [Refusal(_step(problem), f"{_subject(draft, problem)}{problem.sentence}") for problem in refused.problems]


def _subject(draft: Draft, problem: Problem) -> str:
    found = _OF_ROW.match(problem.path)
    if found is None:
        return ""
    if found[1] == "documents":
        names = [row.document.name for row in draft.documents.select_related("document")]
    else:
        names = [signer_name(signer, draft.locale) for signer in draft.signers.all()]
    index = int(found[2])
    return f"{names[index]}: " if index < len(names) else ""


def _step(problem: Problem) -> Step:
    if problem.path.endswith("]") and problem.path.startswith("signers["):  # of no field: the signer signs nothing
        return Step.PLACEMENTS
    if problem.path.startswith("signers") or problem.path == "mode":
        return Step.SIGNERS
    if problem.path.startswith("documents"):
        return Step.PLACEMENTS if ".signers" in problem.path else Step.DOCUMENTS
    return Step.REVIEW


def _signer(signer: DraftSigner) -> dict[str, Any]:
    return {
        "ref": signer.ref,
        "first_name": signer.first_name,
        "last_name": signer.last_name,
        "email": signer.email,
        "phone": signer.phone or None,
        "order": signer.position + 1,
        "otp_channel": signer.otp_channel,
        **role_payload(signer.role),
    }


def _document(
    document_id: int, signers: Iterable[DraftSigner], placed: dict[tuple[int, str], dict[str, Any]]
) -> dict[str, Any]:
    assignments = []
    for signer in signers:
        own = placed.get((document_id, str(signer.pk)), {"stamps": [], "fields": []})
        stamps = sorted(own["stamps"], key=lambda stamp: int(stamp["value"]["page_number"]))
        assignments.append(assignment(signer.ref, signer.role, stamps, own["fields"]))
    return {"id": document_id, "signers": [each for each in assignments if each]}
