"""The cursor of statements that are asked again and again (``paraph.config.database``)."""

from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """PostgreSQL parses and plans its statements once for this connection. One statement at a time."""
    own: Any = connection  # of our engine, which has this
    cursor: CursorWrapper = own.prepared_cursor()
    return cursor
