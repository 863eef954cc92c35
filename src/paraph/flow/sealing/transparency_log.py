"""The transparency log, kept up to date: proofs appended, checkpoints published, one an hour with a timestamp."""

import structlog

from paraph.flow.sealing.context import sealing_context
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.timestamps.timestamp import stamp_time
from paraph.transparency import log

_log = structlog.get_logger("paraph.transparency")


def keep_log() -> None:
    """Append what is not in the log yet, and get a timestamp over the newest checkpoint where one is due.

    Safe to repeat, to be killed, and to run several times at once. A fault is logged and waits for the next run;
    ``paraph check`` tells of it.
    """
    try:
        log.log_proofs()
        if row := log.unstamped():
            stamp, failures = stamp_time(tokens.sha256(log.without_witnesses(row)), sealing_context().timestamping)
            if stamp:
                row.token = stamp.token
                row.save(update_fields=["token"])
            elif failures:
                _log.warning("no timestamp", failures=failures)
    except (DomainError, OSError) as error:
        _log.error("the transparency log does not grow", cause=str(error))
