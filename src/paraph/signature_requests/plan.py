"""Planning a request from a creation payload: everything is checked, nothing is written (rule 4.5).

:mod:`paraph.api.v1.problems` states the order of refusals. One message names all problems of the payload, up to 50.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.documents.models import Document, DocumentStatus
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.signature_requests import payload, references
from paraph.signature_requests.fields.room import ExpectedSigner, PlacedField, check_room
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.names import full_name
from paraph.signature_requests.placing import PlannedDocument, place
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems
from paraph.signature_requests.unknown_fields import look_for_unknown
from paraph.tenants.limits import Allowance, allowance
from paraph.tenants.models import BrandingProfile, Environment
from paraph.tenants.scope import TenantScope, branding_profiles, scoped
from paraph.words import DEFAULT_LOCALE

PREVIEWED = 200
"""How many ordinary values a preview measures; a creation measures all."""


@dataclass(frozen=True)
class RequestPlan:
    """A valid payload: the ``draft`` with its branding profile and the places of its stamps and fields resolved."""

    draft: SignatureRequestInput
    branding_profile: BrandingProfile | None
    documents: list[PlannedDocument]


def make_plan(
    scope: TenantScope,
    value: object,
    problems: Problems | None = None,
    locale: str = "",
    measured: int = 0,
    *,
    shape: type[SignatureRequestInput] = SignatureRequestInput,
) -> RequestPlan:
    """Plan the request that ``value``, that of the root key ``signature_request``, describes. ``problems``: where they
    are gathered, with those that are known already; ``locale``: of the request, "" where none was named; ``measured``:
    how many ordinary values may be measured, 0 for all; ``shape``: as :func:`paraph.signature_requests.payload.read`
    has it.

    Raises ``initials_not_available_on_plan``, ``forbidden``, ``identity_declaration_required`` or
    ``validation_error``. At most two queries, and for each document with tags one read and one search.
    """
    problems, allowed = Problems() if problems is None else problems, allowance(scope.plan)
    draft = payload.read(value, allowed, problems, shape)
    if not problems.full:
        references.check(draft, problems)
    _refuse_by_code(draft, allowed, problems)
    if problems.full:
        problems.refuse()
    _refuse_by_facts(scope, draft, problems)
    profile = _branding_profile(scope, draft, problems)
    documents = _documents(scope, draft, problems)
    if not problems:
        check_room(_fields(draft, documents, locale or DEFAULT_LOCALE), problems, measured)
    problems.refuse()
    return RequestPlan(draft, profile, documents)


class Refusal(NamedTuple):
    """Why a creation would be refused."""

    code: str
    problem: Problem


@dataclass(frozen=True)
class Preview:
    """What a creation would come to: why it would be refused, the documents with what has a place, and the paths of
    fields that nobody knows."""

    refusals: list[Refusal]
    documents: list[PlannedDocument]
    passed_over: list[str]


def preview(scope: TenantScope, value: object, locale: str) -> Preview:
    """Look at the request as :func:`make_plan` does, and go on whatever is wrong. Of the values that are known, as many
    are measured as 200 ordinary ones take; whether the others have room, a creation says."""
    problems, allowed = Problems(), allowance(scope.plan)
    try:
        draft = payload.read(value, allowed, problems)
    except InvalidPayloadError as no_object:
        return Preview([Refusal(no_object.code, problem) for problem in no_object.problems], [], [])
    documents = []
    if not problems.full:
        references.check(draft, problems)
        _refuse_by_facts(scope, draft, problems)
        _branding_profile(scope, draft, problems)
        documents = _documents(scope, draft, problems)
        if not problems:
            check_room(_fields(draft, documents, locale), problems, PREVIEWED)
    named = [Refusal("validation_error", problem) for problem in problems.named]
    passed_over: list[str] = []
    look_for_unknown(value, SignatureRequestInput, "", Problems(), passed_over)
    return Preview([*_refusals_by_code(draft, allowed), *named], documents, passed_over)


def _refuse_by_code(draft: SignatureRequestInput, allowed: Allowance, problems: Problems) -> None:
    """Raise the first refusal with a code of its own; its message names the other problems too."""
    for code, problem in _refusals_by_code(draft, allowed):
        message = f"{problem} {problems.message()}".strip()
        raise InvalidPayloadError(code, message, [problem, *problems.named])


def _refusals_by_code(draft: SignatureRequestInput, allowed: Allowance) -> Iterator[Refusal]:
    """Yield those with a code of their own, in their order."""
    if draft.initials_required and not allowed.initials:
        problem = Problem("initials_required", _("your plan does not include initials."))
        yield Refusal("initials_not_available_on_plan", problem)
    for index, signer in enumerate(draft.signers):
        if signer.otp_channel == "sms" and not allowed.sms:
            problem = Problem(f"signers[{index}].otp_channel", _("your plan does not include codes by SMS."))
            yield Refusal("forbidden", problem)
    if draft.branding_profile_id is not None and not allowed.branding_profiles:
        problem = Problem("branding_profile_id", _("your plan does not include branding profiles."))
        yield Refusal("forbidden", problem)
    if draft.send_email and draft.identity_declaration_accepted is False:
        problem = Problem("identity_declaration_accepted", _("it must be true when send_email is true."))
        yield Refusal("identity_declaration_required", problem)


def _refuse_by_facts(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> None:
    """Add what this service or this environment does not allow."""
    asked = [name for name in ("send_email", "notify_signers_on_completion") if getattr(draft, name)]
    if asked and is_refused(scope.environment, EMAIL):
        problems.add(asked[0], _("this service has no mail server, so nobody would receive the mails."))
    address = (draft.redirect_url or "").lower()
    if address and scope.environment != Environment.SANDBOX and not address.startswith("https:"):
        problems.add("redirect_url", _("it must be an https address in production."))


def _branding_profile(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> BrandingProfile | None:
    if draft.branding_profile_id is None:
        return None
    profile = branding_profiles(scope).filter(pk=draft.branding_profile_id).first()
    if profile is None:
        sentence = _("%(id)d is not a branding profile of your organization.")
        problems.add("branding_profile_id", sentence % {"id": draft.branding_profile_id})
    return profile


def _documents(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> list[PlannedDocument]:
    """Plan each document. One of the other environment is as unknown as one of another organization (case 8)."""
    planned = []
    searched: set[int] = set()
    for index, each in enumerate(draft.documents):
        if not each.id or each.id in searched:
            continue  # refused already; searching the same file again would cost time
        searched.add(each.id)
        row = scoped(Document, scope).filter(pk=each.id, file_deleted_at=None).first()
        if row is None or row.status != DocumentStatus.READY:
            problems.add(f"documents[{index}].id", _unusable(each.id, row))
        else:
            planned.append(place(each, f"documents[{index}]", row, problems))
    return planned


def _unusable(document_id: int, row: Document | None) -> str:
    if row:
        sentence = _("document %(document)d is not ready yet.")
    else:
        sentence = _("there is no document %(document)d in this environment.")
    return sentence % {"document": document_id}


def _fields(draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str) -> Iterator[PlacedField]:
    """Yield the fields of ``documents``, which are those of the ``draft`` in their order. ``locale``: of the
    request."""
    signers = {
        signer.ref: ExpectedSigner(
            full_name(signer.first_name or "", signer.last_name or "", locale).strip(), signer.email or "", locale
        )
        for signer in draft.signers
    }
    for number, (given, planned) in enumerate(zip(draft.documents, documents, strict=True)):
        places = {assignment.signer_ref: index for index, assignment in enumerate(given.signers)}
        for field in planned.fields:
            path = f"documents[{number}].signers[{places[field.signer_ref]}].fields[{field.number}]"
            yield PlacedField(path, field.given, field.rect, signers[field.signer_ref])
