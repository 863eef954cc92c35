"""Which requests ended so long ago that the rules of their organizations have their files deleted, or their people
forgotten, a few at a time for each worker that does it."""

from typing import NamedTuple

from paraph.database.base import planned
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

    def due(self, limit: str) -> str:
        """Return, from its ``FROM`` on, the statement that finds due requests, so many of each rule."""
        return _DUE.format(**self._asdict(), limit=limit)


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
    due = kept.due("%(most)s FOR NO KEY UPDATE SKIP LOCKED")
    found = planned(f"SELECT request.id {due} LIMIT %(most)s", {"now": clock.now(), "most": most})
    return [request_id for (request_id,) in found.fetchall()]
