"""Values in the columns of the database, also those that a library has packed."""

import base64
import re
import zlib
from collections.abc import Iterator

from django.db import connection

MESSAGES = "messaging_capturedmessage"
"""The table of messages that were captured in place of sending, for members to read."""


def columns() -> Iterator[tuple[str, str, str]]:
    """Table, column and value of every column of every row, also of tables without a model."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT table_name, column_name FROM information_schema.columns
            JOIN information_schema.tables USING (table_schema, table_name)
            WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
        """)
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT "{column}"::text FROM "{table}" WHERE "{column}" IS NOT NULL')
            yield from ((table, column, value) for (value,) in cursor.fetchall())


def readings(value: str) -> Iterator[str]:
    """Each way to read a value that a library may have packed: bytes as text, base64 in parts, compressed."""
    yield value
    for part in {value, *re.split(r"[:.$\s\"]", value)}:
        raw = bytes.fromhex(part[2:]) if re.fullmatch(r"\\x([0-9a-f]{2})+", part) else _unbased(part)
        for read in (raw, _inflated(raw)):
            yield read.decode("latin-1")
            yield read.hex()


def _unbased(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4))
    except ValueError:
        return b""


def _inflated(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error:
        return b""


def found_in(secrets: dict[str, list[str]]) -> set[str]:
    """Return ``name: table.column`` for each column that holds a text of that name, but for captured messages. Digits
    alone must stand by themselves: a few of them come about by chance in hexadecimal and in fractions of a second."""
    patterns = {
        name: re.compile(
            "|".join(rf"(?<![0-9a-f.]){text}(?![0-9a-f])" if text.isdigit() else re.escape(text) for text in texts)
        )
        for name, texts in secrets.items()
    }
    return {
        f"{name}: {table}.{column}"
        for table, column, value in columns()
        if table != MESSAGES
        for reading in readings(value)
        for name, pattern in patterns.items()
        if pattern.search(reading)
    }
