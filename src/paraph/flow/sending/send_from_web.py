"""Send a request, or a draft, from the dashboard: the API's creation, within the month's quota."""

from dataclasses import replace
from typing import Any

from django.db import transaction

from paraph.drafts.editing import empty
from paraph.drafts.models import Draft
from paraph.drafts.payload import payload
from paraph.flow.sending.create import Sender, create
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, note
from paraph.tenants.lifecycle import require_active
from paraph.tenants.limits import use_web_send
from paraph.tenants.scope import TenantScope, scoped


@transaction.atomic
def send_from_web(
    scope: TenantScope, payload: dict[str, Any], locale: str, sender: Sender, source: dict[str, int]
) -> int:
    """Create the request, count it in the month's quota and note it in the activity log with its ``source``, all or
    nothing. Returns its id.

    Raises ``forbidden`` for a suspended organization, ``web_sends_used_up``, or what
    :func:`paraph.flow.sending.create.create` raises.
    """
    require_active(scope)
    assert sender.member
    request_id = create(scope, payload, sender, locale)
    use_web_send(scope.organization_id, scope.plan)
    note(scope.organization_id, sender.member, Action.REQUEST_SENT, f"request {request_id}", after=source)
    return request_id


@transaction.atomic
def send_draft(scope: TenantScope, draft_id: int, sender: Sender) -> int:
    """Send the draft and leave of it what leads to its request, all or nothing.

    Returns the id of the request: the same one where the draft has been sent already. Raises ``forbidden`` for
    a suspended organization, ``not_found``, ``web_sends_used_up``, or what
    :func:`paraph.flow.sending.create.create` raises.
    """
    require_active(scope)
    draft = scoped(Draft, scope).select_for_update(no_key=True).filter(pk=draft_id).first()
    if draft is None or draft.discarded_at:
        raise DomainError("not_found", "There is no such draft.")
    if draft.request_id:
        return draft.request_id
    titled = replace(sender, title=draft.title, subject=draft.subject, message=draft.message)
    request_id = send_from_web(scope, payload(draft), draft.locale, titled, {"draft": draft.pk})
    _close(draft, request_id)
    return request_id


def _close(draft: Draft, request_id: int) -> None:
    """Empty the draft: names, addresses and what was written to signers live on in the request alone."""
    draft.request_id = request_id
    empty(draft)
