"""Which requests ended so long ago that the rules of their organizations have their files deleted, or their people
forgotten: found for the workers who do it, a few for each, and for those who want to know how late that is."""

from typing import NamedTuple

from paraph.database.planned import one_row, planned
from paraph.kernel import clock

RUN_SECONDS = 5.0  # of a job that does what is due: seals may wait for its place
_ENDED_AT = "coalesce(completed_at, ended_early_at, expires_at)"
# The rules come in any order, so that one with a million due requests holds up no other.
_DUE = f"""
    FROM (SELECT * FROM organizations_retention WHERE {{days}} IS NOT NULL ORDER BY random()) AS rule
    CROSS JOIN LATERAL (
        SELECT id, {_ENDED_AT} AS ended_at FROM signature_requests_signaturerequest
        WHERE organization_id = rule.organization_id AND environment = rule.environment AND {{still}}
            AND {_ENDED_AT} <= {{until}} - make_interval(days => rule.{{days}})
        ORDER BY {_ENDED_AT} LIMIT {{limit}}
    ) AS request
"""  # noqa: S608  our own names


class Kept(NamedTuple):
    """What requests keep after their end, for so many ``days`` of the rule before ``until``; ``still``: which ones
    do."""

    days: str
    still: str
    until: str = "%(now)s::timestamptz"


FILES = Kept(
    "days", "status <> 'pending' AND files_deleted_at IS NULL AND NOT (status = 'completed' AND NOT finalized)"
)
PEOPLE = Kept(
    "people_days",
    "files_deleted_at IS NOT NULL AND people_forgotten_at IS NULL",
    "date_trunc('day', %(now)s::timestamptz, 'UTC')",  # so that an organization's log tells of it once a day
)


def claim_due(kept: Kept, most: int) -> list[int]:
    """Return the ids of due requests, those of an organization that ended first before others, and lock them until the
    transaction ends. Those that another transaction has are left out."""
    due = _DUE.format(**kept._asdict(), limit="%(most)s FOR NO KEY UPDATE SKIP LOCKED")
    found = planned(f"SELECT request.id {due} LIMIT %(most)s", {"now": clock.now(), "most": most})
    return [request_id for (request_id,) in found.fetchall()]


class Overdue(NamedTuple):
    """For how long the longest overdue request has been so, and whose it is."""

    seconds: float
    organization_id: int
    environment: str


def longest_overdue(kept: Kept) -> Overdue | None:
    """Return None where nothing is due."""
    late = f"extract(epoch FROM {kept.until} - make_interval(days => {kept.days}) - ended_at)::float8"
    due = _DUE.format(**kept._asdict(), limit="1")
    columns = f"{late}, organization_id, environment"
    found = one_row(f"SELECT {columns} {due} ORDER BY 1 DESC LIMIT 1", {"now": clock.now()})
    return Overdue(*found) if found else None
