"""A file as it was at a time in the past."""

from collections.abc import Sequence
from datetime import datetime

from paraph.pdf.verification.changes import History
from paraph.pdf.verification.signature_check import SignatureCheck
from paraph.pdf.verification.signed_file import SignedFile


def end_at(file: SignedFile, checks: Sequence[SignatureCheck], moment: datetime) -> int:
    """Return up to which byte the file was there at a moment; 0 where it had no signature yet.

    A revision was not there yet where a trusted signature or timestamp in it says that it was made later. What was
    appended before, and covered only by that, is left out as well where it may follow a signature. Where it may not,
    nobody knows since when it stands there: all of the file counts, and the alteration with it.
    """
    later = next((place for place, check in enumerate(checks) if _is_later(check, moment)), None)
    if later is None:
        return len(file.pdf)
    end = max((check.field.end for check in checks[:later] if not check.field.fault), default=0)
    if end == 0:
        return 0
    _, refusal = History(file, [check.field for check in checks if check.is_accepted]).after(end)
    if refusal is not None and file.end_of_revision(refusal.start) < checks[later].field.end:
        return len(file.pdf)
    return end


def _is_later(check: SignatureCheck, moment: datetime) -> bool:
    stamp = check.timestamp
    made = stamp.time if stamp and stamp.trusted else check.claimed_at
    return check.is_accepted and made is not None and made > moment
