"""Encrypting stored files after ``PARAPH_STORAGE_KEY`` was set or changed, while the service works."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraph.documents import objects_to_delete
from paraph.evidence.named_objects import NamedObject, is_still_named
from paraph.kernel import clock
from paraph.operations.store_check import Progress, through_tables
from paraph.storage import store
from paraph.transparency import log

_AT_ONCE = 20
_PICTURES, _LOG = "pages/", "transparency/"


@dataclass
class _Encrypted(Progress):
    """``encrypted`` counts the objects that were encrypted, or whose key was."""

    encrypted: int = 0


def encrypt_store(progress_file: Path, seconds: float = float("inf")) -> dict[str, Any]:
    """Encrypt every object that a row names, and the transparency log, with the storage key, unless it is; delete
    pictures and texts of pages that are not, which are made again.

    Of an object that an earlier key opens, the header alone is made anew. Goes on where it was stopped, by a signal or
    after ``seconds``. Return ``finished``, counts and ``problems``: objects that cannot be read. Raise
    ``DomainError("configuration", …)`` without a storage key.
    """
    store.encrypting()
    progress = _Encrypted.resumed(progress_file)

    def encrypt(batch: list[NamedObject]) -> None:
        with objects_to_delete.kept():  # else one that is deleted meanwhile would be written again
            for named in batch:
                _encrypt(named, progress)

    finished = through_tables(progress, seconds, encrypt, _AT_ONCE)
    if finished:
        for key in store.keys_written_before(_PICTURES, clock.now()):
            if not store.encrypting().is_current(key):
                store.delete(key)
    return {
        "finished": finished and _encrypt_log(),
        "objects": progress.objects,
        "encrypted": progress.encrypted,
        "problems": progress.problems,
    }


def _encrypt_log() -> bool:
    """Encrypt the transparency log; return False while it is being appended to, as an older state of it would be
    written over a newer one."""
    with log.alone() as mine:
        for key in store.keys_written_before(_LOG, clock.now()) if mine else ():
            if not store.encrypting().is_current(key):
                store.encrypting().encrypt_anew(key)
        return mine


def _encrypt(named: NamedObject, progress: _Encrypted) -> None:
    if not is_still_named(named):
        return
    progress.objects += 1
    try:
        if not store.encrypting().is_current(named.key):
            store.encrypting().encrypt_anew(named.key)
            progress.encrypted += 1
    except FileNotFoundError:
        progress.report({"problem": "missing", "key": named.key})
    except OSError as error:
        progress.report({"problem": "unreadable", "key": named.key, "cause": error.strerror or str(error)})
