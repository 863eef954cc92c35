"""What rows cost on disk: bytes a request of each table, its TOAST and its indexes, and of each column."""

from typing import Any

KEPT_DAYS = {
    "messaging_capturedmessage": 90,
    "webhooks_attempt": 90,
    "webhooks_delivery": 90,
    "webhooks_event": 30,
    "idempotency_idempotencykey": 1,
    "procrastinate_jobs": 1,
    "procrastinate_events": 1,
    "otp_onetimecode": 1,  # of nearly all: a code stays where wrong ones were entered, or nobody signed
}
"""Tables whose rows go by themselves, and after how many days; the rows of others stay for ever."""
_TABLES = """
    SELECT relname, pg_relation_size(oid), coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0),
        pg_indexes_size(oid), pg_total_relation_size(oid)
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
_COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
_LEAST = 10  # bytes a request, below which a table is not told


Sizes = dict[str, tuple[int, ...]]
"""Of each table: rows, TOAST, indexes and all of it, in bytes."""


def print_sizes(cursor: Any, requests: int, before: Sizes) -> Sizes:
    """Print what each of the requests takes that came since the sizes were ``before``. Return what they are now."""
    print(f"\n{'bytes a request':44}{'rows':>8}{'TOAST':>8}{'indexes':>9}{'all':>8}  kept")
    for_ever = for_days = 0.0
    now = sizes(cursor)
    for table in sorted(now, key=lambda table: before[table][-1] - now[table][-1]):
        each = [(late - early) / requests for late, early in zip(now[table], before[table], strict=True)]
        days = KEPT_DAYS.get(table)
        for_ever, for_days = (for_ever + each[-1], for_days) if days is None else (for_ever, for_days + each[-1])
        if each[-1] >= _LEAST:
            parts = "".join(f"{size:{width}.0f}" for size, width in zip(each, (8, 8, 9, 8), strict=True))
            print(f"{table:44}{parts}  {f'{days} days' if days else 'for ever'}")
            print(f"    {_columns(cursor, table)}")
    print(f"\n{for_ever:,.0f} bytes a request for ever, and {for_days:,.0f} for days", flush=True)
    return now


def sizes(cursor: Any) -> Sizes:
    cursor.execute("VACUUM ANALYZE")
    cursor.execute(_TABLES)
    return {table: tuple(parts) for table, *parts in cursor.fetchall()}


def _columns(cursor: Any, table: str) -> str:
    """The largest columns of a row, as they are stored."""
    cursor.execute(_COLUMNS, [table])
    names = [name for (name,) in cursor.fetchall()]
    cursor.execute(
        f"SELECT {', '.join(f'sum(pg_column_size({name!r}))' for name in names)}, count(*) FROM {table}".replace(
            "'", '"'
        )
    )
    *found, rows = cursor.fetchone()
    largest = sorted(((size or 0, name) for size, name in zip(found, names, strict=True)), reverse=True)[:7]
    return f"{rows:,} rows; {', '.join(f'{name} {size / max(rows, 1):.0f}' for size, name in largest)}"
