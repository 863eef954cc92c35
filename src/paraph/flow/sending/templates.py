"""Templates: kept, filled into requests one by one or, row by row, by a bulk send, and deleted with the files that they
alone have kept."""

import time
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import translation
from django.utils.translation import gettext as _

from paraph.audit_trail.journal import Origin
from paraph.drafts.content import creation_of
from paraph.drafts.models import DraftDocument
from paraph.flow.housekeeping.retention import delete_unkept
from paraph.flow.messages.emails import invitation
from paraph.flow.sending.create import Sender, create
from paraph.flow.sending.drafts import send_from_web
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.letters import EmailContent
from paraph.queue.jobs import defer
from paraph.request_templates.filled import fill, path_of, with_people
from paraph.request_templates.input import read
from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus, RowState, Template, TemplateDocument
from paraph.request_templates.saving import save_template
from paraph.signature_requests.input import UnnamedRequest
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.signature_requests.models import Role as Kind
from paraph.signature_requests.plan import make_plan
from paraph.signature_requests.problems import InvalidPayloadError, Problems, restated
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.lifecycle import require_active
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.members import Right, may
from paraph.tenants.models import ActorKind, BrandingProfile, Environment, Member, Organization, User
from paraph.tenants.scope import TenantScope, existing, scoped
from paraph.words import DEFAULT_LOCALE


def keep_template(scope: TenantScope, value: object, locale: str, actor: Actor, extra_rows: ExtraRows) -> Template:
    """Keep the template that ``value``, the value of the root key ``template``, describes. ``locale`` is the language
    that the caller named, if any; ``extra_rows`` makes the rows inserted with it. Raise what
    :func:`paraph.request_templates.input.read` does."""
    names, template = read(scope, value, locale)
    try:
        return save_template(scope, template, actor, names, extra_rows=extra_rows)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise


def send_template(
    scope: TenantScope, value: object, sender: Sender, locale: str, extra_rows: ExtraRows, *, template_id: int
) -> int:
    """Create the request that the caller's template and ``value``, the value of the root key ``signature_request``,
    describe, and return its id; otherwise as :func:`paraph.flow.sending.create.create`. Raise ``not_found`` where there
    is no template."""
    template = existing(scoped(Template, scope).filter(pk=template_id), _("There is no such resource."))
    problems = Problems()
    payload = fill(template, value, problems)
    try:
        if problems:
            make_plan(scope, payload, locale=locale or template.locale, shape=UnnamedRequest)
        else:
            writing = replace(sender, subject=template.subject, message=template.message)
            return create(scope, payload, writing, locale or template.locale, extra_rows)
    except InvalidPayloadError as refused:
        raise restated(refused, path_of, problems) from refused
    raise InvalidPayloadError("validation_error", problems.message(), problems.named)


@transaction.atomic
def delete_template(scope: TenantScope, template_id: int, actor: Actor) -> None:
    """Delete the template; do nothing where there is none. Raise ``conflict`` while a bulk send of it is under way."""
    template = scoped(Template, scope).select_for_update().filter(pk=template_id).first()
    if template is None:
        return
    if template.bulk_sends.filter(status=BulkStatus.SENDING).exists():
        raise DomainError("conflict", _("A bulk send of this template is in progress. Cancel it first."))
    documents = list(template.documents.values_list("document_id", flat=True))
    template.delete()
    # A file that no request ever used goes with the other unused uploads.
    used = RequestDocument.objects.filter(document__in=documents).values("document")
    deleted = delete_unkept(used, TemplateDocument, DraftDocument)
    before = {"name": template.name}
    note(scope.organization_id, actor, Action.TEMPLATE_DELETED, f"template {template_id}", before=before)
    for document in deleted:
        note(scope.organization_id, actor, Action.DOCUMENT_DELETED, f"document {document.pk}", before=document.facts())


def sample_mail(template: Template, organization: Organization, sender: User) -> EmailContent:
    """Write the invitation to whoever is in the first role, as it is mailed when a member sends the template. Where
    somebody else is named each time, the role's name stands in for the person's."""
    content, first = template.content, template.roles[0]
    person = first.person or {"first_name": first.name, "last_name": ""}
    profiles = BrandingProfile.objects.filter(organization=organization, deleted_at=None)
    request = SignatureRequest(
        organization=organization,
        sent_by=sender,
        locale=template.locale or DEFAULT_LOCALE,
        subject=template.subject,
        message=template.message,
        expires_at=clock.now() + timedelta(days=content["validity_days"]),
        branding_profile=profiles.filter(pk=content.get("branding_profile_id")).first(),
    )
    names = {name: person[name] for name in ("first_name", "last_name")}
    signer = Signer(request=request, role=first.role, locale=first.language, **names)
    ref, signs_all = str(first.position), first.role == Kind.APPROVER  # an approver is on all documents
    listed = {each["id"]: [given["signer_ref"] for given in each["signers"]] for each in content["documents"]}
    rows = template.documents.select_related("document")
    documents = [row.document for row in rows if signs_all or ref in listed[row.document_id]]
    return invitation(signer, f"{settings.PARAPH.public_url}/sign/…", documents)


def delete_oldest_templates(scope: TenantScope, actor: Actor) -> None:
    """Delete the oldest templates of a sandbox that has more than the operator's setting allows. Raise as
    :func:`delete_template` does."""
    if scope.environment == Environment.SANDBOX:
        templates = scoped(Template, scope).order_by("pk")
        for template_id in oldest_beyond(scope, templates, settings.PARAPH.kept_templates, new=0):
            delete_template(scope, template_id, actor)


@transaction.atomic
def start_bulk_send(scope: TenantScope, bulk_send_id: int, sender: Sender, *, skip_wrong: bool) -> None:
    """Have a job send the rows that can be sent. Of a bulk send that is done, the rows that were refused are sent
    again. Do nothing where it is being sent already. Raise ``not_found``, ``forbidden`` for a suspended organization,
    or ``conflict`` where there is nothing to send, or rows are wrong and not to be skipped."""
    require_active(scope)
    assert sender.member
    bulk_send = _locked(scope, bulk_send_id)
    if bulk_send.status == BulkStatus.SENDING:
        return
    if bulk_send.template_id is None:
        raise DomainError("conflict", _("The template was deleted, so nothing more can be sent."))
    if bulk_send.template and bulk_send.created_at < bulk_send.template.changed_at:
        raise DomainError("conflict", _("The template was changed after the rows were checked. Upload the file again."))
    if bulk_send.status == BulkStatus.CANCELLED:
        raise DomainError("conflict", _("This bulk send was cancelled."))
    if not skip_wrong and bulk_send.rows.filter(state=RowState.WRONG).exists():
        raise DomainError("conflict", _("Some rows have errors. Fix the file, or skip them."))
    if bulk_send.status == BulkStatus.DONE:
        bulk_send.rows.filter(state=RowState.REFUSED).update(state=RowState.READY, problems=[])
    if not bulk_send.rows.filter(state=RowState.READY).exists():
        raise DomainError("conflict", _("No row can be sent."))
    bulk_send.status, bulk_send.author_id = BulkStatus.SENDING, sender.member.id
    bulk_send.ip, bulk_send.user_agent = sender.origin.ip, sender.origin.user_agent
    bulk_send.save(update_fields=["status", "author", "ip", "user_agent"])
    _note(bulk_send, sender.member, Action.BULK_SEND_STARTED)
    defer("send_rows", bulk_send_id=bulk_send.pk)


@transaction.atomic
def cancel_bulk_send(scope: TenantScope, bulk_send_id: int, actor: Actor) -> None:
    """Send no further row. What is sent stays sent. Raise ``not_found``."""
    bulk_send = _locked(scope, bulk_send_id)
    if bulk_send.status in (BulkStatus.CHECKED, BulkStatus.SENDING):
        bulk_send.status = BulkStatus.CANCELLED
        bulk_send.save(update_fields=["status"])
        _note(bulk_send, actor, Action.BULK_SEND_CANCELLED)


def _locked(scope: TenantScope, bulk_send_id: int) -> BulkSend:
    """Lock the template, then the bulk send, in the order of the deletion of a template, which then has to wait."""
    template = scoped(Template, scope).filter(bulk_sends=bulk_send_id)
    list(template.select_for_update(no_key=True, of=("self",)))
    found = scoped(BulkSend, scope).select_for_update(no_key=True).filter(pk=bulk_send_id)
    return existing(found, "There is no such bulk send.")


def _note(bulk_send: BulkSend, actor: Actor, action: Action) -> None:
    after = {"template": bulk_send.template_id, "rows": bulk_send.rows.count()}
    note(bulk_send.organization_id, actor, action, f"bulk send {bulk_send.pk}", after=after)


_RUN_SECONDS = 3.0


def send_rows(bulk_send_id: int) -> None:
    """Send rows until none is left or the bulk send is cancelled; after 3 s, leave the rest to another job, behind
    those that others have added meanwhile. Safe to repeat, to run twice at once, and to be killed: each row is sent and
    noted as sent in one transaction, under the lock of its bulk send."""
    end = time.monotonic() + _RUN_SECONDS
    while _send_next(bulk_send_id):
        if time.monotonic() > end:
            defer("send_rows", bulk_send_id=bulk_send_id)
            return


@transaction.atomic
def _send_next(bulk_send_id: int) -> bool:
    """Return whether there may be another row."""
    sending = BulkSend.objects.filter(pk=bulk_send_id, status=BulkStatus.SENDING)
    bulk_send = sending.select_for_update(no_key=True).first()
    if bulk_send is None:
        return False
    row = bulk_send.rows.filter(state=RowState.READY).order_by("number").first()
    if row is None:
        bulk_send.status = BulkStatus.DONE
        bulk_send.save(update_fields=["status"])
        return False
    with translation.override(bulk_send.language):
        _send(bulk_send, row)
    return True


def _send(bulk_send: BulkSend, row: BulkRow) -> None:
    """Send the row. Afterwards, its names and addresses live on in the request alone."""
    try:
        with transaction.atomic():
            row.request_id = _request(bulk_send, row)
        row.state, row.cells, row.signers, row.problems = RowState.SENT, [], [], []
    except DomainError as refused:
        row.state, row.problems = RowState.REFUSED, [refused.message]
    row.save(update_fields=["state", "request", "cells", "signers", "problems"])


def _request(bulk_send: BulkSend, row: BulkRow) -> int:
    template = bulk_send.template
    if template is None:
        raise DomainError("conflict", _("The template was deleted, so nothing more can be sent."))
    payload = with_people(creation_of(template.content), row.signers)
    source = {"bulk_send": bulk_send.pk, "row": row.number}
    return send_from_web(_scope(bulk_send), payload, template.locale, _sender(bulk_send, template), source)


def _scope(bulk_send: BulkSend) -> TenantScope:
    """Return the scope of the organization as it is now: its plan may have changed, or it was suspended or deleted."""
    organization = bulk_send.organization
    suspended = bool(organization.suspended_at or organization.deleted_at)
    return TenantScope(organization.pk, bulk_send.environment, organization.plan, None, suspended)


def _sender(bulk_send: BulkSend, template: Template) -> Sender:
    """Return the author as the sender. Raise ``forbidden`` where the author may not send any more."""
    members = Member.objects.select_related("user").filter(organization_id=bulk_send.organization_id)
    member = members.filter(user_id=bulk_send.author_id or 0).first()
    if member is None or not may(member.role, Right.SEND):
        raise DomainError("forbidden", _("The member who started this bulk send can no longer send requests."))
    actor = Actor(ActorKind.MEMBER, member.user_id, member.user.email, bulk_send.ip)
    return Sender(Origin(bulk_send.ip, bulk_send.user_agent), actor, template.name, template.subject, template.message)
