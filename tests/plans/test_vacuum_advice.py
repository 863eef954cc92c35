"""The settings of tables that docs/operating.md advises are such as PostgreSQL takes, and belong to tables that are."""

import re
from pathlib import Path

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def test_postgresql_takes_the_advice() -> None:
    text = (Path(__file__).parents[2] / "docs/operating.md").read_text()
    statements = re.findall(r"^    (ALTER TABLE \w+ SET \(.*\);)$", text, re.MULTILINE)
    assert len(statements) == 6
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("SELECT count(*) FROM pg_class WHERE reloptions::text LIKE '%autovacuum%'")
        assert cursor.fetchone() == (6,)
