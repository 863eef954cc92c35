"""What every test has."""

from collections.abc import Iterable
from typing import Any

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db import connection

from paraph.web import outgoing_body


@pytest.fixture(autouse=True, scope="session")
def _flush_may_empty_the_journal() -> None:
    """Transactional tests empty all tables afterwards, the queue's too; the journal's trigger steps aside for
    that alone."""
    original = type(connection.ops).execute_sql_flush

    def execute_sql_flush(self: Any, sql_list: Iterable[str]) -> None:
        original(
            self,
            [
                "SET session_replication_role = replica",
                *sql_list,
                "TRUNCATE procrastinate_jobs CASCADE",
                "RESET session_replication_role",
            ],
        )

    type(connection.ops).execute_sql_flush = execute_sql_flush  # type: ignore[method-assign]


@pytest.fixture(autouse=True, scope="session")
def _live_servers_answer_for_static_files_as_production_does() -> None:
    """Django's server for tests would answer in place of the view, and knows no hashed names. It leaves alone what is
    said to be at another host."""
    handler: Any = StaticFilesHandler
    handler.get_base_url = lambda _self: "//elsewhere/"


@pytest.fixture(autouse=True)
def _no_download_is_under_way() -> None:
    """A test may leave a streamed response unread; its place is not missing in the next."""
    outgoing_body.places.cache_clear()
