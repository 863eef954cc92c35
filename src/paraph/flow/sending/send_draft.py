"""Sending a draft from the dashboard: the request that the API would create of the same payload."""

from django.db import transaction

from paraph.audit_trail.append import Origin
from paraph.drafts.models import Draft
from paraph.drafts.payload import payload
from paraph.flow.sending.send_from_web import Sending, send_from_web
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.lifecycle import require_active
from paraph.tenants.models import User
from paraph.tenants.scope import Caller, scoped


@transaction.atomic
def send_draft(caller: Caller, draft_id: int, user: User, actor: Actor, origin: Origin) -> int:
    """Send the draft and leave of it what leads to its request, all or nothing.

    Returns the id of the request: the same one where the draft has been sent already. Raises ``forbidden`` for
    a suspended organization, ``not_found``, ``web_sends_used_up``, or what
    :func:`paraph.flow.sending.create.create` raises.
    """
    require_active(caller)
    draft = scoped(Draft, caller).select_for_update(no_key=True).filter(pk=draft_id).first()
    if draft is None:
        raise DomainError("not_found", "There is no such draft.")
    if draft.request_id:
        return draft.request_id
    sending = Sending(user, actor, origin, draft.title)
    request_id = send_from_web(caller, payload(draft), draft.locale, sending, {"draft": draft.pk})
    _close(draft, request_id)
    return request_id


def _close(draft: Draft, request_id: int) -> None:
    """Names and addresses live on in the request alone."""
    draft.request_id = request_id
    draft.save(update_fields=["request"])
    draft.documents.all().delete()
    draft.signers.all().delete()
