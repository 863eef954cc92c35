"""Whatever the bounds, the order and the page: the daily counts give what counting and skipping every row would."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraph.api.v1.lists import Page, Selection, page_of_rows
from paraph.documents.models import Document
from paraph.tenants.models import DailyCount
from paraph.tenants.scope import TenantScope, scoped
from tests.api.v1.api_clients import ApiClient, api_client, payload, stored_document

START = datetime(2026, 3, 1, tzinfo=UTC)
moments = st.builds(
    lambda day, seconds: START + timedelta(days=day, seconds=seconds),
    st.integers(-1, 7),
    st.sampled_from([0, 1, 43_200, 86_398, 86_399]) | st.integers(0, 86_399),
)
bounds = (
    st.none() | moments | moments.map(lambda moment: moment.replace(hour=23, minute=59, second=59, microsecond=999999))
)
selections = st.builds(Selection, st.sampled_from(["", "ready", "pending"]), bounds, bounds, st.booleans())
pages = st.builds(Page, st.integers(1, 12), st.integers(1, 15))


@pytest.fixture
def scope(owner: ApiClient) -> TenantScope:
    """Who has sixty documents within a week, none on its fourth day, and foreign ones around."""
    assert owner.organization
    others = api_client()
    for number in range(60):
        moment = START + timedelta(days=(number * 7) % 6, seconds=(number * 7919) % 86_400)
        moment += timedelta(days=1) if moment.day == 4 else timedelta()
        status = "pending" if number % 4 == 0 else "ready"
        stored_document(owner, created_at=moment, status=status)
        stored_document(others, created_at=moment, status=status)
        stored_document(owner, created_at=moment, status=status, environment="production")
    stored_document(owner, created_at=START + timedelta(days=1))
    stored_document(owner, created_at=START + timedelta(days=2) - timedelta(seconds=1))
    return TenantScope(owner.organization.pk, "sandbox", "pro", 0)


@pytest.mark.thorough
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(selection=selections, page=pages)
def test_pages_are_those_of_counting(scope: TenantScope, selection: Selection, page: Page) -> None:
    rows = scoped(Document, scope)
    count, entries = page_of_rows(rows, "documents", scope, selection, page)
    expected = [row.pk for row in selection.of(rows)]
    assert count == len(expected)
    assert [row.pk for row in entries] == expected[page.offset : page.offset + page.limit]


def tallied(**of: Any) -> dict[str, int]:
    rows = DailyCount.objects.filter(**of).exclude(count=0)
    return {f"{row.resource} {row.day} {row.status}": row.count for row in rows}


def test_daily_counts_follow_rows(owner: ApiClient) -> None:
    row = stored_document(owner, created_at=START, status="pending")
    stored_document(owner, created_at=START + timedelta(hours=24))
    assert tallied() == {"documents 2026-03-01 pending": 1, "documents 2026-03-02 ready": 1}
    Document.objects.filter(pk=row.pk).update(status="ready")
    Document.objects.filter(pk=row.pk).update(name="another")
    assert tallied() == {"documents 2026-03-01 ready": 1, "documents 2026-03-02 ready": 1}
    row.delete()
    assert tallied() == {"documents 2026-03-02 ready": 1}


def test_requests_are_tallied_too(owner: ApiClient) -> None:
    owner.create(payload(owner.document()))
    assert sum(tallied(resource="signature_requests", status="pending").values()) == 1


def test_the_day_is_that_of_utc_whatever_the_session(owner: ApiClient) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TIME ZONE 'Pacific/Auckland'")
    stored_document(owner, created_at=START + timedelta(hours=23))
    assert tallied() == {"documents 2026-03-01 ready": 1}
