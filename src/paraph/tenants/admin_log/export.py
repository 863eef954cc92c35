"""Exports of an organization's whole activity log, which
:mod:`paraph.tenants.admin_log.read_export` checks, and the check of the log itself."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from paraph.kernel import clock
from paraph.tenants.admin_log.chain import ChainCheck, check_entries
from paraph.tenants.admin_log.log import facts
from paraph.tenants.admin_log.models import Activity
from paraph.tenants.admin_log.read_export import BEFORE_ENTRIES, FORMAT, written

_AT_ONCE = 1000


def exported(export: Activity) -> Iterator[bytes]:
    """Yield the export as JSON, an entry a line, whose last entry is ``export``: it binds the head."""
    number = export.organization_id
    head = {
        "format": FORMAT,
        "organization_id": number,
        "organization": export.subject,
        "at": clock.iso(export.created_at),
    }
    yield written(head)[:-1] + BEFORE_ENTRIES.encode()
    for entry in entries(number, export.position):
        yield (b",\n" if entry["position"] > 1 else b"\n") + written(entry)
    yield b"\n]}\n"


def check_log(organization_id: int, export: ChainCheck | None = None) -> ChainCheck:
    """Check the log of an organization in the database, and whether an export that holds is the beginning of it:
    entries that were taken off the log's end since show so."""
    check = check_entries(entries(organization_id), organization_id)
    if export is None or not (export.ok and check.ok) or _begins_with(organization_id, export):
        return check
    return replace(check, problem="The export is not the beginning of this log.")


def _begins_with(organization_id: int, export: ChainCheck) -> bool:
    if export.organization_id != organization_id:
        return False
    last = Activity.objects.filter(organization_id=organization_id, position=export.entries).first()
    return export.entries == 0 or (last is not None and bytes(last.hash).hex() == export.head)


def entries(organization_id: int, until: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the entries in their order, as exports have them, never many at once in memory. ``until``: position of the
    last."""
    log, position = Activity.objects.filter(organization_id=organization_id), 0
    if until is not None:
        log = log.filter(position__lte=until)
    while rows := list(log.filter(position__gt=position)[:_AT_ONCE]):
        for row in rows:
            yield {**facts(row), "hash": bytes(row.hash).hex()}
        position = rows[-1].position
