"""Applications and their keys: made, changed, rotated, revoked."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.administration.locked import locked_organization
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants import registration, rotation
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.admin_log.models import ActorKind
from paraph.tenants.models import ApiKey, Application, Environment
from paraph.tenants.overview import application_facts
from paraph.tenants.plans import allowance
from paraph.tenants.registration import NewApplication
from paraph.tenants.rotation import Rotated


@transaction.atomic
def create_application(
    organization_id: int,
    actor: Actor,
    *,
    environment: str,
    name: str,
    webhook_url: str = "",
    origins: Sequence[str] = (),
) -> NewApplication:
    """Makes an application with its first key. Raises ``DomainError``: ``not_found``, ``validation_error``, and
    ``payment_required`` where a member asks for production on a plan without it (specification 5.1). An operator may
    make one ahead of a change of the plan; until then its calls are answered with 402."""
    organization = locked_organization(organization_id)
    beyond_plan = environment == Environment.PRODUCTION and not allowance(organization.plan).production
    if actor.kind == ActorKind.MEMBER and beyond_plan:
        message = _("Production keys require the plan Pro or Enterprise. Your organization has the plan %(plan)s.")
        raise DomainError("payment_required", message % {"plan": organization.get_plan_display()})
    made = registration.create_application(organization_id, environment, name, webhook_url, origins)
    _note(actor, Action.APPLICATION_CREATED, made.application, after=_settings(made.application))
    return made


@transaction.atomic
def update_application(
    actor: Actor,
    application: Application,
    origins: Sequence[str] | None = None,
    *,
    name: str | None = None,
    webhook_url: str | None = None,
) -> Application:
    """Changes what is not None, and notes what has become different. Raises ``DomainError``: ``not_found``,
    ``validation_error``."""
    locked_organization(application.organization_id)
    before = _settings(registration.existing_application(application.pk))
    changed = registration.update_application(application.pk, origins, name=name, webhook_url=webhook_url)
    after = _settings(changed)
    differing = [field for field in after if after[field] != before[field]]
    if differing:
        only_these = {field: before[field] for field in differing}
        _note(actor, Action.APPLICATION_UPDATED, changed, only_these, {field: after[field] for field in differing})
    return changed


@transaction.atomic
def rotate_application(actor: Actor, application: Application, overlap: timedelta) -> Rotated:
    """Gives the application a new key and a new webhook secret; those before hold for the overlap as well. Raises
    ``DomainError``: ``not_found``, ``validation_error``."""
    locked_organization(application.organization_id)
    rotated = rotation.rotate(application.pk, overlap)
    ends_at = clock.iso(rotated.ends_at)
    _note(actor, Action.APPLICATION_ROTATED, rotated.application, after={"overlap_ends_at": ends_at})
    return rotated


@transaction.atomic
def revoke_application(actor: Actor, application: Application) -> int:
    """Rejects all keys of the application from now on; returns how many were live. Raises
    ``DomainError("not_found", …)``."""
    locked_organization(application.organization_id)
    count = registration.revoke_application(application.pk)
    _note(actor, Action.APPLICATION_REVOKED, application, after={"revoked_keys": count})
    return count


@transaction.atomic
def revoke_key(actor: Actor, key: ApiKey) -> ApiKey:
    """Rejects one key from now on. Raises ``DomainError("not_found", …)``."""
    locked_organization(key.application.organization_id)
    key = registration.revoke_key(key.pk)
    _note(actor, Action.KEY_REVOKED, key.application, after={"key_id": key.pk})
    return key


def _settings(application: Application) -> dict[str, Any]:
    facts = application_facts(application)
    return {field: facts[field] for field in ("environment", "name", "webhook_url", "frame_origins")}


def _note(
    actor: Actor,
    action: Action,
    application: Application,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    about = {"application_id": application.pk, **(after or {})}
    note(application.organization_id, actor, action, application.name, before=before, after=about)
