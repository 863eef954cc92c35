"""A look at the service as ``paraph check`` takes it, kept in this process so that no page waits for it."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from django.db import connections

from paraph.flow.sealing.certificate_statuses import last_authority_chain
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome
from paraph.operations.check.service_checks import run_checks
from paraph.operations.resources import certificate_ends

_FRESH, _OLD = timedelta(seconds=30), timedelta(minutes=5)
_PATIENCE_SECONDS = 2.0
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Look:
    """``ends``: when certificates end, by environment or ``timestamp``."""

    at: datetime = _NEVER
    outcomes: list[Outcome] = field(default_factory=list)
    ends: dict[str, datetime] = field(default_factory=dict)


class LatestLook:
    """The latest look, which is renewed beside the pages that show it."""

    def __init__(self) -> None:
        self._look = Look()
        self._renewal = threading.Thread()
        self._lock = threading.Lock()

    def look(self) -> Look:
        """Return the latest look; one that is older than half a minute is being renewed. Only who would get one older
        than five minutes, or none, waits for the new one, for two seconds at most."""
        age = clock.now() - self._look.at
        with self._lock:
            if age > _FRESH and not self._renewal.is_alive():
                self._renewal = threading.Thread(target=self._renew, name="operators look", daemon=True)
                self._renewal.start()
        if age > _OLD:
            self._renewal.join(_PATIENCE_SECONDS)
        return self._look

    def _renew(self) -> None:
        outcomes = run_checks()
        ends = {name: datetime.fromtimestamp(moment, UTC) for name, moment in certificate_ends().items()}
        if chain := last_authority_chain():
            ends["timestamp"] = x509.load_der_x509_certificate(chain[0]).not_valid_after_utc
        connections.close_all()
        self._look = Look(clock.now(), outcomes, ends)


LATEST = LatestLook()
