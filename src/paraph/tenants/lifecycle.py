"""Suspending organizations, and deleting them; and how long the files and the people of requests are kept. A suspended
organization begins nothing new: its keys are refused (403). What is under way goes on: signers sign, files are sealed,
webhooks are delivered. A deleted one is as if it did not exist: its keys are unknown (401), its signing links lead
nowhere (404)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import SERVICE, Action, Actor, note
from paraph.tenants.applications import revoke_keys
from paraph.tenants.models import ApiKey, ConfirmedAddress, Environment, Organization, Retention
from paraph.tenants.organizations import locked_organization, require_choice
from paraph.tenants.scope import Row, TenantScope

DAYS_AFTER_DELETION = 90
"""How long after the end of a request files and people are kept in a deleted organization that had no retention."""


def suspend_organization(actor: Actor, organization_id: int) -> Organization:
    """Suspend the organization, whose keys are refused from now on. Raise ``DomainError``: ``not_found``, ``conflict``
    where it is suspended already."""
    return _suspend(actor, organization_id, clock.now(), Action.ORGANIZATION_SUSPENDED, "is suspended already")


def resume_organization(actor: Actor, organization_id: int) -> Organization:
    """Resume the organization, whose keys are taken again. Raise ``DomainError``: ``not_found``, ``conflict`` where it
    is not suspended."""
    return _suspend(actor, organization_id, None, Action.ORGANIZATION_RESUMED, "is not suspended")


@transaction.atomic
def _suspend(
    actor: Actor, organization_id: int, since: datetime | None, action: Action, otherwise: str
) -> Organization:
    organization = locked_organization(organization_id)
    if bool(organization.suspended_at) == bool(since):
        raise DomainError("conflict", f"Organization {organization_id} {otherwise}.")
    organization.suspended_at = since
    organization.save(update_fields=["suspended_at"])
    note(organization_id, actor, action, organization.name)
    return organization


def require_active(scope: TenantScope) -> None:
    """Raise ``DomainError("forbidden", …)`` for a suspended organization, which may not begin anything new."""
    if scope.suspended:
        raise DomainError("forbidden", _("The organization is suspended. Ask the operator of this service."))


@transaction.atomic
def close_organization(organization_id: int, actor: Actor, typed_name: str | None = None) -> None:
    """Delete an organization: end its keys and pages at once, forget its contact and confirmed addresses, and have its
    files deleted and its people forgotten as its retention says, or 90 days after the end of each request. Without a
    retention for people, they are forgotten after as many days as files are kept. The caller ends its requests. Raise
    ``DomainError``: ``not_found``, ``validation_error`` if a typed name is not the organization's."""
    organization = locked_organization(organization_id)
    if typed_name is not None and " ".join(typed_name.split()) != " ".join(organization.name.split()):
        raise DomainError("validation_error", _("This is not the organization's name."))
    organization.deleted_at, organization.contact_email = clock.now(), ""
    organization.save(update_fields=["deleted_at", "contact_email"])
    revoke_keys(ApiKey.objects.filter(application__organization=organization))
    ConfirmedAddress.objects.filter(organization=organization).delete()
    for environment in Environment.values:
        Retention.objects.get_or_create(
            organization=organization, environment=environment, defaults={"days": DAYS_AFTER_DELETION}
        )
    Retention.objects.filter(organization=organization, people_days=None).update(people_days=F("days"))
    note(organization_id, actor, Action.ORGANIZATION_DELETED, organization.name)


LONGEST_DAYS = 36_500
Days = dict[str, int | None]
"""Days of retention by environment; None for ever."""


@transaction.atomic
def change_retention(
    organization_id: int, actor: Actor, days: Days | None = None, people_days: Days | None = None
) -> None:
    """Set how many days after the end of a request its files are deleted and its people forgotten, by environment; None
    keeps them for ever. An environment that is not named stays as it is. Raise ``DomainError``: ``not_found``,
    ``validation_error``, also if people would be forgotten before the files, which name them, are deleted."""
    locked_organization(organization_id)
    given = {"days": days or {}, "people_days": people_days or {}}
    for environment in {**given["days"], **given["people_days"]}:
        require_choice("environment", environment, Environment.values)
        mine: dict[str, Any] = {"organization_id": organization_id, "environment": environment}
        before = {name: retention_days(organization_id, name)[environment] for name in given}
        after = before | {name: each[environment] for name, each in given.items() if environment in each}
        if after == before:
            continue
        _require_sound(after["days"], after["people_days"])
        log_forgotten(**mine)
        if after["days"] is None:
            Retention.objects.filter(**mine).delete()
        else:
            Retention.objects.update_or_create(**mine, defaults=after)
        facts = ({"environment": environment, **each} for each in (before, after))
        note(organization_id, actor, Action.RETENTION_SET, environment, before=next(facts), after=next(facts))


def _require_sound(days: int | None, people_days: int | None) -> None:
    for number in (days, people_days):
        if number is not None and not 1 <= number <= LONGEST_DAYS:
            raise DomainError("validation_error", f"days must be from 1 to {LONGEST_DAYS}, not {number}.")
    if people_days is not None and (days is None or people_days < days):
        sentence = _("Files name people: delete them first, after as many days as people are kept, or fewer.")
        raise DomainError("validation_error", sentence)


def retention_days(organization_id: int, kept: str = "days") -> Days:
    """Return the days of retention by environment, for files or, if ``kept`` is "people_days", for people; None for
    ever."""
    known = dict(Retention.objects.filter(organization=organization_id).values_list("environment", kept))
    return {environment: known.get(environment) for environment in Environment.values}


def count_forgotten(owners: Iterable[tuple[int, str]]) -> None:
    """Count requests whose people the caller's transaction forgets, by organization and environment, until
    :func:`log_forgotten` notes them in the activity log."""
    for (organization_id, environment), count in sorted(Counter(owners).items()):
        rule = Retention.objects.filter(organization=organization_id, environment=environment)
        rule.update(people_forgotten=F("people_forgotten") + count)


@transaction.atomic
def log_forgotten(**of: Any) -> None:
    """Note in the activity log of every organization, or only for rules with the values ``of``, in how many requests
    people were forgotten since the last such entry: one entry for each rule, even for a million requests."""
    for rule in Retention.objects.filter(people_forgotten__gt=0, **of).order_by("pk").select_for_update(no_key=True):
        facts = {"environment": rule.environment, "requests": rule.people_forgotten}
        note(rule.organization_id, SERVICE, Action.PEOPLE_FORGOTTEN, rule.environment, after=facts)
        Retention.objects.filter(pk=rule.pk).update(people_forgotten=0)


def over(rows: QuerySet[Row], since: str, longest: timedelta) -> Iterator[QuerySet[Row]]:
    """Yield, in parts, the rows whose time ``since`` is longer ago than ``longest``, or than the retention of files of
    their organization and environment if that is shorter."""
    now = clock.now()
    yield rows.filter(**{f"{since}__lt": now - longest})
    for rule in list(Retention.objects.filter(days__lt=longest.days).order_by("organization_id", "environment")):
        of_rule: dict[str, Any] = {"organization": rule.organization_id, "environment": rule.environment}
        yield rows.filter(**of_rule, **{f"{since}__lt": now - timedelta(days=rule.days)})
