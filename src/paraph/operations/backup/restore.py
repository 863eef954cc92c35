"""Restoring a backup, or importing an export, into an empty installation. Everything that does not need Django's
settings comes first, because reading them makes a secret if there is none, and they are read only once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO, cast

import psycopg

from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import EARLIER_FILE, earlier_master_keys, existing_master_key, fingerprint, write_master_key
from paraph.kernel.settings import Settings
from paraph.kernel.tokens import same
from paraph.operations.backup.archive import CONTENTS, DATABASE, EARLIER_SECRETS, KEYS, OBJECTS, SECRET, Archive
from paraph.postgres import transfer
from paraph.storage.objects import checked_key

_BLOCK = 1 << 20


def require_nothing_there(archive: Archive, settings: Settings, url: str) -> None:
    """Raise ``DomainError("configuration", …)`` if a restore would mix with existing data: a table, another secret,
    or keys or objects in the data folder that were not left by an unfinished restore."""
    require_empty_database(url)
    secret = existing_master_key(settings.data_dir, settings.secret_key)
    if secret and not same(secret, archive.read(SECRET)):
        raise DomainError(
            "configuration",
            "The secret here is not that of the backup: set PARAPH_SECRET_KEY to the backup's, or neither set it nor "
            "have a secret.key in the data folder.",
        )
    if not _mark(settings).exists():
        for name in ("keys", "objects"):
            folder = settings.data_dir / name
            if folder.is_dir() and any(folder.iterdir()):
                raise DomainError("configuration", f"{folder} is not empty: move it away first.")


def require_empty_database(url: str) -> None:
    """Raise ``DomainError("configuration", …)`` unless :func:`is_empty` holds for the database."""
    if not is_empty(url):
        raise DomainError("configuration", "The database is not empty: nothing was changed.")


_OURS = """
    SELECT to_regclass('django_migrations') IS NOT NULL OR EXISTS (
        SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_roles AS r ON r.oid = relowner
        WHERE relkind IN ('r', 'p') AND nspname = current_schema() AND rolname = current_user AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
        )
    )
"""


def is_empty(url: str) -> bool:
    """Return whether the database has neither Paraph's migrations nor any table of our role in the current schema;
    tables of extensions and of other roles do not matter. Raise ``DomainError("database", …)`` without an answer."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            found = connection.execute(_OURS).fetchone()
    except psycopg.OperationalError as error:
        raise DomainError("database", f"The database is not responding: {' '.join(str(error).split())}") from error
    return found == (False,)


def require_empty_store() -> None:
    """Raise ``DomainError("configuration", …)`` if the store holds objects of Paraph's. Needs Django."""
    from paraph.evidence.named_objects import PREFIXES  # noqa: PLC0415  reads the settings
    from paraph.storage import store  # noqa: PLC0415

    for prefix in PREFIXES:
        for key in store.keys_written_before(prefix, datetime.max.replace(tzinfo=UTC)):
            raise DomainError("configuration", f"The object store is not empty: it has {key}.")


def require_same_secret(archive: Archive, settings: Settings) -> None:
    """Raise ``DomainError("configuration", …)`` unless this machine has the secret that the archive belongs to."""
    secrets = [
        existing_master_key(settings.data_dir, settings.secret_key),
        *earlier_master_keys(settings.data_dir, settings.secret_key_previous),
    ]
    if archive.manifest()["secret"] not in [fingerprint(secret).hex() for secret in secrets if secret]:
        raise DomainError(
            "configuration",
            "The file belongs to another secret than this machine has: give it the same PARAPH_SECRET_KEY, or the same "
            "secret.key in its data folder.",
        )


@contextmanager
def unfinished(settings: Settings) -> Iterator[bool]:
    """Mark the data folder until the block is done, so that a restore that was killed can be repeated. Yield whether
    one was killed before."""
    again = _mark(settings).exists()
    _mark(settings).touch(mode=0o600)
    yield again
    _mark(settings).unlink()


def restore_secret_and_keys(archive: Archive, settings: Settings) -> None:
    """Write the secret, earlier secrets and ``keys`` to the data folder, except secrets that a variable sets."""
    if not settings.secret_key:
        write_master_key(settings.data_dir, archive.read(SECRET))
    earlier = archive.read(EARLIER_SECRETS).split()
    if earlier and not settings.secret_key_previous:
        _write_file(settings.data_dir, EARLIER_FILE, b"\n".join(earlier))
    for name, content in archive.members():
        if name.startswith(KEYS):
            _write_file(settings.data_dir / "keys", name.removeprefix(KEYS), content.read())


def restore_objects(archive: Archive) -> int:
    """Store every object; return how many. Needs Django."""
    from paraph.storage import store  # noqa: PLC0415  reads the settings

    count = 0
    for name, content in archive.members():
        if name.startswith(OBJECTS):
            store.put(name.removeprefix(OBJECTS), cast(BinaryIO, content))
            count += 1
    return count


def load_database(archive: Archive, folder: Path, url: str) -> None:
    """Create the archive's tables with their rows, in one transaction."""
    with TemporaryFile(dir=folder) as dump:
        for name, content in archive.members():
            if name == DATABASE:
                copyfileobj(content, dump, _BLOCK)
            elif name == CONTENTS:
                transfer.load(url, cast(BinaryIO, dump), content.read())
                return


def give_no_number_twice() -> None:
    """Have the next connection skip some numbers of every sequence, because the service may have given them out after
    the backup. Needs Django and this version's tables."""
    from paraph.tenants.models import Installation  # noqa: PLC0415  reads the settings

    Installation.objects.update(timeline=0)


def note_backup(archive: Archive) -> None:
    """Note the restored file as a backup: the database in it does not contain that note. Needs Django and this
    version's tables."""
    from paraph.evidence.models import Backup  # noqa: PLC0415  reads the settings

    Backup.objects.create(as_of=datetime.fromisoformat(archive.manifest()["made_at"]), problems=0)


def _mark(settings: Settings) -> Path:
    return settings.data_dir / "restore.unfinished"


def _write_file(folder: Path, name: str, content: bytes) -> None:
    path = folder / checked_key(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
