"""The object store: an object is stored, read back and deleted; what others stored can be opened."""

import time
from collections.abc import Iterator

from django.conf import settings

from paraph.documents.models import Document, DocumentStatus
from paraph.kernel import tokens
from paraph.operations.check.outcome import Outcome, failed, ok
from paraph.storage import store


def object_store() -> Iterator[Outcome]:
    """``storage``. Finds a full disk or a wrong bucket before the first upload does."""
    location = settings.PARAPH.storage_url or settings.DATA_DIR / "objects"
    key, content = f"check/{tokens.random_hex(8)}", tokens.random_bytes(32)
    began = time.perf_counter()
    try:
        store.put(key, content)
        returned = store.get(key)
        store.delete(key)
    except Exception as error:  # noqa: BLE001  each kind of store raises its own errors
        cause = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        yield failed("storage", f"The object store {location} does not work: {cause}.")
        return
    if returned != content:
        yield failed("storage", f"The object store {location} gives back something else than it was given.")
        return
    milliseconds = (time.perf_counter() - began) * 1000
    yield ok("storage", f"The object store {location} keeps, returns and deletes an object ({milliseconds:.0f} ms).")


def storage_key() -> Iterator[Outcome]:
    """``storage key``: whether the newest upload can be opened, where it is encrypted."""
    ready = Document.objects.filter(status=DocumentStatus.READY, file_deleted_at=None)
    key = ready.order_by("-pk").values_list("object_key", flat=True).first()
    if key is None or not _is_locked(key):
        yield ok("storage key", "The newest upload needs no storage key that is not set here.")
        return
    yield failed(
        "storage key",
        "Stored files are encrypted with a storage key that this machine lacks: set PARAPH_STORAGE_KEY, or "
        "PARAPH_STORAGE_KEY_PREVIOUS, to what the other machines have.",
    )


def _is_locked(key: str) -> bool:
    try:
        return store.lacks_key(key)
    except FileNotFoundError:
        return False
