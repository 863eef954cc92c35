"""Organizations and what belongs to them, made for tests on behalf of an operator."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from paraph.tenants import applications, branding, lifecycle, organizations
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.applications import NewApplication, Rotated, existing_application, existing_key
from paraph.tenants.models import ApiKey, Application, BrandingProfile, Organization
from paraph.tenants.organizations import existing_organization


def create_organization(name: str, plan: str) -> Organization:
    """Make one without an entry in the activity log, since tests of the log count entries."""
    return Organization.objects.create(name=name, plan=plan)


def update_organization(organization_id: int, **given: Any) -> Organization:
    return organizations.change_settings(organization_id, OPERATOR, **given)


def create_application(
    organization_id: int, environment: str, name: str, webhook_url: str = "", origins: Sequence[str] = ()
) -> NewApplication:
    """Make one without an entry in the activity log."""
    organization = existing_organization(organization_id)
    return applications.new_application(organization, environment, name, webhook_url, origins)


def update_application(application_id: int, origins: Sequence[str] | None = None, **given: Any) -> Application:
    return applications.update_application(OPERATOR, existing_application(application_id), origins, **given)


def rotate(application_id: int, overlap: timedelta) -> Rotated:
    return applications.rotate_application(OPERATOR, existing_application(application_id), overlap)


def revoke_application(application_id: int) -> int:
    return applications.revoke_application(OPERATOR, existing_application(application_id))


def revoke_key(key_id: int) -> ApiKey:
    return applications.revoke_key(OPERATOR, existing_key(key_id))


COLORS = {"background_color": "#101820", "text_color": "#f0f0f0", "accent_color": "#c8102e"}


def create_branding_profile(organization_id: int, name: str = "House", **colors: str) -> BrandingProfile:
    return branding.create_profile(organization_id, OPERATOR, name, signature_only=False, **COLORS | colors)


def set_retention(organization_id: int, environment: str, days: int | None, people_days: int | None = None) -> None:
    lifecycle.change_retention(organization_id, OPERATOR, {environment: days}, {environment: people_days})


def suspend(organization_id: int) -> None:
    lifecycle.suspend_organization(OPERATOR, organization_id)
