"""Beginning and cancelling a bulk send."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.flow.sending.send_from_web import Sending
from paraph.kernel.errors import DomainError
from paraph.queue.defer import defer
from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus, RowState, Template
from paraph.tenants.admin_log import log
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.lifecycle import require_active
from paraph.tenants.scope import Caller, scoped


@transaction.atomic
def start_bulk_send(caller: Caller, bulk_send_id: int, sending: Sending, *, skip_wrong: bool) -> None:
    """Have a job send the rows that can be sent. Of a bulk send that is done, those are sent again that were refused.

    Does nothing where it is being sent already. Raises ``not_found``, ``forbidden`` for a suspended organization, or
    ``conflict`` where there is nothing to send, or rows are wrong and not to be skipped.
    """
    require_active(caller)
    bulk_send = _locked(caller, bulk_send_id)
    if bulk_send.status == BulkStatus.SENDING:
        return
    if bulk_send.template_id is None:
        raise DomainError("conflict", _("The template was deleted, so nothing more can be sent."))
    if bulk_send.status == BulkStatus.CANCELLED:
        raise DomainError("conflict", _("This bulk send was cancelled."))
    if not skip_wrong and bulk_send.rows.filter(state=RowState.WRONG).exists():
        raise DomainError("conflict", _("Some rows have errors. Fix the file, or skip them."))
    _prepare(bulk_send)
    bulk_send.status, bulk_send.author = BulkStatus.SENDING, sending.user
    bulk_send.ip, bulk_send.user_agent = sending.origin.ip, sending.origin.user_agent
    bulk_send.save(update_fields=["status", "author", "ip", "user_agent"])
    _note(bulk_send, sending.actor, Action.BULK_SEND_STARTED)
    defer("send_rows", bulk_send_id=bulk_send.pk)


@transaction.atomic
def cancel_bulk_send(caller: Caller, bulk_send_id: int, actor: Actor) -> None:
    """Send no further row. What is sent stays sent. Raises ``not_found``."""
    bulk_send = _locked(caller, bulk_send_id)
    if bulk_send.status in (BulkStatus.CHECKED, BulkStatus.SENDING):
        bulk_send.status = BulkStatus.CANCELLED
        bulk_send.save(update_fields=["status"])
        _note(bulk_send, actor, Action.BULK_SEND_CANCELLED)


def _locked(caller: Caller, bulk_send_id: int) -> BulkSend:
    """Lock the template first, which cannot be deleted then, as its deletion does."""
    template = scoped(Template, caller).filter(bulk_sends=bulk_send_id)
    list(template.select_for_update(no_key=True, of=("self",)))
    bulk_send = scoped(BulkSend, caller).select_for_update(no_key=True).filter(pk=bulk_send_id).first()
    if bulk_send is None:
        raise DomainError("not_found", "There is no such bulk send.")
    return bulk_send


def _prepare(bulk_send: BulkSend) -> None:
    rows = BulkRow.objects.filter(bulk_send=bulk_send)
    if bulk_send.status == BulkStatus.DONE:
        rows.filter(state=RowState.REFUSED).update(state=RowState.READY, problems=[])
    if not rows.filter(state=RowState.READY).exists():
        raise DomainError("conflict", _("There is no row that can be sent."))


def _note(bulk_send: BulkSend, actor: Actor, action: Action) -> None:
    after = {"template": bulk_send.template_id, "rows": bulk_send.rows.count()}
    log.note(bulk_send.organization_id, actor, action, f"bulk send {bulk_send.pk}", after=after)
