"""The transparency log: whether it can grow, whether proofs wait for it, and whether its witnesses cosign."""

from datetime import timedelta

from django.conf import settings

from paraph.evidence.models import ProofFile
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.transparency import log
from paraph.transparency.notes import read_note
from paraph.transparency.witnesses import missing, own_key, witness_settings

_LATE = timedelta(minutes=10)


def transparency_log() -> Outcome:
    """``transparency log``: a start is refused where the tables contradict what was published."""
    try:
        if settings.PARAPH.log_key:  # a check makes no key
            own_key()
        log.require_extends_store()
        witnesses = len(witness_settings()[0])
    except DomainError as refusal:
        return failed(refusal.message)
    newest = log.published()
    absent = missing(read_note(newest.note)) if newest else []
    waiting = ProofFile.objects.filter(log_index=None).order_by("pk").values_list("created_at", flat=True).first()
    if waiting and clock.now() - waiting > _LATE:
        since = f"Proofs have waited to be in the log since {clock.iso(waiting)}"
        return warning(f"{since}. The log of the workers says why.")
    if absent:
        names = ", ".join(key.name for key in absent)
        return warning(f"The newest checkpoint is not cosigned by {names}. The log of the workers says why.")
    return ok(f"Entries: {newest.size if newest else 0}. Witnesses: {witnesses}.")
