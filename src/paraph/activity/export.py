"""Exports of an organization's whole activity log, which :mod:`paraph.activity.chain` checks, and the check of the log
itself."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from paraph.activity.chain import FORMAT, ChainCheck, check_acts
from paraph.activity.log import facts
from paraph.activity.models import Activity
from paraph.kernel import clock

_AT_ONCE = 1000


def exported(organization_id: int, name: str) -> Iterator[bytes]:
    """Yields the export as JSON, an act a line, up to the newest act of now."""
    head = {"format": FORMAT, "organization_id": organization_id, "organization": name, "at": clock.iso(clock.now())}
    yield (json.dumps(head, ensure_ascii=False)[:-1] + ', "acts": [').encode()
    for number, act in enumerate(acts(organization_id)):
        yield (("," if number else "") + "\n" + json.dumps(act, ensure_ascii=False)).encode()
    yield b"\n]}\n"


def check_log(organization_id: int, export: ChainCheck | None = None) -> ChainCheck:
    """Checks the log of an organization in the database, and whether an export that holds is the beginning of it: acts
    that were taken off the log's end since show so."""
    check = check_acts(acts(organization_id), organization_id)
    if export is None or not (export.ok and check.ok) or _begins_with(organization_id, export):
        return check
    return replace(check, problem="The export is not the beginning of this log.")


def _begins_with(organization_id: int, export: ChainCheck) -> bool:
    if export.organization_id != organization_id:
        return False
    last = Activity.objects.filter(organization_id=organization_id, position=export.acts).first()
    return export.acts == 0 or (last is not None and bytes(last.hash).hex() == export.head)


def acts(organization_id: int) -> Iterator[dict[str, Any]]:
    """The acts in their order, as exports have them, never many at once in memory."""
    position = 0
    while rows := list(Activity.objects.filter(organization_id=organization_id, position__gt=position)[:_AT_ONCE]):
        for row in rows:
            yield {**facts(row), "hash": bytes(row.hash).hex()}
        position = rows[-1].position
