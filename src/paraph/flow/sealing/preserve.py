"""Keeping timestamps beside sealed files that could not get one at their seal, or whose newest one ages."""

from dataclasses import replace

import structlog

from paraph.evidence import preservation
from paraph.evidence.preservation import SealedFile
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.kernel import tokens
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, imprint
from paraph.pdf.timestamps.timestamp import Timestamp, stamp_time
from paraph.storage import store

_log = structlog.get_logger("paraph.preserve")


def preserve_due() -> int:
    """Get a timestamp for every sealed file that is due; return how many got one.

    The file itself never changes, because the journal holds its digest. Safe to repeat and to run twice at once. Ends
    at the first file for which no authority answers, as the others would wait in vain too. Logs a file that is missing
    or was changed in storage, and tries it again later. Raises ``DomainError`` where the settings cannot be used.
    """
    context, count = sealing_context(), 0
    timestamping = context.timestamping
    if context.long_term:
        timestamping = replace(timestamping, check_not_revoked=context.long_term.check_not_revoked)
    for file in preservation.due():
        content = _content(file)
        if content is None:
            preservation.postpone(file)
            continue
        earlier = preservation.records_of(file.object_key)
        stamp, failures = stamp_time(imprint(content, earlier), timestamping)
        if stamp is None:
            preservation.postpone(file)
            _log.warning("no timestamp", failures=failures)
            break
        record = DetachedTimestamp(stamp.token, stamp.issuers + _statuses(context, file, stamp))
        count += preservation.keep(file, earlier, record, stamp)
    return count


def _content(file: SealedFile) -> bytes | None:
    try:
        content = store.get(file.object_key)
    except OSError as error:
        _log.error("a sealed file cannot be read", object_key=file.object_key, error=str(error))
        return None
    if tokens.sha256(content) != bytes(file.sha256):
        _log.error("a sealed file was changed in storage", object_key=file.object_key)
        return None
    return content


def _statuses(context: SealingContext, file: SealedFile, stamp: Timestamp) -> LongTermData:
    """Return the statuses of the certificates of the sealing key and the authority, as far as they are known now."""
    if context.long_term is None:
        return LongTermData()
    try:
        return context.long_term.collect(*preservation.key_chain(file), stamp.chain).data
    except Revoked:
        return LongTermData()
