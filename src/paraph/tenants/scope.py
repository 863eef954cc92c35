"""Which rows a caller may see: those of their organization *and* environment, always both (rule 5.1). Querysets begin
with :func:`scoped`."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import structlog
from django.db.models import Model, QuerySet

from paraph.kernel.errors import DomainError
from paraph.kernel.places import name_tenant
from paraph.tenants.models import BrandingProfile

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class TenantScope:
    """On whose behalf something is done: of the API key's owner, or of an organization whose member does it in the
    dashboard, where there is no application. ``suspended``: whether an operator has suspended the organization."""

    organization_id: int
    environment: str
    plan: str
    application_id: int | None
    suspended: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """What rows of theirs have in two columns, as new rows take it and statements name it."""
        return {"organization_id": self.organization_id, "environment": self.environment}


class _Owned(Protocol):
    @property
    def organization_id(self) -> int: ...
    @property
    def environment(self) -> str: ...


def tenant_key(owned: _Owned) -> str:
    """Return on whose behalf something is done where time and processes are shared: the organization, in both
    environments."""
    return str(owned.organization_id)


def answer_for(owned: _Owned) -> None:
    """Say on whose behalf this thread answers its request, as soon as that is known: to the log, and to the places for
    expensive work."""
    structlog.contextvars.bind_contextvars(organization_id=owned.organization_id, environment=owned.environment)
    name_tenant(tenant_key(owned))


def scoped(model: type[Row], scope: TenantScope) -> QuerySet[Row]:
    """Return the rows of ``model`` that the caller may see. Everything beyond is as if it did not exist."""
    return QuerySet(model).filter(**scope.columns)


def existing(rows: QuerySet[Row], sentence: str) -> Row:
    """Return the first row. Raise ``DomainError("not_found", …)`` with the sentence where there is none."""
    row = rows.first()
    if row is None:
        raise DomainError("not_found", sentence)
    return row


def branding_profiles(scope: TenantScope) -> QuerySet[BrandingProfile]:
    """Return the caller's branding profiles: the one thing both environments see (rule 2.4)."""
    return BrandingProfile.objects.filter(organization_id=scope.organization_id, deleted_at=None)
