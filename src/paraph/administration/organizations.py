"""Organizations: made by people for themselves or by the operator, suspended and resumed."""

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants import lifecycle, registration
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.models import Member, Organization, Plan, Role, User

MOST_OWNED = 10


def may_open_organization(user: User) -> bool:
    """Returns whether the person may make another organization: where registration is not closed, up to ten that they
    own."""
    owned = user.memberships.filter(role=Role.OWNER).count()
    return settings.PARAPH.registration != "closed" and owned < MOST_OWNED


@transaction.atomic
def open_organization(user: User, actor: Actor, name: str) -> Organization:
    """Makes an organization on the plan Free that the person owns. Raises ``DomainError``: ``forbidden``,
    ``validation_error``."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not may_open_organization(user):
        raise DomainError("forbidden", _("You cannot make another organization here; ask the operator for one."))
    organization = create_organization(actor, name, Plan.FREE)
    Member.objects.create(organization=organization, user=user, role=Role.OWNER)
    note(organization.pk, actor, Action.MEMBER_JOINED, user.email, after={"role": Role.OWNER})
    return organization


@transaction.atomic
def create_organization(actor: Actor, name: str, plan: str) -> Organization:
    """Makes an organization without members. Raises ``DomainError("validation_error", …)``."""
    made = registration.create_organization(name, plan)
    note(made.pk, actor, Action.ORGANIZATION_CREATED, made.name, after={"plan": made.plan})
    return made


@transaction.atomic
def suspend_organization(actor: Actor, organization_id: int) -> Organization:
    """Has its keys refused. Raises ``DomainError``: ``not_found``, ``conflict`` where it is suspended already."""
    suspended = lifecycle.suspend(organization_id)
    note(organization_id, actor, Action.ORGANIZATION_SUSPENDED, suspended.name)
    return suspended


@transaction.atomic
def resume_organization(actor: Actor, organization_id: int) -> Organization:
    """Has its keys taken again. Raises ``DomainError``: ``not_found``, ``conflict`` where it is not suspended."""
    resumed = lifecycle.resume(organization_id)
    note(organization_id, actor, Action.ORGANIZATION_RESUMED, resumed.name)
    return resumed
