"""The line that a request leaves in the log."""

import json
import logging
import time
from datetime import UTC, datetime

LOGGER = "paraph.request"
FACTS = ("request_id", "method", "route", "status", "milliseconds")

_JSON = json.JSONEncoder()
_PLAIN = vars(logging.LogRecord(LOGGER, logging.INFO, "", 0, "request", (), None))


class RequestLine(logging.LogRecord):
    """A record with the FACTS of a request. There is one for every request, and finding out what it does not tell (the
    line of source, the thread, the process) takes longer than the rest of it."""

    request_id: str
    method: str | None
    route: str | None
    status: int
    milliseconds: float

    def __init__(
        self, level: int, *, request_id: str, method: str | None, route: str | None, status: int, seconds: float
    ) -> None:
        vars(self).update(_PLAIN)
        self.levelno, self.levelname, self.created = level, logging.getLevelName(level), time.time()
        self.request_id, self.method, self.route, self.status = request_id, method, route, status
        self.milliseconds = round(seconds * 1000, 1)

    def json(self) -> str:
        """The line as structlog's processors would write it."""
        moment = datetime.fromtimestamp(self.created, UTC).isoformat(timespec="microseconds")[:-6]
        return (
            f'{{"event": "request", "logger": "{LOGGER}", "level": "{self.levelname.lower()}", '
            f'"timestamp": "{moment}Z", "request_id": "{self.request_id}", "method": {_JSON.encode(self.method)}, '
            f'"route": {_JSON.encode(self.route)}, "status": {self.status}, "milliseconds": {self.milliseconds}}}'
        )
