"""Whether a standby that takes over has everything that was acknowledged."""

from collections.abc import Iterator

from django.db import connection

from paraph.operations.check.outcome import Outcome, failed, ok, warning

_ASKED = """
    SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names'), current_setting('synchronous_commit'),
        (SELECT count(*) FROM pg_stat_replication
         WHERE coalesce(state, '') <> 'backup' AND coalesce(application_name, '') <> 'pg_receivewal')
"""
_RELAXED = ("off", "local")  # a commit does not wait for a standby


def replication() -> Iterator[Outcome]:
    """``replication``: whether a commit waits for a standby, where there is one."""
    with connection.cursor() as cursor:
        cursor.execute(_ASKED)
        is_standby, synchronous, commit, standbys = cursor.fetchone()
    if is_standby:
        yield failed(
            "replication",
            "DATABASE_URL leads to a standby, which takes no writes: name all servers there, and "
            "target_session_attrs=read-write.",
        )
    elif commit == "off":
        yield warning(
            "replication", "synchronous_commit is off: a crash of the database loses what was acknowledged last."
        )
    elif not standbys and not synchronous:
        yield ok("replication", "No standby follows the database.")
    elif not synchronous or commit in _RELAXED:
        cause = "synchronous_standby_names is empty" if not synchronous else f"synchronous_commit is {commit}"
        yield warning(
            "replication",
            f"No commit waits for a standby ({cause}): when it takes over, signatures that were acknowledged are lost. "
            "docs/operating.md, High availability.",
        )
    elif not standbys:
        yield warning("replication", "No standby follows the database, and commits wait for one.")
    else:
        yield ok("replication", f"Commits wait for a standby ({synchronous}); {standbys} follow.")
