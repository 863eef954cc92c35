"""How long the files of requests are kept, by organization and environment."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import Environment, Retention
from paraph.tenants.organizations import locked_organization, require_choice

LONGEST_DAYS = 36_500

Row = TypeVar("Row", bound=Model)


@transaction.atomic
def change_retention(organization_id: int, actor: Actor, days: dict[str, int | None]) -> None:
    """Have files of each environment deleted so many days after the end of their request; None keeps them for ever.

    Raise ``DomainError``: ``not_found``, ``validation_error``.
    """
    locked_organization(organization_id)
    before = retention_days(organization_id)
    for environment, number in days.items():
        require_choice("environment", environment, Environment.values)
        if number is not None and not 1 <= number <= LONGEST_DAYS:
            raise DomainError("validation_error", f"days must be from 1 to {LONGEST_DAYS}, not {number}.")
        if number == before[environment]:
            continue
        if number is None:
            Retention.objects.filter(organization_id=organization_id, environment=environment).delete()
        else:
            Retention.objects.update_or_create(
                organization_id=organization_id, environment=environment, defaults={"days": number}
            )
        facts = ({"environment": environment, "days": each} for each in (before[environment], number))
        note(organization_id, actor, Action.RETENTION_SET, environment, before=next(facts), after=next(facts))


def retention_days(organization_id: int) -> dict[str, int | None]:
    """Return the days of each environment; None where files are kept for ever."""
    rows = Retention.objects.filter(organization=organization_id)
    known = dict(rows.values_list("environment", "days"))
    return {environment: known.get(environment) for environment in Environment.values}


def over(rows: QuerySet[Row], since: str, longest: timedelta) -> Iterator[QuerySet[Row]]:
    """Yield, in parts, the rows whose moment ``since`` lies further back than ``longest``, or than the retention of
    their organization and environment where that is shorter."""
    now = clock.now()
    yield rows.filter(**{f"{since}__lt": now - longest})
    for rule in list(Retention.objects.filter(days__lt=longest.days).order_by("organization_id", "environment")):
        of_rule: dict[str, Any] = {"organization": rule.organization_id, "environment": rule.environment}
        yield rows.filter(**of_rule, **{f"{since}__lt": now - timedelta(days=rule.days)})
