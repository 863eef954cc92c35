"""Who operates the service in a browser, and what operators did, by commands and there."""

from typing import Any

from django.db import transaction

from paraph.kernel import clock
from paraph.tenants.accounts import account, with_second_factor
from paraph.tenants.admin_log import Actor, note
from paraph.tenants.models import Activity, ActorKind, Operator, User
from paraph.tenants.scope import existing


@transaction.atomic
def add_operator(actor: Actor, address: str) -> User:
    """Return the account of the address, a new one where there is none, which is an operator's now. Safe to repeat.
    Raise ``DomainError("validation_error", …)``."""
    user = account(address)
    if Operator.objects.get_or_create(user=user)[1]:
        note(None, actor, "operator.added", user.email)
    return user


@transaction.atomic
def remove_operator(actor: Actor, address: str) -> str:
    """Make the account an operator's no longer; return its address. Raise ``DomainError("not_found", …)``."""
    rows = Operator.objects.filter(user__email=address.strip().lower()).select_related("user")
    found = existing(rows, f"There is no operator {address}.")
    email = found.user.email
    found.delete()
    note(None, actor, "operator.removed", email)
    return email


def operators() -> list[dict[str, Any]]:
    rows = list(Operator.objects.select_related("user").order_by("user__email"))
    ready = with_second_factor([row.user_id for row in rows])
    return [
        {"email": row.user.email, "added_at": clock.iso(row.added_at), "second_factor": row.user_id in ready}
        for row in rows
    ]


def acts(limit: int) -> list[dict[str, Any]]:
    """Return the latest entries of operators in the logs of the installation and of all organizations, newest first."""
    rows = Activity.objects.filter(actor_kind=ActorKind.OPERATOR).order_by("-pk")[:limit]
    told = rows.values("id", "created_at", "actor", "ip", "organization_id", "action", "subject", "before", "after")
    return [{**row, "created_at": clock.iso(row["created_at"])} for row in told]
