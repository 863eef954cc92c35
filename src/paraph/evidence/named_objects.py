"""The objects of the store that rows name: uploads, what is prepared from them, sealed documents, proofs, logos."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from django.db.models import QuerySet

from paraph.documents.models import Document, DocumentStatus, prepared_key
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.tenants.models import Logo

File = TypeVar("File", SealedDocument, ProofFile, Logo)

_AT_ONCE = 500


class NamedObject(NamedTuple):
    """An object as its row describes it. ``row`` is the table's word and the id."""

    row: tuple[str, int]
    key: str
    sha256: bytes
    size: int


def named_objects(word: str, after: int = 0) -> Iterator[NamedObject]:
    """Yield the objects of one of :data:`TABLES`, by ascending ids beyond ``after``. Rows are read a page at a time."""
    while page := list(_rows(word, after)):
        yield from page
        after = page[-1].row[1]


def is_still_named(found: NamedObject) -> bool:
    """Return whether the row still describes the object so: it may have been deleted meanwhile."""
    word, number = found.row
    return found in _TABLES[word](number - 1, 1)


def named_among(prefix: str, keys: Iterable[str]) -> set[str]:
    """Return those of the keys below one of :data:`PREFIXES` that a row names."""
    return _NAMED[prefix](keys)


def _rows(word: str, after: int) -> Iterator[NamedObject]:
    yield from _TABLES[word](after, _AT_ONCE)


def _of_documents(after: int, count: int) -> Iterator[NamedObject]:
    rows = Document.objects.filter(pk__gt=after, status=DocumentStatus.READY, file_deleted_at=None).order_by("pk")
    columns = ("object_key", "sha256", "file_size", "prepared_sha256", "prepared_size")
    for row in rows.only(*columns)[:count]:
        name = ("document", row.pk)
        yield NamedObject(name, row.object_key, bytes(row.sha256), row.file_size)
        if row.prepared_sha256 is not None:
            yield NamedObject(name, row.shown_key, bytes(row.prepared_sha256), row.prepared_size or 0)


def _of_sealed(after: int, count: int) -> Iterator[NamedObject]:
    return _of_files("sealed document", SealedDocument.objects.filter(pk__gt=after), count)


def _of_proofs(after: int, count: int) -> Iterator[NamedObject]:
    return _of_files("proof", ProofFile.objects.filter(pk__gt=after), count)


def _of_logos(after: int, count: int) -> Iterator[NamedObject]:
    return _of_files("logo", Logo.objects.filter(pk__gt=after), count)


def _of_files(word: str, rows: QuerySet[File], count: int) -> Iterator[NamedObject]:
    for row in rows.order_by("pk").only("object_key", "sha256", "file_size")[:count]:
        yield NamedObject((word, row.pk), row.object_key, bytes(row.sha256), row.file_size)


def _documents(keys: Iterable[str]) -> set[str]:
    return set(Document.objects.filter(object_key__in=keys).values_list("object_key", flat=True))


def _prepared(keys: Iterable[str]) -> set[str]:
    uploads = {f"documents/{key.removeprefix('prepared/')}" for key in keys}
    named = Document.objects.filter(object_key__in=uploads, prepared_sha256__isnull=False)
    return {prepared_key(key) for key in named.values_list("object_key", flat=True)}


def _sealed(keys: Iterable[str]) -> set[str]:
    return set(SealedDocument.objects.filter(object_key__in=keys).values_list("object_key", flat=True))


def _proofs(keys: Iterable[str]) -> set[str]:
    return set(ProofFile.objects.filter(object_key__in=keys).values_list("object_key", flat=True))


def _logos(keys: Iterable[str]) -> set[str]:
    return set(Logo.objects.filter(object_key__in=keys).values_list("object_key", flat=True))


_TABLES: dict[str, Callable[[int, int], Iterator[NamedObject]]] = {
    "document": _of_documents,
    "sealed document": _of_sealed,
    "proof": _of_proofs,
    "logo": _of_logos,
}
TABLES = tuple(_TABLES)

_NAMED = {"documents/": _documents, "prepared/": _prepared, "sealed/": _sealed, "proofs/": _proofs, "logos/": _logos}
PREFIXES = tuple(_NAMED)
