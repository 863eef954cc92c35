"""Changes of an organization, one at a time."""

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.models import Organization


def locked_organization(organization_id: int) -> Organization:
    """Returns the organization, whose row stays locked until the transaction ends. Every change locks it first, before
    the rows that it changes. Raises ``DomainError("not_found", …)``, also where it is deleted."""
    rows = Organization.objects.select_for_update(no_key=True)
    organization = rows.filter(pk=organization_id, deleted_at=None).first()
    if organization is None:
        raise DomainError("not_found", _("There is no organization %(id)d.") % {"id": organization_id})
    return organization
