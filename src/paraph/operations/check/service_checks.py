"""All checks, run side by side so that none delays the others; the checks that a start needs; and the answers to load
balancers and Prometheus, from outcomes that stay valid for a while, so that frequent requests cost nothing."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from paraph.database.connections import is_given_back
from paraph.database.outage import refusal_sentence
from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError, name_tenant
from paraph.operations.check.backlog import backup, kept_timestamps, queue, retention, unsealed, webhooks
from paraph.operations.check.database import connections as database_connections
from paraph.operations.check.database import database, replication, tls
from paraph.operations.check.machine import (
    confinement,
    disks,
    fonts,
    free_space,
    other_renderer,
    secret_key,
    sessions,
    typesetting,
)
from paraph.operations.check.outcome import Outcome, Status, failed, warning
from paraph.operations.check.sealing import sandbox_sealing, sealing, timestamps, transparency_log
from paraph.operations.check.surroundings import mail_gateway, object_store, proxy, sms_gateway, storage_key

CHECK_SECONDS = 20.0

_log = structlog.get_logger("paraph.check")
LINES_WITHIN = {"clock": ("database", "timestamp"), "queue": ("workers",)}
"""Lines of the output that have another name than the checks that report them."""
_START_SECONDS = 60.0  # as for everything else at a start: a busy machine is no reason to refuse a start


@dataclass(frozen=True)
class ServiceCheck:
    """``name``: for outcomes without a name of their own, and for the failed outcome of a check that raises or is late.
    ``valid_seconds``: how long ``/metrics`` relies on an outcome; 0: it does not run the check. ``serving``: this
    process cannot answer while the outcome of this name is ``failed``, which concerns the process itself or, of what
    processes share, only the database. ``starting``: nothing starts while the outcome is ``failed``. ``logged``: each
    start runs the check and logs its outcome, even ``ok``. ``asks``: the check only asks the database; these checks run
    one after the other, so that all checks together take two sessions of the database and not ten."""

    name: str
    perform: Callable[[], Outcome | Iterable[Outcome]]
    valid_seconds: float
    serving: bool = False
    starting: bool = False
    logged: bool = False
    asks: bool = False

    def outcomes(self) -> list[Outcome]:
        told = self.perform()
        return [replace(each, name=each.name or self.name) for each in ([told] if isinstance(told, Outcome) else told)]


CHECKS = (
    ServiceCheck("database", database, 3, serving=True),
    ServiceCheck("sessions", sessions, 0, starting=True),
    ServiceCheck("connections", database_connections, 0),
    ServiceCheck("database tls", tls, 300, asks=True),
    ServiceCheck("replication", replication, 60, asks=True),
    ServiceCheck("secret key", secret_key, 0, starting=True, asks=True),
    ServiceCheck("storage", object_store, 30, starting=True),
    ServiceCheck("storage key", storage_key, 0, starting=True, asks=True),
    ServiceCheck("space", free_space, 30),
    ServiceCheck("disk", disks, 30),
    ServiceCheck("sealing", sealing, 300, starting=True),
    ServiceCheck("sandbox sealing", sandbox_sealing, 300, starting=True),
    ServiceCheck("confinement", confinement, 300, logged=True),
    ServiceCheck("second renderer", other_renderer, 300, logged=True),
    ServiceCheck("typesetting", typesetting, 30, serving=True),
    ServiceCheck("fonts", fonts, 300, logged=True),
    ServiceCheck("timestamp", timestamps, 300),
    ServiceCheck("mail", mail_gateway, 60),
    ServiceCheck("sms", sms_gateway, 300),
    ServiceCheck("workers", queue, 5, asks=True),
    ServiceCheck("webhooks", webhooks, 5, asks=True),
    ServiceCheck("sealing failures", unsealed, 15, asks=True),
    ServiceCheck("kept timestamps", kept_timestamps, 60, asks=True),
    ServiceCheck("transparency log", transparency_log, 60, starting=True),
    ServiceCheck("retention", retention, 60, asks=True),
    ServiceCheck("backup", backup, 60, asks=True),
    ServiceCheck("proxy", proxy, 0),
)

SERVING = tuple(check for check in CHECKS if check.serving)
STARTING = tuple(check for check in CHECKS if check.serving or check.starting)
"""An unusable key or store prevents a start, but later it must not stop requests that need neither."""


def checks_of(line: str) -> list[ServiceCheck]:
    """Return the checks that report a line: the name of a check, for all its lines, or one of them, such as ``queue``,
    ``clock`` or ``timestamp https://tsa.example.com``. The list is empty if there is no such line."""
    telling = {**{check.name: (check.name,) for check in CHECKS}, **LINES_WITHIN}
    named = line if line in telling else max((name for name in telling if _is_of(line, name)), key=len, default="")
    return [check for check in CHECKS if check.name in telling.get(named, ())]


_sessions: list[BaseDatabaseWrapper] = []
"""Sessions of earlier runs: at most one of the check of the database, and one of the checks that ask it in turn."""


def run_lines(lines: Sequence[str], seconds: float = CHECK_SECONDS) -> list[Outcome]:
    """Return the outcomes of these lines alone or, in their place, that of a check that failed as a whole. Raise
    ``DomainError("configuration", …)`` for a line that does not exist."""
    wanted = {line: [check.name for check in checks_of(line)] for line in lines}
    checks = [check for check in CHECKS if any(check.name in names for names in wanted.values())]
    found = outcomes_by_check(checks, seconds)
    chosen = [
        outcome
        for name, outcomes in found.items()
        for outcome in outcomes
        if any(name in wanted[line] and (line == name or _is_of(outcome.name, line)) for line in lines)
    ]
    for line, names in wanted.items():
        if not any(name == line or _is_of(outcome.name, line) for name in names for outcome in found[name]):
            known = [check.name for check in CHECKS] + [*LINES_WITHIN]
            raise DomainError("configuration", f"There is no line {line}, only {', '.join(known)}.")
    return chosen


def _is_of(name: str, line: str) -> bool:
    return name == line or name.startswith(f"{line} ")


def run_checks(checks: Sequence[ServiceCheck] = CHECKS, seconds: float = CHECK_SECONDS) -> list[Outcome]:
    """Return the outcomes in the order of the checks. A check that raises, or does not end in time, has failed."""
    return [outcome for outcomes in outcomes_by_check(checks, seconds).values() for outcome in outcomes]


def outcomes_by_check(checks: Sequence[ServiceCheck], seconds: float) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    asking = [check for check in checks if check.asks]
    side_by_side = [[check] for check in checks if not check.asks] + ([asking] if asking else [])
    threads = [
        threading.Thread(target=_perform_all, args=(some, found), name=f"check {some[0].name}", daemon=True)
        for some in side_by_side
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    for name in (check.name for check in checks if not found.get(check.name)):
        found[name] = [replace(failed(f"The check of “{name}” did not end within {seconds:.0f} s.", name), late=True)]
    return {check.name: found[check.name] for check in checks}


def _perform_all(checks: Sequence[ServiceCheck], found: dict[str, list[Outcome]]) -> None:
    name_tenant("checks")  # in a web process, each of these threads takes places as a tenant's do
    with suppress(IndexError):
        connections[DEFAULT_DB_ALIAS] = _sessions.pop()
    try:
        for check in checks:
            _perform(check, found)
    finally:
        _keep_session()


def _keep_session() -> None:
    """Keep the session of this thread for the next run of checks, if idle sessions are given back after a while."""
    close_old_connections()
    mine = connections[DEFAULT_DB_ALIAS]
    if mine.connection is None or len(_sessions) > 1 or not is_given_back.is_set():
        connections.close_all()
    else:
        mine.inc_thread_sharing()
        _sessions.append(mine)


def _perform(check: ServiceCheck, found: dict[str, list[Outcome]]) -> None:
    try:
        found[check.name] = check.outcomes()
    except NoPlaceError:  # this process is busy with other work
        found[check.name] = [warning("It was not tried: all places for expensive work are taken.", check.name)]
    except Exception as error:  # noqa: BLE001  a broken check is a finding
        sentence = refusal_sentence(error)
        if not sentence:
            _log.exception("a check broke", check=check.name)
            sentence = f"It could not be checked: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        found[check.name] = [failed(sentence, check.name)]


def require_start() -> None:
    """Seal, store and read as a test. Raise ``DomainError("check", …)`` with the sentence of the first failed part that
    the service cannot do without; log every other fault, and the confinement of the processes that read PDFs. Timestamp
    authorities and gateways are not tried: their outages must not prevent a start."""
    needed = {check.name for check in STARTING}
    if settings.PARAPH.confinement == "strict":
        needed.add("confinement")
    logged = {check.name for check in CHECKS if check.logged}
    for outcome in run_checks([*STARTING, *(check for check in CHECKS if check.logged)], _START_SECONDS):
        if outcome.status == Status.FAILED and outcome.name in needed:
            raise DomainError("check", outcome.sentence)
        if outcome.status != Status.OK:
            _log.warning("check", part=outcome.name, finding=outcome.sentence)
        elif outcome.name in logged:
            _log.info("check", part=outcome.name, finding=outcome.sentence)


_WAIT_SECONDS = 4.0
_LATE_SECONDS = 10.0  # so that a load balancer does not avoid a machine for minutes because it was busy at its start


class KeptOutcomes:
    """The latest outcomes of these checks, in this process."""

    def __init__(self, checks: Callable[[], Sequence[ServiceCheck]]) -> None:
        self._checks = checks
        self._outcomes: dict[str, list[Outcome]] = {}
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def statuses(self) -> dict[str, Status]:
        """Return the status of each outcome by its name, after renewing outdated outcomes; while another caller renews
        them, return the earlier ones."""
        if self._lock.acquire(blocking=not self._outcomes):
            try:
                self._renew()
            finally:
                self._lock.release()
        return {outcome.name: outcome.status for found in self._outcomes.values() for outcome in found}

    def _renew(self) -> None:
        now = time.monotonic()
        stale = [check for check in self._checks() if check.valid_seconds and self._until.get(check.name, 0.0) <= now]
        self._outcomes = self._outcomes | outcomes_by_check(stale, _WAIT_SECONDS)
        self._until.update({check.name: now + self._valid_seconds(check) for check in stale})

    def _valid_seconds(self, check: ServiceCheck) -> float:
        late = any(outcome.late for outcome in self._outcomes[check.name])
        return min(check.valid_seconds, _LATE_SECONDS) if late else check.valid_seconds


READINESS = KeptOutcomes(lambda: SERVING)
FIGURES = KeptOutcomes(lambda: CHECKS)
