"""How long the files of requests are kept, by organization and environment."""

from paraph.kernel.errors import DomainError
from paraph.organizations.models import Environment, Retention
from paraph.organizations.registration import existing_organization

LONGEST_DAYS = 36_500


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
