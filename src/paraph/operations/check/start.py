"""What must hold before anything is served."""

import structlog
from django.conf import settings

from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Status
from paraph.operations.check.run import CHECKS, STARTING, run

_START_SECONDS = 10.0

_log = structlog.get_logger("paraph.check")


def require_start() -> None:
    """Really seals, stores and reads. Raises ``DomainError("check", …)`` with the sentence of the first part
    without which serving makes no sense; what else is wrong is logged, and what keeps PDFs confined.

    Timestamp authorities and gateways are others' machines: their outage must not keep this service down.
    """
    needed = {check.name for check in STARTING}
    if settings.PARAPH.confinement == "strict":
        needed.add("confinement")
    told = {check.name for check in CHECKS if check.told}
    for outcome in run([*STARTING, *(check for check in CHECKS if check.told)], _START_SECONDS):
        if outcome.status == Status.FAILED and outcome.name in needed:
            raise DomainError("check", outcome.sentence)
        if outcome.status != Status.OK:
            _log.warning("check", part=outcome.name, finding=outcome.sentence)
        elif outcome.name in told:
            _log.info("check", part=outcome.name, finding=outcome.sentence)
