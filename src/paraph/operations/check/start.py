"""The checks that must pass before anything is served."""

import structlog
from django.conf import settings

from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Status
from paraph.operations.check.service_checks import CHECKS, STARTING, run_checks

_START_SECONDS = 60.0  # as a start has for everything else: a busy machine is no reason to refuse one

_log = structlog.get_logger("paraph.check")


def require_start() -> None:
    """Seals, stores and reads for a test. Raises ``DomainError("check", …)`` with the sentence of the first part that
    the service cannot do without; every other fault is logged, and so is the confinement of what reads PDFs.

    Timestamp authorities and gateways are not tried: an outage of theirs must not stop a start.
    """
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
