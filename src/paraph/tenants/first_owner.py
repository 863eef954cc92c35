"""The first account of a service: the owner of its first organization, by a link that its start prints."""

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.members import create_member
from paraph.tenants.models import Member, Organization, Role
from paraph.tenants.organizations import change_settings

_VALID_SECONDS = 3600
_SIGNER = signing.TimestampSigner(salt="paraph.first_owner")


def first_owner_link() -> str:
    """Return a link that makes the first owner within the hour, "" where there is a member or no organization."""
    if Member.objects.exists() or not Organization.objects.exists():
        return ""
    return f"{settings.PARAPH.public_url}{reverse('first_owner', args=[_SIGNER.sign('owner')])}"


def check_first_owner_token(token: str) -> None:
    """Raise ``DomainError("expired", …)`` for a link that is over an hour old, was never made, or has been used."""
    try:
        _SIGNER.unsign(token, max_age=_VALID_SECONDS)
    except signing.BadSignature as problem:
        raise _outdated() from problem
    if Member.objects.exists():
        raise _outdated()


@transaction.atomic
def make_first_owner(token: str, name: str, email: str, password: str, organization: str = "") -> Member:
    """Make the owner, once, and name the organization, unless ``organization`` is "". Raise ``DomainError``:
    ``expired`` as above, ``validation_error``."""
    first = Organization.objects.select_for_update(no_key=True).order_by("pk").first()
    check_first_owner_token(token)
    if first is None:
        raise _outdated()
    if organization:
        change_settings(first.pk, OPERATOR, name=organization)
    return create_member(first.pk, OPERATOR, email, Role.OWNER, name=name, password=password)


def _outdated() -> DomainError:
    return DomainError("expired", _("This link has expired: it creates the first owner, once, within an hour."))
