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
    """The tenant on whose behalf something is done: the owner of the API key, or an organization whose member uses the
    dashboard, without an application. ``suspended``: whether an operator has suspended the organization."""

    organization_id: int
    environment: str
    plan: str
    application_id: int | None
    suspended: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """The values of the two columns that mark the tenant's rows, for new rows and for statements."""
        return {"organization_id": self.organization_id, "environment": self.environment}


class _Owned(Protocol):
    @property
    def organization_id(self) -> int: ...
    @property
    def environment(self) -> str: ...


def tenant_key(owned: _Owned) -> str:
    """Return the name of a tenant for the sharing of time and processes: that of the organization, which is the same in
    both environments."""
    return str(owned.organization_id)


def answer_for(owned: _Owned) -> None:
    """Set on whose behalf this thread answers its request, for the log and for the places for expensive work. To be
    called as soon as that is known."""
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
    """Return the caller's branding profiles, which are the only rows that both environments share (rule 2.4)."""
    return BrandingProfile.objects.filter(organization_id=scope.organization_id, deleted_at=None)
