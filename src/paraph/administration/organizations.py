"""Organizations that people make for themselves."""

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from paraph.activity.actions import Action
from paraph.activity.actor import Actor
from paraph.activity.log import note
from paraph.kernel.errors import DomainError
from paraph.members.models import Member, Role, User
from paraph.organizations.models import Organization, Plan
from paraph.organizations.registration import create_organization

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
    organization = create_organization(name, Plan.FREE)
    Member.objects.create(organization=organization, user=user, role=Role.OWNER)
    note(organization.pk, actor, Action.ORGANIZATION_CREATED, organization.name, after={"plan": organization.plan})
    note(organization.pk, actor, Action.MEMBER_JOINED, user.email, after={"role": Role.OWNER})
    return organization
