"""Organizations, applications and keys as an operator sees them, without any secret."""

from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from paraph.kernel import clock
from paraph.tenants.models import ApiKey, Application, Organization, Retention
from paraph.tenants.organizations import SETTINGS

Json = dict[str, Any]


def organizations() -> list[Json]:
    """List all organizations, deleted ones too, each with its retention."""
    retention: dict[int, dict[str, int]] = {}
    for row in Retention.objects.all():
        retention.setdefault(row.organization_id, {})[row.environment] = row.days
    rows = Organization.objects.order_by("pk")
    return [{**organization_facts(row), "retention_days": retention.get(row.pk, {})} for row in rows]


def organization_facts(row: Organization) -> Json:
    return {
        "id": row.pk,
        **{field: getattr(row, field) for field in SETTINGS},
        "created_at": clock.iso(row.created_at),
        "suspended_at": _iso(row.suspended_at),
        "deleted_at": _iso(row.deleted_at),
    }


def applications(organization_id: int | None = None) -> list[Json]:
    """List the applications of an organization, or of all, each with its keys."""
    rows = Application.objects.order_by("pk").prefetch_related(Prefetch("keys", ApiKey.objects.order_by("pk")))
    if organization_id is not None:
        rows = rows.filter(organization=organization_id)
    return [{**application_facts(row), "keys": [_key(key) for key in row.keys.all()]} for row in rows]


def application_facts(row: Application) -> Json:
    fields = ("id", "organization_id", "environment", "name", "webhook_url")
    facts = {field: getattr(row, field) for field in fields}
    return {**facts, "frame_origins": row.frame_origins.split(), "created_at": clock.iso(row.created_at)}


def keys(application_id: int | None = None) -> list[Json]:
    rows = ApiKey.objects.order_by("pk").select_related("application")
    if application_id is not None:
        rows = rows.filter(application=application_id)
    return [key_facts(row) for row in rows]


def key_facts(row: ApiKey) -> Json:
    application = row.application
    of = {"application_id": application.pk, "organization_id": application.organization_id}
    return {**_key(row), **of, "environment": application.environment}


def _key(row: ApiKey) -> Json:
    """Describe a key. ``revoked_at`` is in the future while another key is replacing it."""
    return {
        "id": row.pk,
        "created_at": clock.iso(row.created_at),
        "last_used_at": _iso(row.last_used_at),
        "revoked_at": _iso(row.revoked_at),
        "live": row.revoked_at is None or row.revoked_at > clock.now(),
    }


def _iso(moment: datetime | None) -> str | None:
    return clock.iso(moment) if moment else None
