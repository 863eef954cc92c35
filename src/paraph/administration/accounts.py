"""Changes of how a person logs in, which concern every organization that they belong to."""

from django.db import transaction

from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.models import User


@transaction.atomic
def note_account_change(user: User, actor: Actor, action: Action) -> None:
    """Notes the change in the log of each organization; in one order, so that two at once do not wait for each
    other."""
    for organization_id in user.memberships.order_by("organization_id").values_list("organization_id", flat=True):
        note(organization_id, actor, action, user.email)
