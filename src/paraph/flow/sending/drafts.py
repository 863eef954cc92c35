"""Drafts: prepared for a member when an application asks for it, made from a request that was sent, and sent from the
dashboard."""

from dataclasses import replace

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from paraph.database.rows import insert
from paraph.drafts.content import creation_of, read, signer_of
from paraph.drafts.editing import empty
from paraph.drafts.models import Draft, DraftDocument, Json, Step
from paraph.flow.sending.create import Sender, create
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel.errors import DomainError
from paraph.request_templates.saving import begin_with, of_request
from paraph.signature_requests.input import PERSON, TAKING_PART
from paraph.signature_requests.models import ERASED_DOMAIN, SignatureRequest, Signer
from paraph.tenants.admin_log import Action, note
from paraph.tenants.lifecycle import require_active
from paraph.tenants.limits import use_web_send
from paraph.tenants.models import User
from paraph.tenants.scope import TenantScope, existing, scoped
from paraph.words import DEFAULT_LOCALE


def prepare_draft(scope: TenantScope, value: object, locale: str, extra_rows: ExtraRows) -> Draft:
    """Make the draft that ``value``, the value of the root key ``signature_request``, describes as far as it is known.
    ``locale`` is the language that the caller named, if any; ``extra_rows`` makes the rows inserted with it. Raise what
    :func:`paraph.drafts.content.read` does."""
    locale = locale or DEFAULT_LOCALE
    content = read(scope, value, locale)
    try:
        return _made(scope, content, locale, extra_rows)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise


@transaction.atomic
def _made(scope: TenantScope, content: Json, locale: str, extra_rows: ExtraRows) -> Draft:
    draft = Draft.objects.create(
        **scope.columns,
        application_id=scope.application_id,
        step=Step.REVIEW,
        locale=locale,
        tags_placed=any(each["signers"] for each in content["documents"]),
        content=content,
    )
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=each["id"], position=position)
        for position, each in enumerate(content["documents"])
    )
    insert(extra_rows(draft.pk))
    return draft


@transaction.atomic
def duplicate(scope: TenantScope, request_id: int, author: User) -> tuple[Draft, bool]:
    """Make a draft, ready for review, of one of the caller's requests, with all that its sender gave: documents,
    people, places, fields with their values, message and options; not what signers entered, nor an application's notes
    and callback. Return the draft, and whether a branding profile was left out because it is gone. Raise ``not_found``,
    and ``conflict`` where files of the request were deleted."""
    found = scoped(SignatureRequest, scope).select_related("branding_profile").filter(pk=request_id)
    request = existing(found, _("There is no such request."))
    if request.files_deleted_at or request.request_documents.exclude(document__file_deleted_at=None).exists():
        raise DomainError("conflict", _("Its files were deleted, so it cannot be duplicated."))
    template = of_request(request, with_values=True)
    template.name, content = request.title, template.content
    content["send_email"] = request.send_email
    if request.remind_every_days:
        content["reminders"] = {"every_days": request.remind_every_days, "at_most": request.reminders_at_most}
    copies = request.copies.exclude(email__endswith=ERASED_DOMAIN).values("first_name", "last_name", "email")
    content["copies"] = list(copies)
    profile = request.branding_profile
    loses_branding = profile is not None and profile.deleted_at is not None
    if profile is None or loses_branding:
        del content["branding_profile_id"]
    signers = [_as_given(signer, str(position)) for position, signer in enumerate(request.signers.all())]
    return begin_with(scope, template, author, signers), loses_branding


def _as_given(signer: Signer, ref: str) -> Json:
    """Return the signer for a draft; only the role where the signer's data were erased."""
    names = (*TAKING_PART, *(() if signer.email.endswith(ERASED_DOMAIN) else PERSON))
    return signer_of({name: getattr(signer, name) for name in names}, ref)


@transaction.atomic
def send_from_web(scope: TenantScope, payload: Json, locale: str, sender: Sender, source: dict[str, int]) -> int:
    """Create the request, count it in the month's quota and note it in the activity log with its ``source``, all or
    nothing. Return its id. Raise ``forbidden`` for a suspended organization, ``web_sends_used_up``, or what
    :func:`paraph.flow.sending.create.create` raises."""
    require_active(scope)
    assert sender.member
    request_id = create(scope, payload, sender, locale)
    use_web_send(scope.organization_id, scope.plan)
    note(scope.organization_id, sender.member, Action.REQUEST_SENT, f"request {request_id}", after=source)
    return request_id


@transaction.atomic
def send_draft(scope: TenantScope, draft_id: int, sender: Sender) -> int:
    """Send the draft and keep of it only the link to its request, all or nothing. Return the id of the request: the
    same one where the draft has been sent already. Raise ``forbidden`` for a suspended organization, ``not_found``,
    ``web_sends_used_up``, or what :func:`paraph.flow.sending.create.create` raises."""
    require_active(scope)
    draft = scoped(Draft, scope).select_for_update(no_key=True).filter(pk=draft_id).first()
    if draft is None or draft.discarded_at or draft.of_template:
        raise DomainError("not_found", "There is no such draft.")
    if draft.request_id:
        return draft.request_id
    titled = replace(sender, title=draft.title, subject=draft.subject, message=draft.message)
    draft.request_id = send_from_web(scope, creation_of(draft.content), draft.locale, titled, {"draft": draft.pk})
    empty(draft)  # names, addresses and what was written to signers live on in the request alone
    return draft.request_id
