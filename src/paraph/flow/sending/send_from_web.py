"""Sending a request from the dashboard: the API's creation, within the month's quota."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from paraph.audit_trail.append import Origin
from paraph.flow.sending.create import WebSender, create
from paraph.tenants.admin_log import log
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.lifecycle import require_active
from paraph.tenants.models import User
from paraph.tenants.scope import Caller
from paraph.tenants.send_quota import use_web_send


@dataclass(frozen=True)
class Sending:
    """Who sends, as the request, the activity log and the journal name them; and the request's title."""

    user: User
    actor: Actor
    origin: Origin
    title: str = ""


@transaction.atomic
def send_from_web(
    caller: Caller, payload: dict[str, Any], locale: str, sending: Sending, source: dict[str, int]
) -> int:
    """Create the request, count it in the month's quota and note it in the activity log with its ``source``, all or
    nothing. Returns its id.

    Raises ``forbidden`` for a suspended organization, ``web_sends_used_up``, or what
    :func:`paraph.flow.sending.create.create` raises.
    """
    require_active(caller)
    user = sending.user
    request_id = create(caller, payload, sending.origin, locale, WebSender(user.pk, user.email, sending.title)).id
    use_web_send(caller.organization_id, caller.plan)
    log.note(caller.organization_id, sending.actor, Action.REQUEST_SENT, f"request {request_id}", after=source)
    return request_id
