"""Which rows a caller may see: those of their organization *and* environment, always both (specification 5.1).

Querysets begin with :func:`scoped`, single rows by a compiled query with :func:`own`.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from django.db.models import Model, QuerySet

from paraph.database.compiled_query import CompiledQuery
from paraph.tenants.models import BrandingProfile

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Caller:
    """On whose behalf something is done: of the API key's owner, or of an organization whose member does it in the
    dashboard, where there is no application. ``suspended``: whether an operator has suspended the organization."""

    organization_id: int
    environment: str
    plan: str
    application_id: int | None
    suspended: bool = False


class _Owned(Protocol):
    @property
    def organization_id(self) -> int: ...
    @property
    def environment(self) -> str: ...


def party(owned: _Owned) -> str:
    """On whose behalf something is done, where time and processes are shared: the organization in the environment."""
    return f"{owned.organization_id} {owned.environment}"


def scoped(model: type[Row], caller: Caller) -> QuerySet[Row]:
    """The rows of ``model`` that the caller may see. Everything beyond is as if it did not exist."""
    return QuerySet(model).filter(organization_id=caller.organization_id, environment=caller.environment)


def own(rows: CompiledQuery[Row], caller: Caller, pk: int) -> Row | None:
    """One row by its id, through a compiled query: None where it is not the caller's."""
    row: Any = rows.first(pk)
    if row is None or (row.organization_id, row.environment) != (caller.organization_id, caller.environment):
        return None
    found: Row = row
    return found


def branding_profiles(caller: Caller) -> QuerySet[BrandingProfile]:
    """The caller's branding profiles: the one thing both environments see (specification 2.4)."""
    return BrandingProfile.objects.filter(organization_id=caller.organization_id, deletion=None)
