"""GET /documents (rules 4.1, 4.3): pages and filters, which the list of requests shares."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.v1.api_clients import ApiClient, api_client, error, stored_document


def ids(response: Any) -> list[int]:
    assert response.status_code == 200, response.content
    return [entry["id"] for entry in response.json()["data"]]


@pytest.fixture
def three(owner: ApiClient) -> list[int]:
    """Documents of three days in March, the second pending."""
    moments = [(1, 0, 0, 0), (2, 12, 30, 15), (3, 23, 59, 59)]
    return [
        stored_document(
            owner, created_at=datetime(2026, 3, *moment, tzinfo=UTC), status="pending" if moment[0] == 2 else "ready"
        ).pk
        for moment in moments
    ]


def test_entries_are_documents_without_download_url_and_preflight(owner: ApiClient) -> None:
    created = owner.upload().json()
    del created["preflight"]
    assert owner.get("/documents").json() == {
        "data": [created],
        "pagination": {"page": 1, "limit": 20, "count": 1, "pages": 1},
    }


def test_an_empty_list(owner: ApiClient) -> None:
    nothing = {"page": 1, "limit": 20, "count": 0, "pages": 0}
    assert owner.get("/documents").json() == {"data": [], "pagination": nothing}


def test_each_environment_lists_its_own(owner: ApiClient, three: list[int]) -> None:
    production = api_client("pro", "production", owner.organization)
    own = stored_document(owner, environment="production").pk
    assert ids(production.get("/documents")) == [own]
    assert ids(owner.get("/documents")) == three


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


def test_filters(owner: ApiClient, three: list[int]) -> None:
    for query, expected in FILTERS:
        response = owner.get("/documents", **query)
        assert (query, ids(response)) == (query, [three[place] for place in expected])
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
        message = error(owner.get("/documents", **{name: value}), 422, "validation_error")
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
        assert error(owner.get("/documents", **query), 422, "validation_error") == message


def test_all_unreadable_filters_are_named_at_once(owner: ApiClient) -> None:
    message = error(
        owner.get("/documents", status="x", created_after="y", created_before="z", order="w"), 422, "validation_error"
    )
    assert [name in message for name in ("status", "created_after", "created_before", "order")] == [True] * 4


def test_unknown_parameters_are_ignored(owner: ApiClient, three: list[int]) -> None:
    assert ids(owner.get("/documents", color="blue")) == three


def test_it_takes_three_queries(owner: ApiClient, three: list[int]) -> None:
    with CaptureQueriesContext(connection) as queries:
        owner.get("/documents")
    assert len(queries) == 3  # the caller, the count, the page
