"""Planning a request from a creation payload: everything is checked, nothing is written (rule 4.5).

:mod:`paraph.api.v1.endpoint` states the order of refusals. One message names all problems of the payload, up to 50."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from paraph.documents.models import Document, DocumentStatus
from paraph.messaging.gateways import EMAIL, SMS, has_gateway, is_refused
from paraph.pdf.untrusted.folding import fold
from paraph.signature_requests import payload
from paraph.signature_requests.fields.input import MOST_FIELDS_OF_REQUEST, MagicFieldPlacement, check_field
from paraph.signature_requests.input import (
    Assignment,
    DocumentInput,
    MagicFieldStamp,
    PartialRequest,
    SignatureRequestInput,
    SignerInput,
    UnnamedRequest,
    is_nobody,
)
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.models import Role
from paraph.signature_requests.payload import look_for_unknown, stamps_sentence
from paraph.signature_requests.placing import ExpectedSigner, PlacedField, PlannedDocument, check_room, place
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems
from paraph.signature_requests.values import InvalidValueError, sms_number
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
    """Plan the request that ``value``, under the root key ``signature_request``, describes. ``problems``: gathers
    problems, and has those already known; ``locale``: of the request, "" where none was named; ``measured``: how many
    ordinary values may be measured, 0 for all; ``shape``: as for :func:`paraph.signature_requests.payload.read`.

    Raise ``initials_not_available_on_plan``, ``forbidden``, ``identity_declaration_required`` or ``validation_error``.
    Makes at most two queries, and for each document with tags one read and one search.
    """
    problems, allowed = Problems() if problems is None else problems, allowance(scope.plan)
    draft = payload.read(value, allowed, problems, shape)
    if not problems.full:
        check_references(draft, problems)
    for code, problem in _refusals_by_code(draft, allowed):  # the message of the first names the other problems too
        raise InvalidPayloadError(code, f"{problem} {problems.message()}".strip(), [problem, *problems.named])
    if problems.full:
        problems.refuse()
    profile, documents = _resolved(scope, draft, problems, locale or DEFAULT_LOCALE, measured)
    problems.refuse()
    return RequestPlan(draft, profile, documents)


class Refusal(NamedTuple):
    """Why a creation would be refused."""

    code: str
    problem: Problem


@dataclass(frozen=True)
class Preview:
    """What a creation would come to: why it would be refused, the documents with the stamps and fields on them, and the
    paths of unknown fields."""

    refusals: list[Refusal]
    documents: list[PlannedDocument]
    passed_over: list[str]


def preview(scope: TenantScope, value: object, locale: str) -> Preview:
    """Check the request as :func:`make_plan` does, but go on whatever is wrong. Known values are measured up to the
    cost of 200 ordinary ones; whether the others have room, only a creation tells."""
    problems, allowed = Problems(), allowance(scope.plan)
    try:
        draft = payload.read(value, allowed, problems)
    except InvalidPayloadError as no_object:
        return Preview([Refusal(no_object.code, problem) for problem in no_object.problems], [], [])
    documents: list[PlannedDocument] = []
    if not problems.full:
        check_references(draft, problems)
        _, documents = _resolved(scope, draft, problems, locale, PREVIEWED)
    named = [Refusal("validation_error", problem) for problem in problems.named]
    passed_over: list[str] = []
    look_for_unknown(value, SignatureRequestInput, Problems(), passed_over)
    return Preview([*_refusals_by_code(draft, allowed), *named], documents, passed_over)


def _refusals_by_code(draft: SignatureRequestInput, allowed: Allowance) -> Iterator[Refusal]:
    """Yield the refusals with a code of their own, in their order of precedence."""
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


def _resolved(
    scope: TenantScope, draft: SignatureRequestInput, problems: Problems, locale: str, measured: int
) -> tuple[BrandingProfile | None, list[PlannedDocument]]:
    """Return the branding profile and the documents of the draft, as far as they exist."""
    _refuse_by_facts(scope, draft, problems)
    profile = _branding_profile(scope, draft, problems)
    documents = _documents(scope, draft, problems)
    if not problems:
        check_room(_fields(draft, documents, locale), problems, measured)
    return profile, documents


def _refuse_by_facts(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> None:
    """Add a problem for what this service or this environment does not allow."""
    asked = [name for name in ("send_email", "notify_signers_on_completion") if getattr(draft, name)]
    if asked and is_refused(scope.environment, EMAIL):
        problems.add(asked[0], _("this service has no mail server, so nobody would receive the mails."))
    unsent = sms_refusal(scope.environment)
    for index, signer in enumerate(draft.signers):
        if unsent and signer.otp_channel == "sms":
            problems.add(f"signers[{index}].otp_channel", unsent)
    address = (draft.redirect_url or "").lower()
    if address and scope.environment != Environment.SANDBOX and not address.startswith("https:"):
        problems.add("redirect_url", _("it must be an https address in production."))


def sms_refusal(environment: str) -> str:
    """Say why no codes go by SMS, "" where they do. The sandbox keeps messages that nothing sends."""
    if environment == Environment.SANDBOX or has_gateway(SMS):
        return ""
    return _("this service has no SMS gateway, so nobody would receive the codes.")


def _branding_profile(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> BrandingProfile | None:
    if draft.branding_profile_id is None:
        return None
    profile = branding_profiles(scope).filter(pk=draft.branding_profile_id).first()
    if profile is None:
        sentence = _("%(id)d is not a branding profile of your organization.")
        problems.add("branding_profile_id", sentence % {"id": draft.branding_profile_id})
    return profile


def _documents(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> list[PlannedDocument]:
    """Plan each document. A document of the other environment is as unknown as another organization's (case 8)."""
    planned = []
    searched: set[int] = set()
    for index, each in enumerate(draft.documents):
        if not each.id or each.id in searched:
            continue  # refused already; searching the same file again would cost time
        searched.add(each.id)
        row = scoped(Document, scope).filter(pk=each.id, file_deleted_at=None).first()
        if row is None:
            sentence = _("there is no document %(document)d in this environment.")
            problems.add(f"documents[{index}].id", sentence % {"document": each.id})
        elif row.status != DocumentStatus.READY:
            sentence = _("document %(document)d is not ready yet.")
            problems.add(f"documents[{index}].id", sentence % {"document": each.id})
        else:
            planned.append(place(each, f"documents[{index}]", row, problems))
    return planned


def _fields(draft: SignatureRequestInput, documents: list[PlannedDocument], locale: str) -> Iterator[PlacedField]:
    """Yield the fields of ``documents``, which are those of the ``draft`` in their order. ``locale``: of the
    request."""
    signers = {
        signer.ref: ExpectedSigner(
            full_name(signer.first_name or "", signer.last_name or "", signer.language or locale).strip(),
            signer.email or "",
            locale,
        )
        for signer in draft.signers
    }
    for number, (given, planned) in enumerate(zip(draft.documents, documents, strict=True)):
        places = {assignment.signer_ref: index for index, assignment in enumerate(given.signers)}
        for field in planned.fields:
            path = f"documents[{number}].signers[{places[field.signer_ref]}].fields[{field.number}]"
            yield PlacedField(path, field.given, field.rect, signers[field.signer_ref])


def check_references(request: SignatureRequestInput, problems: Problems) -> None:
    """Add a problem for what is required because of another field, for every reference to nothing and for everything
    that is listed twice. A part that could not be read, None, may refer to anything. What the shape lets a
    request leave out is not required."""
    partial = isinstance(request, PartialRequest)
    for index, signer in enumerate(request.signers):
        _required(signer, f"signers[{index}]", request, problems)
    if request.reminders and request.send_email is False:
        problems.add("reminders", _("send_email must be true where signers are to be reminded."))
    _unique_signers(request, problems)
    _unique_documents(request, problems)
    roles = {signer.ref: signer.role for signer in request.signers}
    for index, document in enumerate(request.documents):
        _assignments(document, f"documents[{index}]", roles, problems, partial=partial)
    if request.signers and all(signer.role == "approver" for signer in request.signers):
        problems.add("signers", _("at least one of them must sign, not only approve."))
    if not partial:
        _everyone_signs(request, problems)
    _few_fields(request, problems)


def _required(signer: SignerInput, path: str, request: SignatureRequestInput, problems: Problems) -> None:
    required, partial = {}, isinstance(request, PartialRequest)
    unnamed = isinstance(request, UnnamedRequest) and is_nobody(signer.model_fields_set)
    if signer.otp_channel == "sms" and not (partial or unnamed):
        required["phone"] = _("it is required, as otp_channel is sms.")
    if request.mode == "sequential" and signer.model_fields_set and not partial:
        required["order"] = _("it is required.")
    for name, sentence in required.items():
        if getattr(signer, name) is None and not problems.has(f"{path}.{name}"):
            problems.add(f"{path}.{name}", sentence)
    if signer.otp_channel == "sms" and signer.phone:
        try:
            sms_number(signer.phone)
        except InvalidValueError as wrong:
            problems.add(f"{path}.phone", str(wrong))


def _unique_signers(request: SignatureRequestInput, problems: Problems) -> None:
    refs = Counter(signer.ref for signer in request.signers if signer.ref)
    orders = Counter(signer.order for signer in request.signers if signer.order)
    for index, signer in enumerate(request.signers):
        if refs[signer.ref] > 1:
            sentence = _("“%(ref)s” is the ref of another signer too.")
            problems.add(f"signers[{index}].ref", sentence % {"ref": signer.ref})
        if request.mode == "sequential" and signer.order and orders[signer.order] > 1:
            sentence = _("%(order)d is the order of another signer too.")
            problems.add(f"signers[{index}].order", sentence % {"order": signer.order})


def _unique_documents(request: SignatureRequestInput, problems: Problems) -> None:
    seen: set[int] = set()
    for index, document in enumerate(request.documents):
        if document.id and document.id in seen:
            sentence = _("document %(document)d is listed more than once.")
            problems.add(f"documents[{index}].id", sentence % {"document": document.id})
        seen.add(document.id)


def _assignments(
    document: DocumentInput, path: str, roles: Mapping[str, str], problems: Problems, *, partial: bool
) -> None:
    """Check cases 1, 2, 7 and 3; optional stamps count too."""
    seen: set[str] = set()
    for index, assignment in enumerate(document.signers):
        ref, here = assignment.signer_ref, f"{path}.signers[{index}]"
        facts = {"ref": ref or "", "document": document.id or 0}
        if ref and ref in seen:
            sentence = _("signer “%(ref)s” is listed twice on document %(document)d; one entry takes all their stamps.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        if ref and not {ref, None} & roles.keys():
            sentence = _("“%(ref)s” on document %(document)d is the ref of no signer of the request.")
            problems.add(f"{here}.signer_ref", sentence % facts)
        seen.add(ref)
        if roles.get(ref) == Role.APPROVER:
            _draws_nothing(assignment, here, facts, problems)
        elif roles.get(ref, Role.SIGNER):  # else it could not be read
            _draws(assignment, here, facts, problems, partial=partial)
    listed = [roles.get(assignment.signer_ref) for assignment in document.signers]
    if Role.SIGNER in roles.values() and listed and all(role == Role.APPROVER for role in listed):
        problems.add(f"{path}.signers", _("at least one of them must sign, not only approve."))


def _draws_nothing(assignment: Assignment, path: str, facts: dict[str, Any], problems: Problems) -> None:
    for name in ("stamps", "fields"):
        if getattr(assignment, name):
            sentence = _("“%(ref)s” approves and has neither stamps nor fields.")
            problems.add(f"{path}.{name}", sentence % facts)


def _draws(assignment: Assignment, path: str, facts: dict[str, Any], problems: Problems, *, partial: bool) -> None:
    is_known = bool(assignment.stamps or not assignment.model_fields_set)
    if not (is_known or partial or problems.has(f"{path}.stamps")):
        problems.add(f"{path}.stamps", stamps_sentence(facts["ref"], facts["document"], []))
    tags = [stamp.value.tag for stamp in assignment.stamps if isinstance(stamp, MagicFieldStamp) and stamp.value.tag]
    used = Counter(map(fold, tags))  # as they are searched: {{a}} and {{ a }} are one
    repeated = _("signer “%(ref)s” uses the tag “%(tag)s” more than once on document %(document)d.")
    for tag in {fold(tag): tag for tag in reversed(tags)}.values():
        if used[fold(tag)] > 1:
            problems.add(f"{path}.stamps", repeated % {**facts, "tag": tag})
    names: set[str] = set()
    for index, given in enumerate(assignment.fields):
        here = f"{path}.fields[{index}]"
        check_field(given, here, problems)
        if given.name and given.name in names:
            sentence = _("“%(name)s” is the name of another field of this signer on this document.")
            problems.add(f"{here}.name", sentence % {"name": given.name})
        names.add(given.name)
        if isinstance(given.placement, MagicFieldPlacement) and (tag := given.placement.value.tag):
            used[fold(tag)] += 1
            if used[fold(tag)] > 1:
                problems.add(f"{here}.placement.value.tag", repeated % {**facts, "tag": tag})


def _everyone_signs(request: SignatureRequestInput, problems: Problems) -> None:
    assigned = {assignment.signer_ref for document in request.documents for assignment in document.signers}
    if not request.documents or None in assigned or not all(document.signers for document in request.documents):
        return  # a part that could not be read may name the signer
    for index, signer in enumerate(request.signers):
        if signer.ref and signer.ref not in assigned:
            sentences = {
                Role.SIGNER: _("signer “%(ref)s” signs no document."),
                Role.APPROVER: _("“%(ref)s” approves no document: list them on one, without stamps."),
            }
            problems.add(f"signers[{index}]", sentences[Role(signer.role or Role.SIGNER)] % {"ref": signer.ref})


def _few_fields(request: SignatureRequestInput, problems: Problems) -> None:
    """Limit the fields, all of which stand in each answer about the request and in lists of a hundred requests."""
    count = sum(len(assignment.fields) for document in request.documents for assignment in document.signers)
    if count > MOST_FIELDS_OF_REQUEST:
        sentence = _("all signers together may have at most %(limit)d fields, not %(count)d.")
        problems.add("documents", sentence % {"limit": MOST_FIELDS_OF_REQUEST, "count": count})
