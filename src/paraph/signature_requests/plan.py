"""Planning a request from a creation payload: everything is checked, nothing is written (rule 4.5).

:mod:`paraph.api.v1.problems` states the order of refusals. One message names all problems of the payload, up to 50.
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from paraph.database.compiled_query import CompiledQuery
from paraph.documents.models import Document, DocumentStatus
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.signature_requests import payload, references
from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.placing import PlannedPlacement, place
from paraph.signature_requests.problems import InvalidPayloadError, Problem, Problems
from paraph.tenants.limits import Allowance, allowance
from paraph.tenants.models import BrandingProfile, Environment
from paraph.tenants.scope import TenantScope, branding_profiles, own

Refusal = tuple[str, str, str]
"""Its code, the path of the field and the sentence, which names the field."""

_DOCUMENT = CompiledQuery(Document.objects.all)


@dataclass(frozen=True)
class PlannedDocument:
    document: Document
    placements: list[PlannedPlacement]


@dataclass(frozen=True)
class RequestPlan:
    """A valid payload: the ``draft`` with its branding profile and its stamps resolved."""

    draft: SignatureRequestInput
    branding_profile: BrandingProfile | None
    documents: list[PlannedDocument]


def make_plan(scope: TenantScope, value: object) -> RequestPlan:
    """Plan the request that ``value``, that of the root key ``signature_request``, describes.

    Raises ``initials_not_available_on_plan``, ``forbidden``, ``identity_declaration_required`` or
    ``validation_error``. At most two queries, and for each document with tags one read and one search.
    """
    problems, allowed = Problems(), allowance(scope.plan)
    draft = payload.read(value, allowed, problems)
    if not problems.full:
        references.check(draft, problems)
    _refuse_by_code(draft, allowed, problems)
    if problems.full:
        problems.refuse()
    _refuse_mails(scope, draft, problems)
    if draft.redirect_url and scope.environment != Environment.SANDBOX and not _is_https(draft.redirect_url):
        problems.add("redirect_url", _("it must be an https address in production."))
    profile = _branding_profile(scope, draft, problems)
    documents = _documents(scope, draft, problems)
    problems.refuse()
    return RequestPlan(draft, profile, documents)


def _refuse_by_code(draft: SignatureRequestInput, allowed: Allowance, problems: Problems) -> None:
    """Raise the first refusal with a code of its own; its message names the other problems too."""
    refusal = _initials(draft, allowed) or _forbidden(draft, allowed) or _undeclared(draft)
    if refusal:
        code, path, sentence = refusal
        message = f"{sentence} {problems.message()}".strip()
        raise InvalidPayloadError(code, message, [Problem(path, sentence), *problems.named])


def _initials(draft: SignatureRequestInput, allowed: Allowance) -> Refusal | None:
    if not draft.initials_required or allowed.initials:
        return None
    sentence = _("initials_required: your plan does not include initials.")
    return "initials_not_available_on_plan", "initials_required", sentence


def _forbidden(draft: SignatureRequestInput, allowed: Allowance) -> Refusal | None:
    if not allowed.sms:
        for index, signer in enumerate(draft.signers):
            if signer.otp_channel == "sms":
                path = f"signers[{index}].otp_channel"
                return "forbidden", path, f"{path}: " + _("your plan does not include codes by SMS.")
    if draft.branding_profile_id is not None and not allowed.branding_profiles:
        sentence = _("branding_profile_id: your plan does not include branding profiles.")
        return "forbidden", "branding_profile_id", sentence
    return None


def _undeclared(draft: SignatureRequestInput) -> Refusal | None:
    if not draft.send_email or draft.identity_declaration_accepted is not False:
        return None
    sentence = _("identity_declaration_accepted: it must be true when send_email is true.")
    return "identity_declaration_required", "identity_declaration_accepted", sentence


def _refuse_mails(scope: TenantScope, draft: SignatureRequestInput, problems: Problems) -> None:
    asked = [name for name in ("send_email", "notify_signers_on_completion") if getattr(draft, name)]
    if asked and is_refused(scope.environment, EMAIL):
        problems.add(asked[0], _("this service has no mail server, so nobody would receive the mails."))


def _is_https(address: str) -> bool:
    return address.lower().startswith("https:")


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
        row = own(_DOCUMENT, scope, each.id)
        if row and row.file_deleted_at:
            row = None
        if row is None or row.status != DocumentStatus.READY:
            problems.add(f"documents[{index}].id", _unusable(each.id, row))
        else:
            planned.append(PlannedDocument(row, place(each, f"documents[{index}]", row, problems)))
    return planned


def _unusable(document_id: int, row: Document | None) -> str:
    if row:
        sentence = _("document %(document)d is not ready yet.")
    else:
        sentence = _("there is no document %(document)d in this environment.")
    return sentence % {"document": document_id}
