"""The objects of the store that rows name: uploads, what is prepared from them, sealed documents, proofs, logos."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from paraph.documents.models import Document, DocumentStatus, prepared_key
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.tenants.models import Logo

_AT_ONCE = 500
_FILES: dict[str, type[SealedDocument | ProofFile | Logo]] = {
    "sealed document": SealedDocument,
    "proof": ProofFile,
    "logo": Logo,
}
TABLES = ("document", *_FILES)

_NAMED: dict[str, type[Document | SealedDocument | ProofFile | Logo]] = {
    "documents/": Document,
    "prepared/": Document,
    "sealed/": SealedDocument,
    "proofs/": ProofFile,
    "logos/": Logo,
}
PREFIXES = tuple(_NAMED)


class NamedObject(NamedTuple):
    """An object as its row describes it. ``row`` is the word for the table (:data:`TABLES`) and the id."""

    row: tuple[str, int]
    key: str
    sha256: bytes
    size: int


def named_objects(word: str, after: int = 0) -> Iterator[NamedObject]:
    """Yield the objects of one of :data:`TABLES`, by ascending ids beyond ``after``. Rows are read a page at a time."""
    while page := list(_page(word, after, _AT_ONCE)):
        yield from page
        after = page[-1].row[1]


def rows_after(word: str, after: int) -> int:
    """Return the number of rows of one of :data:`TABLES` beyond this id."""
    table = Document if word == "document" else _FILES[word]
    return table.objects.filter(pk__gt=after).count()


def is_still_named(found: NamedObject) -> bool:
    """Return whether the row still describes the object as it was found: it may have been deleted meanwhile."""
    word, number = found.row
    return found in _page(word, number - 1, 1)


def _page(word: str, after: int, count: int) -> Iterator[NamedObject]:
    if word == "document":
        yield from _documents(after, count)
        return
    rows = _FILES[word].objects.filter(pk__gt=after).order_by("pk")
    for row in rows.only("object_key", "sha256", "file_size")[:count]:
        yield NamedObject((word, row.pk), row.object_key, bytes(row.sha256), row.file_size)


def _documents(after: int, count: int) -> Iterator[NamedObject]:
    rows = Document.objects.filter(pk__gt=after, status=DocumentStatus.READY, file_deleted_at=None).order_by("pk")
    columns = ("object_key", "sha256", "file_size", "prepared_sha256", "prepared_size")
    for row in rows.only(*columns)[:count]:
        name = ("document", row.pk)
        yield NamedObject(name, row.object_key, bytes(row.sha256), row.file_size)
        if row.prepared_sha256 is not None:
            yield NamedObject(name, row.shown_key, bytes(row.prepared_sha256), row.prepared_size or 0)


def named_among(prefix: str, keys: Iterable[str]) -> set[str]:
    """Return the keys, among these below one of :data:`PREFIXES`, that a row names."""
    if prefix != "prepared/":
        return set(_NAMED[prefix].objects.filter(object_key__in=keys).values_list("object_key", flat=True))
    uploads = {f"documents/{key.removeprefix('prepared/')}" for key in keys}
    named = Document.objects.filter(object_key__in=uploads, prepared_sha256__isnull=False)
    return {prepared_key(key) for key in named.values_list("object_key", flat=True)}
