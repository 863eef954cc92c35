"""Work that goes on after sealing: timestamps kept beside sealed files that could not get one, or whose newest one
ages; and the transparency log, where proofs are appended and checkpoints published, one an hour with a timestamp."""

import time
from dataclasses import replace

import structlog

from paraph.evidence import sealed_files
from paraph.evidence.sealed_files import SealedFile
from paraph.flow.sealing.context import SealingContext, sealing_context
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, imprint
from paraph.pdf.timestamps.timestamp import Timestamp, stamp_time
from paraph.queue.jobs import RUN_SECONDS
from paraph.storage import store
from paraph.transparency import log

_log = structlog.get_logger("paraph.preserve")


def preserve_due() -> int:
    """Get timestamps for sealed files that are due, documents and proofs in turns, those due longest first, for at most
    5 s; return how many got one. The file itself never changes, because the journal holds its digest. Safe to repeat,
    to be killed, and to run several times at once, each with files of its own. End where no authority answers, as
    further files would wait in vain too. Raise ``DomainError`` where the settings cannot be used."""
    context, kept, end = sealing_context(), 0, time.monotonic() + RUN_SECONDS
    if context.long_term:
        checked = replace(context.timestamping, check_not_revoked=context.long_term.check_not_revoked)
        context = replace(context, timestamping=checked)
    while time.monotonic() < end:
        done = [_preserve_first(kind, context) for kind in sealed_files.KINDS]
        kept += done.count(True)
        if done == [None] * len(done):
            break
    return kept


def _preserve_first(kind: type[SealedFile], context: SealingContext) -> bool | None:
    """Return whether the file that has been due longest got a timestamp. A file that is missing or was changed in
    storage is logged, and tried again later. Return None where no file is due, or no authority answers."""
    with sealed_files.claimed(kind) as file:
        if file is None:
            return None
        content = _content(file)
        if content is None:
            sealed_files.postpone(file)
            return False
        earlier = sealed_files.records_of(file.object_key)
        stamp, failures = stamp_time(imprint(content, earlier), context.timestamping)
        if stamp is None:
            sealed_files.postpone(file)
            _log.warning("no timestamp", failures=failures)
            return None
        record = DetachedTimestamp(stamp.token, stamp.issuers + _statuses(context, file, stamp))
        sealed_files.keep(file, earlier, record, stamp)
        return True


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
        return context.long_term.collect(*sealed_files.key_chain(file), stamp.chain).data
    except Revoked:
        return LongTermData()


_transparency_log = structlog.get_logger("paraph.transparency")


def keep_log() -> None:
    """Append what is not in the log yet, and get a timestamp over the newest checkpoint where one is due. Safe to
    repeat, to be killed, and to run several times at once. A fault is logged and waits for the next run; ``paraph
    check`` tells of it."""
    try:
        log.log_proofs()
        if row := log.unstamped():
            stamp, failures = stamp_time(tokens.sha256(log.without_witnesses(row)), sealing_context().timestamping)
            if stamp:
                row.token = stamp.token
                row.save(update_fields=["token"])
            elif failures:
                _transparency_log.warning("no timestamp", failures=failures)
    except (DomainError, OSError) as error:
        _transparency_log.error("the transparency log does not grow", cause=str(error))
