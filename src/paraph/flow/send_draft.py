"""Sending a draft from the dashboard: the request that the API would create of the same payload."""

from django.db import transaction

from paraph.activity import log
from paraph.activity.actions import Action
from paraph.activity.actor import Actor
from paraph.drafts.models import Draft
from paraph.drafts.payload import payload
from paraph.flow.create import WebSender, create
from paraph.journal.append import Origin
from paraph.kernel.errors import DomainError
from paraph.members.models import User
from paraph.organizations.lifecycle import require_active
from paraph.organizations.scope import Caller, scoped
from paraph.organizations.web_sends import use_web_send


@transaction.atomic
def send_draft(caller: Caller, draft_id: int, user: User, actor: Actor, origin: Origin) -> int:
    """Creates the draft's request, counts it in the month's quota and notes it in the activity log, all or nothing.

    Returns the id of the request: the same one where the draft has been sent already. Raises ``forbidden`` for
    a suspended organization, ``not_found``, ``web_sends_used_up``, or what :func:`paraph.flow.create.create` raises.
    """
    require_active(caller)
    draft = scoped(Draft, caller).select_for_update(no_key=True).filter(pk=draft_id).first()
    if draft is None:
        raise DomainError("not_found", "There is no such draft.")
    if draft.request_id:
        return draft.request_id
    sender = WebSender(user.pk, user.email)
    request_id = create(caller, payload(draft), origin, draft.locale, sender).id
    use_web_send(caller.organization_id, caller.plan)
    _close(draft, request_id)
    log.note(caller.organization_id, actor, Action.REQUEST_SENT, f"request {request_id}", after={"draft": draft.pk})
    return request_id


def _close(draft: Draft, request_id: int) -> None:
    """Leaves of the draft what leads to its request: names and addresses live on in the request alone."""
    draft.request_id = request_id
    draft.save(update_fields=["request"])
    draft.documents.all().delete()
    draft.signers.all().delete()
