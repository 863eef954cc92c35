"""How long the files of requests are kept, by organization and environment."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Environment, Retention
from paraph.tenants.registration import existing_organization

LONGEST_DAYS = 36_500

Row = TypeVar("Row", bound=Model)


def set_retention(organization_id: int, environment: str, days: int | None) -> None:
    """Has files deleted so many days after the end of their request; None keeps them for ever.

    Raises ``DomainError("not_found" | "validation_error", …)``.
    """
    if environment not in Environment.values:
        choices = ", ".join(Environment.values)
        raise DomainError("validation_error", f"environment must be one of {choices}, not {environment!r}.")
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise DomainError("validation_error", f"days must be from 1 to {LONGEST_DAYS}, not {days}.")
    organization = existing_organization(organization_id)
    if days is None:
        Retention.objects.filter(organization=organization, environment=environment).delete()
        return
    Retention.objects.update_or_create(organization=organization, environment=environment, defaults={"days": days})


def retention_days(organization_id: int) -> dict[str, int | None]:
    """Returns the days of each environment; None where files are kept for ever."""
    rows = Retention.objects.filter(organization=organization_id)
    known = dict(rows.values_list("environment", "days"))
    return {environment: known.get(environment) for environment in Environment.values}


def over(rows: QuerySet[Row], since: str, longest: timedelta) -> Iterator[QuerySet[Row]]:
    """Yield, in parts, those of the rows, each of an organization and an environment, whose moment ``since`` lies
    further back than ``longest``, or than their retention says where that is shorter."""
    now = clock.now()
    yield rows.filter(**{f"{since}__lt": now - longest})
    for rule in list(Retention.objects.filter(days__lt=longest.days).order_by("organization_id", "environment")):
        of_rule: dict[str, Any] = {"organization": rule.organization_id, "environment": rule.environment}
        yield rows.filter(**of_rule, **{f"{since}__lt": now - timedelta(days=rule.days)})
