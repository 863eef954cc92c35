"""Logs: one line per event on stderr, JSON unless stderr is a terminal. No line ever holds a key, token or code:
requests are named by their route, jobs by task and number."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import structlog

LOGGER = "paraph.request"
CALLER = ("organization_id", "environment")
FACTS = ("request_id", "method", "route", "status", "milliseconds", "client", *CALLER)

_JSON = json.JSONEncoder()
_PLAIN = vars(logging.LogRecord(LOGGER, logging.INFO, "", 0, "request", (), None))


class RequestLine(logging.LogRecord):
    """A record with the FACTS of a request. There is one for every request, and to find out what it leaves out (the
    line of source, the thread, the process) would take longer than all the rest. ``client``: the address of the caller;
    ``organization_id`` and ``environment``: on whose behalf it was answered, None for nobody's."""

    def __init__(self, level: int, **facts: Any) -> None:
        vars(self).update(_PLAIN, **facts)
        self.levelno, self.levelname, self.created = level, logging.getLevelName(level), time.time()

    def json(self) -> str:
        """Return the line as structlog's processors would write it."""
        moment = datetime.fromtimestamp(self.created, UTC).isoformat(timespec="microseconds")[:-6]
        head = {"event": "request", "logger": LOGGER, "level": self.levelname.lower(), "timestamp": f"{moment}Z"}
        return _JSON.encode(head | {name: vars(self)[name] for name in FACTS})


_STDERR = 2
_VALUE = r"[\w%.~+/=-]{8,}"
_SECRETS = [  # each begins with a fixed character, which is found fast: every line is searched
    re.compile(rf"(/(?:sign|confirm)/){_VALUE}"),
    re.compile(rf"(=)(?:(?<=signature=)|(?<=credential=)|(?<=token=)|(?<=sig=)){_VALUE}", re.IGNORECASE),
    re.compile(r"()\b[0-9a-f]{64}\b"),
]


def logging_settings(level: str) -> dict[str, Any]:
    """Return the ``LOGGING`` setting, and configure structlog to write through it."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # No line shows these, and each would cost a lookup per line (the logging documentation, "Optimization").
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  the documented way
    if not structlog.is_configured():  # loggers keep the configuration that they first wrote with
        structlog.configure(
            processors=[
                *shared,
                structlog.stdlib.PositionalArgumentsFormatter(),
                structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
            ],
            logger_factory=structlog.stdlib.LoggerFactory(),
            wrapper_class=structlog.stdlib.BoundLogger,
            cache_logger_on_first_use=True,
        )
    renderer: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    if sys.stderr.isatty():
        renderer = [structlog.dev.ConsoleRenderer()]
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter if sys.stderr.isatty() else _Formatter,
        "foreign_pre_chain": [*shared, structlog.stdlib.ExtraAdder(allow=FACTS), _name_jobs],
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer, _cover],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"()": _Lines, "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django.request": {"level": "CRITICAL"},  # it names paths, which hold tokens: RequestLog writes these lines
            "procrastinate": {"level": "INFO" if level == "DEBUG" else "WARNING"},
            "psycopg.pool": {"level": "ERROR"},  # it warns of each attempt to connect while the database is away
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},  # it names headers, and the signature of a webhook is one
            "apprise": {"level": "WARNING"},  # below that it names what it sends: codes
            "twilio": {"level": "WARNING"},
            "urllib3": {"level": "WARNING"},
            "pikepdf": {"level": "WARNING"},
            "_granian": {"level": "ERROR"},
        },
    }


class _Lines(logging.Handler):
    """Write each line to stderr by one system call, which keeps it whole."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Take no lock: with logging's own, the server's threads would wait for each other at every request."""
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        try:
            rest = f"{self.format(record)}\n".encode(errors="backslashreplace")
            while rest:
                rest = rest[os.write(_STDERR, rest) :]
        except Exception:  # noqa: BLE001  as in every handler: what cannot be logged breaks nothing
            self.handleError(record)


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Write the lines of requests, which are the most frequent, without the processors: these lines hold no exception
    and no text of others."""

    def format(self, record: logging.LogRecord) -> str:
        return record.json() if isinstance(record, RequestLine) else super().format(record)


def _cover(_logger: Any, _method: str, line: str) -> str:
    """Hide secrets in texts of others: a mail server that refuses a message quotes the link in it."""
    for secret in _SECRETS:
        line = secret.sub(r"\1…", line)
    return line


def _name_jobs(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace the message of Procrastinate, which holds a job's arguments, by the task and the number of the job."""
    record = event.get("_record")
    job = getattr(record, "job", None)
    if isinstance(job, dict):
        event["event"] = getattr(record, "action", "job")
        event["job"] = {"id": job.get("id"), "task": job.get("task_name"), "attempts": job.get("attempts")}
    return event
