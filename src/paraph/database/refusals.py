"""What a refused statement raises."""

from psycopg import Connection, Error, OperationalError, pq
from psycopg.errors import error_from_result


def refusal(result: "pq.abc.PGresult", connection: "Connection[tuple[object, ...]]") -> Error:
    """Return the server's error; ``OperationalError`` where it is libpq's own, which has lost the server, or where the
    connection is gone."""
    error = error_from_result(result)
    is_servers = error.sqlstate is not None
    return error if is_servers and not connection.closed else OperationalError(str(error))
