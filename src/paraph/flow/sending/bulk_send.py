"""Begin a bulk send, send its rows, cancel it."""

import time

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from paraph.audit_trail.journal import Origin
from paraph.drafts.content import creation_of
from paraph.flow.sending.create import Sender
from paraph.flow.sending.drafts import send_from_web
from paraph.kernel.errors import DomainError
from paraph.queue.jobs import defer
from paraph.request_templates.filled import with_people
from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus, RowState, Template
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.lifecycle import require_active
from paraph.tenants.members import Right, may
from paraph.tenants.models import ActorKind, Member, Organization
from paraph.tenants.scope import TenantScope, existing, scoped


@transaction.atomic
def start_bulk_send(scope: TenantScope, bulk_send_id: int, sender: Sender, *, skip_wrong: bool) -> None:
    """Have a job send the rows that can be sent. Of a bulk send that is done, the rows that were refused are sent
    again.

    Does nothing where it is being sent already. Raises ``not_found``, ``forbidden`` for a suspended organization, or
    ``conflict`` where there is nothing to send, or rows are wrong and not to be skipped.
    """
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
    """Send no further row. What is sent stays sent. Raises ``not_found``."""
    bulk_send = _locked(scope, bulk_send_id)
    if bulk_send.status in (BulkStatus.CHECKED, BulkStatus.SENDING):
        bulk_send.status = BulkStatus.CANCELLED
        bulk_send.save(update_fields=["status"])
        _note(bulk_send, actor, Action.BULK_SEND_CANCELLED)


def _locked(scope: TenantScope, bulk_send_id: int) -> BulkSend:
    """Lock the template, then the bulk send, in the same order as the deletion of a template, which has to wait
    then."""
    template = scoped(Template, scope).filter(bulk_sends=bulk_send_id)
    list(template.select_for_update(no_key=True, of=("self",)))
    found = scoped(BulkSend, scope).select_for_update(no_key=True).filter(pk=bulk_send_id)
    return existing(found, "There is no such bulk send.")


def _note(bulk_send: BulkSend, actor: Actor, action: Action) -> None:
    after = {"template": bulk_send.template_id, "rows": bulk_send.rows.count()}
    note(bulk_send.organization_id, actor, action, f"bulk send {bulk_send.pk}", after=after)


_RUN_SECONDS = 3.0


def send_rows(bulk_send_id: int) -> None:
    """Send rows until none is left or the bulk send is cancelled; after 3 s leaves the rest to another job, behind
    those that others have added meanwhile.

    Safe to repeat, to run twice at once, and to be killed: each row is sent and noted as sent in one transaction, under
    the lock of its bulk send.
    """
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
    """Send the row, whose names and addresses live on in the request alone."""
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
    """Return the organization as it is now: its plan may have changed, or it was suspended or deleted."""
    organization = Organization.objects.get(pk=bulk_send.organization_id)
    suspended = organization.suspended_at is not None or organization.deleted_at is not None
    return TenantScope(
        organization.pk, bulk_send.environment, organization.plan, application_id=None, suspended=suspended
    )


def _sender(bulk_send: BulkSend, template: Template) -> Sender:
    """Return the author as the sender. Raise ``forbidden`` where the author may not send any more."""
    members = Member.objects.select_related("user").filter(organization_id=bulk_send.organization_id)
    member = members.filter(user_id=bulk_send.author_id or 0).first()
    if member is None or not may(member.role, Right.SEND):
        raise DomainError("forbidden", _("The member who started this bulk send can no longer send requests."))
    actor = Actor(ActorKind.MEMBER, member.user_id, member.user.email, bulk_send.ip)
    return Sender(Origin(bulk_send.ip, bulk_send.user_agent), actor, template.name, template.subject, template.message)
