"""What every change of members and invitations keeps to: nobody gives or takes a role above their own.

Each verb locks the organization's row first (:mod:`paraph.administration.locked`), so that two that run at once cannot
both pass a rule.
"""

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.models import ActorKind
from paraph.tenants.models import Member, Role
from paraph.tenants.rights import grantable


def check_role(role: str) -> None:
    if role not in Role.values:
        raise DomainError("validation_error", f"role: must be one of {', '.join(Role.values)}, not {role!r}.")


def require_grantable(organization_id: int, actor: Actor, *roles: str) -> None:
    """Refuses a member who may not give and take all of the roles, by the role that they have now."""
    if actor.kind != ActorKind.MEMBER:
        return
    own = acting_member(organization_id, actor)
    if own is None or not set(roles) <= set(grantable(own.role)):
        raise DomainError("forbidden", _("You may not give or take a role above your own."))


def acting_member(organization_id: int, actor: Actor) -> Member | None:
    return Member.objects.filter(organization_id=organization_id, user_id=actor.id or 0).first()
