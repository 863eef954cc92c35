"""A kept connection is checked without asking the server, and one that has ended is noticed."""

from typing import Any

import psycopg
import pytest
from django.db import DataError, connection
from django.test.utils import CaptureQueriesContext

from paraph.rows.prepared import prepared_cursor


@pytest.mark.django_db(transaction=True)
def test_a_live_connection_costs_no_statement() -> None:
    connection.ensure_connection()
    with CaptureQueriesContext(connection) as queries:
        assert connection.is_usable()
    assert not queries.captured_queries


@pytest.mark.django_db(transaction=True)
def test_one_that_the_server_ended_is_replaced() -> None:
    connection.ensure_connection()
    made: Any = connection  # typed without its checks
    kept = made.connection
    with psycopg.connect(kept.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [kept.info.backend_pid])
    assert not connection.is_usable()
    made.health_check_enabled = True  # as at the start of a request
    made.health_check_done = False
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    assert made.connection is not kept


@pytest.mark.django_db(transaction=True)
def test_what_is_asked_again_and_again_is_planned_once() -> None:
    connection.close()
    for value in ("a", None, "b", "c", "d"):
        with prepared_cursor() as cursor:
            cursor.execute("SELECT %s::text AS asked_again", [value])
            assert cursor.fetchall() == [(value,)]
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s AS asked_otherwise", [value])
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        assert cursor.fetchall() == [("SELECT $1::text AS asked_again",)]


@pytest.mark.django_db(transaction=True)
def test_a_prepared_cursor_is_djangos_in_all_else() -> None:
    with CaptureQueriesContext(connection) as queries, pytest.raises(DataError), prepared_cursor() as cursor:
        cursor.execute("SELECT %s / 0", [1])
    assert len(queries) == 1
