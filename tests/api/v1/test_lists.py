"""Pages and filters of collections (rules 4.1, 4.3 and 4.9), which the list of requests shares."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraph.api.v1.lists import Page, Selection, page_of_rows
from paraph.audit_trail.journal import follow
from paraph.database.rows import insert
from paraph.documents.models import Document
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import BrandingProfile, DailyCount
from paraph.tenants.scope import TenantScope, scoped
from tests.api.v1.api_clients import ApiClient, api_client, branding_profile, invalid, payload, stored_document


def documents(owner: ApiClient, count: int) -> str:
    for _ in range(count - Document.objects.count()):
        stored_document(owner)
    return "/documents"


def requests(owner: ApiClient, count: int) -> str:
    content = payload(owner.document())
    for _ in range(count):
        owner.create(content)
    return "/signature_requests"


def audit_logs(owner: ApiClient, count: int) -> str:
    request = SignatureRequest.objects.get(pk=owner.create(payload(owner.document())).json()["id"])
    for _ in range(count - 1):
        insert([follow(request, "request.completed")])
    return f"/signature_requests/{request.pk}/audit_logs"


def branding_profiles(owner: ApiClient, count: int) -> str:
    for number in range(count - BrandingProfile.objects.count()):
        branding_profile(owner, f"Profile {number}")
    return "/branding_profiles"


MAKERS = [documents, requests, audit_logs, branding_profiles]
Maker = Callable[[ApiClient, int], str]


LENIENT: list[tuple[dict[str, str], int, int]] = [
    ({}, 1, 20),
    ({"page": "2", "limit": "2"}, 2, 2),
    ({"page": "0", "limit": "0"}, 1, 20),
    ({"page": "-1", "limit": "-5"}, 1, 20),
    ({"page": "last", "limit": "all"}, 1, 20),
    ({"page": "", "limit": ""}, 1, 20),
    ({"page": "1.5", "limit": "2.0"}, 1, 20),
    ({"page": "٣", "limit": "٣"}, 1, 20),
    ({"limit": "100"}, 1, 100),
    ({"limit": "101"}, 1, 100),
    ({"page": "2", "limit": "1000000"}, 2, 100),
    ({"limit": "9" * 5000}, 1, 100),  # lowered, however large it is
    ({"page": "9" * 18}, 10**18 - 1, 20),
    ({"page": "9" * 5000}, 10**18 - 1, 20),  # a page that does not exist does not become the first
    ({"page": "0" * 30 + "2", "limit": "007"}, 2, 7),
]


@pytest.mark.parametrize("make", MAKERS)
def test_pages(owner: ApiClient, make: Maker) -> None:
    """Pages follow each other and count all rows; odd page numbers and limits are taken leniently."""
    path = make(owner, 21)
    content = owner.get(path).json()
    assert set(content) == {"data", "pagination"}
    assert content["pagination"] == {"page": 1, "limit": 20, "count": 21, "pages": 2}
    assert len(content["data"]) == 20
    pages = [owner.get(path, page=page, limit=9).json() for page in (1, 2, 3, 4)]
    assert [len(page["data"]) for page in pages] == [9, 9, 3, 0]
    listed = [entry["id"] for page in pages for entry in page["data"]]
    assert listed == ids(owner.get(path, limit=100)) and len(set(listed)) == 21
    for number, page in enumerate(pages, start=1):
        assert page["pagination"] == {"page": number, "limit": 9, "count": 21, "pages": 3}
    for query, number, limit in LENIENT:
        pagination = owner.get(path, **query).json()["pagination"]
        assert (query, pagination["page"], pagination["limit"]) == (query, number, limit)


def ids(response: Any) -> list[int]:
    assert response.status_code == 200, response.content
    return [entry["id"] for entry in response.json()["data"]]


@pytest.fixture
def three_documents(owner: ApiClient) -> list[int]:
    """Store documents of three days in March, the second pending; return their ids."""
    rows = [((1, 0, 0, 0), "ready"), ((2, 12, 30, 15), "pending"), ((3, 23, 59, 59), "ready")]
    moments = [(datetime(2026, 3, *moment, tzinfo=UTC), status) for moment, status in rows]
    return [stored_document(owner, created_at=moment, status=status).pk for moment, status in moments]


def test_entries_are_documents_without_download_url_and_preflight(owner: ApiClient) -> None:
    created = owner.upload().json()
    del created["preflight"]
    pagination = {"page": 1, "limit": 20, "count": 1, "pages": 1}
    assert owner.get("/documents").json() == {"data": [created], "pagination": pagination}


def test_rows_of_the_same_second_have_a_fixed_order(owner: ApiClient) -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    rows = [stored_document(owner, created_at=moment).pk for _ in range(5)]
    assert ids(owner.get("/documents")) == rows
    assert ids(owner.get("/documents", order="desc")) == rows[::-1]


FILTERS: list[tuple[dict[str, str], list[int]]] = [
    ({}, [0, 1, 2]),
    ({"order": "asc"}, [0, 1, 2]),
    ({"order": "desc"}, [2, 1, 0]),
    ({"status": "pending"}, [1]),
    ({"status": "ready"}, [0, 2]),
    ({"status": "ready", "order": "desc"}, [2, 0]),
    # A bare date is the whole day.
    ({"created_after": "2026-03-02"}, [1, 2]),
    ({"created_after": "2026-03-03"}, [2]),
    ({"created_before": "2026-03-02"}, [0, 1]),
    ({"created_before": "2026-03-03"}, [0, 1, 2]),
    ({"created_after": "2026-03-02", "created_before": "2026-03-02"}, [1]),
    ({"created_before": "2026-02-28"}, []),
    # Timestamps are inclusive.
    ({"created_after": "2026-03-02T12:30:15Z"}, [1, 2]),
    ({"created_after": "2026-03-02T12:30:16Z"}, [2]),
    ({"created_before": "2026-03-02T12:30:15Z"}, [0, 1]),
    ({"created_before": "2026-03-02T12:30:14Z"}, [0]),
    # Offsets and other forms of ISO 8601; without an offset it is UTC.
    ({"created_after": "2026-03-02T13:30:16+01:00"}, [2]),
    ({"created_after": "2026-03-02T13:30:15 01:00"}, [1, 2]),
    ({"created_after": "2026-03-02T07:30:15-0500"}, [1, 2]),
    ({"created_after": "2026-03-02T12:30:15"}, [1, 2]),
    ({"created_after": "2026-03-02 12:30:15Z"}, [1, 2]),
    ({"created_after": "2026-03-02t12:30:15.000z"}, [1, 2]),
    ({"created_after": "2026-03-02T12:30:15.001Z"}, [2]),
    ({"created_after": "2026-03-02T12:30:15,5Z"}, [2]),
    ({"created_after": "20260302T123015Z"}, [1, 2]),
    ({"created_after": "20260302"}, [1, 2]),
    ({"created_after": "2026-W10-1"}, [1, 2]),
    ({"created_after": "2026-W10-1T12:30:16Z"}, [2]),
    ({"created_after": "2026-03-02T12Z"}, [1, 2]),
    ({"created_after": "2026-03-02T07:30:15\N{MINUS SIGN}05:00"}, [1, 2]),  # ISO 8601 prefers it to the hyphen
    ({"created_after": "0001-01-01", "created_before": "9999-12-31"}, [0, 1, 2]),
]


def test_filters(owner: ApiClient, three_documents: list[int]) -> None:
    for query, expected in FILTERS:
        response = owner.get("/documents", **query)
        assert (query, ids(response)) == (query, [three_documents[place] for place in expected])
        assert response.json()["pagination"]["count"] == len(expected)


UNREADABLE = [
    "", "yesterday", "2026-13-01", "2026-02-30", "2026-061", "2026061", "26-03-01", "2026-03", "1772409600",
     "2026-03-02T", "2026-03-02T25:00:00Z", "2026-03-02T24:00:00Z", "2026-03-02T24:00Z", "2026-03-02T12:60:00Z",
     "2026-03-02T12:30:60Z", "2026-03-02T23:59:60Z", "2026-03-02T12:30,25Z", "2026-03-02T12.5Z",
     "2026-03-02T12:30:15.Z", "2026-03-02T12:3015Z", "2026-W10",
     "2026W10", "2026-03-02T12:30:15+01:60", "2026-03-02T12:30:15+25:00", "2026-03-02x12:30:15",
     "0001-01-01T00:00:00+14:00",
     "9999-12-31T23:59:59-14:00", "٢٠٢٦-03-02", "2026-03-02\0", "2026-03-02Z",
]  # fmt: skip


@pytest.mark.parametrize("name", ["created_after", "created_before"])
def test_unreadable_moments_are_named(owner: ApiClient, name: str) -> None:
    for value in UNREADABLE:
        message = invalid(owner.get("/documents", **{name: value}))
        assert message == f"{name} must be an ISO 8601 date or timestamp, not “{value}”."


STRICT: list[tuple[dict[str, Any], str]] = [
    ({"status": "completed"}, "status must be one of pending, ready, not “completed”."),
    ({"status": ""}, "status must be one of pending, ready, not “”."),
    ({"status": "READY"}, "status must be one of pending, ready, not “READY”."),
    ({"order": "up"}, "order must be one of asc, desc, not “up”."),
    ({"order": ""}, "order must be one of asc, desc, not “”."),
    ({"status": ["ready", "pending"]}, "status is given more than once."),
]


def test_other_filters_are_as_strict(owner: ApiClient) -> None:
    for query, message in STRICT:
        assert invalid(owner.get("/documents", **query)) == message


@pytest.fixture
def profile_names(owner: ApiClient) -> list[str]:
    for name in ("Winter", "autumn", "Spring"):
        branding_profile(owner, name)
    return ["autumn", "Spring", "Winter"]


def test_a_branding_profile(owner: ApiClient, profile_names: list[str]) -> None:
    row = BrandingProfile.objects.get(name="autumn")
    content = owner.get("/branding_profiles").json()
    assert content["pagination"] == {"page": 1, "limit": 20, "count": 3, "pages": 1}
    colors = {"background_color": "#ffffff", "text_color": "#000000", "accent_color": "#1a2b3c"}
    assert content["data"][0] == {"id": row.pk, "name": "autumn", **colors}


def test_profiles_are_sorted_by_name_and_have_no_filters(owner: ApiClient, profile_names: list[str]) -> None:
    pages = [owner.get("/branding_profiles", limit="2", page=page).json()["data"] for page in ("1", "2")]
    assert [entry["name"] for page in pages for entry in page] == profile_names
    content = owner.get("/branding_profiles", order="desc", status="x", created_after="never").json()
    assert [entry["name"] for entry in content["data"]] == profile_names


START = datetime(2026, 3, 1, tzinfo=UTC)
moments = st.builds(
    lambda day, seconds: START + timedelta(days=day, seconds=seconds),
    st.integers(-1, 7),
    st.sampled_from([0, 1, 43_200, 86_398, 86_399]) | st.integers(0, 86_399),
)
some_bounds = (
    st.none() | moments | moments.map(lambda moment: moment.replace(hour=23, minute=59, second=59, microsecond=999999))
)
selections = st.builds(Selection, st.sampled_from(["", "ready", "pending"]), some_bounds, some_bounds, st.booleans())
some_pages = st.builds(Page, st.integers(1, 12), st.integers(1, 15))


@pytest.fixture
def scope(owner: ApiClient) -> TenantScope:
    """Return a scope with sixty documents within a week, none on its fourth day, among documents of others."""
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
@given(selection=selections, page=some_pages)
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
    """Days are those of UTC, whatever the time zone of the session."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL TIME ZONE 'Pacific/Auckland'")
    row = stored_document(owner, created_at=START + timedelta(hours=23), status="pending")
    stored_document(owner, created_at=START + timedelta(hours=24))
    assert tallied() == {"documents 2026-03-01 pending": 1, "documents 2026-03-02 ready": 1}
    Document.objects.filter(pk=row.pk).update(status="ready")
    Document.objects.filter(pk=row.pk).update(name="another")
    assert tallied() == {"documents 2026-03-01 ready": 1, "documents 2026-03-02 ready": 1}
    row.delete()
    assert tallied() == {"documents 2026-03-02 ready": 1}
    owner.create(payload(owner.document()))
    assert sum(tallied(resource="signature_requests", status="pending").values()) == 1
