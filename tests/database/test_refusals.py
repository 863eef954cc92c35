"""A statement whose server is gone is an outage, whoever notices it: errors of libpq have no code of the server's."""

import os
import socket
from typing import Any

import django.db
import pytest
from django.db import connection


def cut(made: Any) -> None:
    """Let nothing more come from the server, as when it was killed."""
    with socket.socket(fileno=os.dup(made.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RD)


@pytest.mark.django_db(transaction=True)
def test_what_the_server_refuses_stays_what_it_is() -> None:
    own: Any = connection
    with pytest.raises(django.db.ProgrammingError, match="nowhere"):
        own.planned("SELECT FROM nowhere", [])


@pytest.mark.django_db(transaction=True)
def test_a_statement_of_one_row() -> None:
    own: Any = connection
    own.ensure_connection()
    cut(own.connection)
    with pytest.raises(django.db.OperationalError):
        own.planned("SELECT 1", [])
    own.close()
