"""How long the files and the people of requests are kept, by organization and environment."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import SERVICE, Action, Actor, note
from paraph.tenants.models import Environment, Retention
from paraph.tenants.organizations import locked_organization, require_choice
from paraph.tenants.scope import Row

LONGEST_DAYS = 36_500
Days = dict[str, int | None]
"""By environment; None for ever."""


@transaction.atomic
def change_retention(
    organization_id: int, actor: Actor, days: Days | None = None, people_days: Days | None = None
) -> None:
    """Have files of each environment deleted, and people forgotten, so many days after the end of their request; None
    keeps them for ever. An environment that is not named stays as it is.

    Raise ``DomainError``: ``not_found``, ``validation_error``, also where people would be forgotten before files are
    deleted, which name them.
    """
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
        tell_forgotten(**mine)
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
    """Return the days of each environment, those of files or, where ``kept`` is "people_days", of people; None for
    ever."""
    known = dict(Retention.objects.filter(organization=organization_id).values_list("environment", kept))
    return {environment: known.get(environment) for environment in Environment.values}


def count_forgotten(owners: Iterable[tuple[int, str]]) -> None:
    """Count requests whose people the caller's transaction forgets, each by its organization and environment, until
    the activity log tells of them."""
    for (organization_id, environment), count in sorted(Counter(owners).items()):
        rule = Retention.objects.filter(organization=organization_id, environment=environment)
        rule.update(people_forgotten=F("people_forgotten") + count)


@transaction.atomic
def tell_forgotten(**of: Any) -> None:
    """Tell the activity log of every organization, or of those rules alone, in how many requests people were forgotten
    since it was told last: one entry, be they a million."""
    for rule in Retention.objects.filter(people_forgotten__gt=0, **of).order_by("pk").select_for_update(no_key=True):
        facts = {"environment": rule.environment, "requests": rule.people_forgotten}
        note(rule.organization_id, SERVICE, Action.PEOPLE_FORGOTTEN, rule.environment, after=facts)
        Retention.objects.filter(pk=rule.pk).update(people_forgotten=0)


def over(rows: QuerySet[Row], since: str, longest: timedelta) -> Iterator[QuerySet[Row]]:
    """Yield, in parts, the rows whose moment ``since`` lies further back than ``longest``, or than the retention of
    their organization and environment where that is shorter."""
    now = clock.now()
    yield rows.filter(**{f"{since}__lt": now - longest})
    for rule in list(Retention.objects.filter(days__lt=longest.days).order_by("organization_id", "environment")):
        of_rule: dict[str, Any] = {"organization": rule.organization_id, "environment": rule.environment}
        yield rows.filter(**of_rule, **{f"{since}__lt": now - timedelta(days=rule.days)})
