"""The database engine of the settings."""

import select
from typing import Any

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
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
