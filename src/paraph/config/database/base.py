"""The database engine of the settings."""

import select
from typing import Any

from django.db.backends.postgresql import base

_TIMES = 3  # before a statement is prepared


class DatabaseWrapper(base.DatabaseWrapper):
    def prepared_cursor(self) -> Any:
        """A cursor whose statements PostgreSQL parses and plans once for the connection, after a few times: for those
        that are asked again and again. Values travel apart from them, so each is one statement."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        django: Any = base  # typed without its cursors
        wrapper: Any = self
        with self.wrap_database_errors:
            return wrapper._prepare_cursor(django.ServerBindingCursor(self.connection))

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "prepare_threshold": _TIMES}

    def is_usable(self) -> bool:
        """Whether a kept connection may serve the next request.

        A server that has gone, or has ended the connection, has said so: then there is something to read. While
        there is nothing, asking it (Django's own ``SELECT 1``) would tell no more and costs a third of a read.
        """
        kept: Any = self.connection
        if kept is None or kept.closed:
            return False
        waiting = select.poll()
        waiting.register(kept.fileno(), select.POLLIN)
        return not waiting.poll(0) or super().is_usable()
