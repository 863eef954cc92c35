"""Writing a backup or an export beside the running service."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import SpooledTemporaryFile, TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, cast

import psycopg
import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from paraph import __version__
from paraph.documents import objects_to_delete
from paraph.evidence.models import Backup
from paraph.evidence.named_objects import TABLES, NamedObject, named_objects
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import fingerprint
from paraph.operations.backup.archive import (
    CONTENTS,
    DATABASE,
    EARLIER_SECRETS,
    KEYS,
    MANIFEST,
    OBJECTS,
    SECRET,
    Archive,
    ArchiveWriter,
    checked_archive,
)
from paraph.operations.backup.restore import load_database
from paraph.operations.store import Problem, problem_with
from paraph.postgres import Server, embedded_url, transfer
from paraph.postgres.transfer import Foreign

_IN_MEMORY = 4 << 20

_log = structlog.get_logger("paraph.backup")


def write_backup(out: Path, *, tried: bool = False) -> dict[str, Any]:
    """Write database, secret, keys and every object that a row names, and read the file back. Return counts and
    ``problems``: objects that are missing, which the backup lacks, or changed, which it holds as they are. No object is
    deleted meanwhile, so that every row of the snapshot has its object. ``tried``: restore the database into a
    temporary server as a test, and count its rows. Raise ``DomainError``; there is no file then, unless it was written
    completely and only the test failed."""
    as_of = clock.now()
    with (
        _new_file(out, "backup") as file,
        TemporaryFile(dir=out.parent) as named,
        objects_to_delete.kept(),
        _begin(file, "backup") as archive,
    ):
        rows = _add_database(archive, out.parent, cast(BinaryIO, named))
        _add_secrets_and_keys(archive, settings.DATA_DIR / "keys")
        count, problems = _add_objects(archive, cast(BinaryIO, named))
    if tried:
        _try(out, rows)
    _note(as_of, len(problems))
    facts = {"file": str(out), "bytes": out.stat().st_size, "rows": sum(rows.values()), "tried": tried}
    return {**facts, "objects": count, "problems": problems}


def write_export(out: Path) -> dict[str, Any]:
    """Write the database alone, for another server, and read the file back. Raise ``DomainError``; then there is no
    file."""
    with _new_file(out, "export") as file, _begin(file, "export") as archive:
        rows = _add_database(archive, out.parent, None)
    return {"file": str(out), "bytes": out.stat().st_size, "rows": sum(rows.values())}


def _try(out: Path, rows: dict[str, int]) -> None:
    """Restore the database into a temporary server, and compare the numbers of rows."""
    with TemporaryDirectory(dir=out.parent) as folder:
        server = Server(Path(folder))
        try:
            server.start()
            load_database(Archive(out), Path(folder), server.url)
            with psycopg.connect(server.url) as restored:
                found = transfer.count_rows(restored, rows)
        except DomainError as error:
            raise DomainError("postgres", f"{out} was written, and cannot be restored: {error.message}") from error
        finally:
            server.stop()
            rmtree(server.location.home)
    for table, count in found.items():
        if count != rows[table]:
            raise DomainError("postgres", f"{out} was written, and restores {count} of {rows[table]} rows of {table}.")


@contextmanager
def _new_file(out: Path, kind: str) -> Iterator[BinaryIO]:
    """Yield a file, readable by its owner alone, that gets its name once it is durable and was read back completely."""
    draft = out.with_name(f".{out.name}.part")
    if out.exists():
        raise DomainError("validation_error", f"{out} exists already.")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with checked_archive(draft, kind):
            draft.rename(out)
    except OSError as error:
        raise DomainError("configuration", f"{out} cannot be written: {error.strerror or error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _note(as_of: datetime, problems: int) -> None:
    """Note a backup whose file is complete. After an upgrade and before ``paraph migrate``, the table of notes may be
    missing; the backup is good all the same."""
    try:
        Backup.objects.create(as_of=as_of, problems=problems)
    except DatabaseError as error:
        _log.warning("the backup could not be noted", error=str(error))


def _begin(file: BinaryIO, kind: str) -> ArchiveWriter:
    archive = ArchiveWriter(file)
    facts = {"kind": kind, "form": 1, "paraph": __version__, "made_at": clock.now().isoformat()}
    archive.add_bytes(MANIFEST, json.dumps({**facts, "secret": fingerprint(settings.SECRETS.in_use).hex()}).encode())
    return archive


def _add_database(archive: ArchiveWriter, folder: Path, named: BinaryIO | None) -> dict[str, int]:
    """Dump the database, and write to ``named`` the objects that rows of the same snapshot name. Return the number of
    rows of each table."""
    with TemporaryFile(dir=folder) as dump:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            url = settings.PARAPH.database_url or embedded_url(settings.DATA_DIR, settings.PARAPH.postgres_dir)
            raw = cast(Any, connection.connection)
            contents, rows = transfer.dump(url, cast(BinaryIO, dump), raw, foreign(raw))
            if named:
                for word in TABLES:
                    for found in named_objects(word):
                        row = [found.row, found.key, found.sha256.hex(), found.size]
                        named.write(json.dumps(row).encode() + b"\n")
            wanted = connection.introspection.django_table_names(only_existing=True)
        if missing := set(wanted) - {table.rpartition(".")[2] for table in rows}:
            sentence = f"The tables {', '.join(sorted(missing))} belong to another role than the others."
            raise DomainError("postgres", sentence)
        archive.add(DATABASE, cast(BinaryIO, dump))
        archive.add_bytes(CONTENTS, contents)
    return rows


def _add_secrets_and_keys(archive: ArchiveWriter, folder: Path) -> None:
    newest = settings.SECRETS.newest
    archive.add_bytes(SECRET, newest)
    earlier = [secret for secret in settings.SECRETS.all if secret != newest]
    if earlier:
        archive.add_bytes(EARLIER_SECRETS, b"\n".join(earlier))
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            archive.add_bytes(f"{KEYS}{path.relative_to(folder).as_posix()}", path.read_bytes())


def _add_objects(archive: ArchiveWriter, named: BinaryIO) -> tuple[int, list[Problem]]:
    count, problems = 0, []
    named.seek(0)
    for line in named:
        row, key, digest, size = json.loads(line)
        with closing(SpooledTemporaryFile(_IN_MEMORY)) as copy:
            problem = problem_with(NamedObject((row[0], row[1]), key, bytes.fromhex(digest), size), copy.write)
            if problem:
                problems.append(problem)
            if problem and problem["problem"] != "changed":
                continue
            archive.add(f"{OBJECTS}{key}", cast(BinaryIO, copy))
            count += 1
    return count, problems


_FOREIGN = """
    WITH home AS (
        SELECT relnamespace AS place, relowner AS owner FROM pg_class WHERE oid = 'django_migrations'::regclass
    ),
    prefixes AS (
        SELECT DISTINCT app || '_' AS prefix FROM django_migrations
        UNION VALUES ('django_'), ('members_'), ('activity_')
    ),
    found AS (
        SELECT 'pg_class'::regclass AS class, oid, relname AS name, relnamespace AS place, relowner AS owner
        FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        UNION ALL SELECT 'pg_proc'::regclass, oid, proname, pronamespace, proowner FROM pg_proc
        UNION ALL SELECT 'pg_type'::regclass, oid, ltrim(typname, '_'), typnamespace, typowner FROM pg_type
        UNION ALL SELECT 'pg_opclass'::regclass, oid, '', opcnamespace, opcowner FROM pg_opclass
        UNION ALL SELECT 'pg_collation'::regclass, oid, '', collnamespace, collowner FROM pg_collation
    ),
    foreigners AS (
        SELECT class, oid, name, found.place = home.place AS here FROM found, home
        WHERE oid >= 16384 AND NOT (
            (found.place, found.owner) = (home.place, home.owner)
            AND EXISTS (SELECT FROM prefixes WHERE starts_with(name, prefix))
        )
    )
"""
"""Everything of Paraph's is in one schema, belongs to the owner of its tables, and has a name that begins with one of
the apps whose migrations the database has, including those of newer versions, or with one of three further words. Oids
below 16384 are PostgreSQL's own."""

_HERE = "SELECT class::bigint, oid::bigint, quote_ident(name), class = 'pg_class'::regclass FROM foreigners WHERE here"

_DEPENDENT = """
    SELECT d.classid::bigint, d.objid::bigint, tgrelid IS NOT NULL OR indrelid IS NOT NULL OR contype = 'f' AS apart,
        pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, 0)
    FROM pg_depend AS d JOIN foreigners ON (refclassid, refobjid) = (foreigners.class, foreigners.oid)
    LEFT JOIN pg_index ON classid = 'pg_class'::regclass AND indexrelid = objid
    LEFT JOIN pg_trigger ON classid = 'pg_trigger'::regclass AND pg_trigger.oid = objid
    LEFT JOIN pg_attrdef ON classid = 'pg_attrdef'::regclass AND pg_attrdef.oid = objid
    LEFT JOIN pg_constraint ON classid = 'pg_constraint'::regclass AND pg_constraint.oid = objid
    JOIN pg_class AS held ON held.oid = coalesce(indrelid, tgrelid, adrelid, nullif(conrelid, 0), objid)
    WHERE classid IN ('pg_class'::regclass, 'pg_trigger'::regclass, 'pg_attrdef'::regclass, 'pg_constraint'::regclass)
        AND held.relkind IN ('r', 'p') AND held.relnamespace = (SELECT place FROM home)
        AND NOT EXISTS (SELECT FROM foreigners AS f WHERE (f.class, f.oid) = ('pg_class'::regclass, held.oid))
"""


def foreign(connection: "psycopg.Connection[Any]") -> Foreign:
    """Return what is not Paraph's in its schema. Raise ``DomainError("postgres", …)`` if Paraph's tables depend on it:
    they could not be created in any other database."""
    home = "SELECT quote_ident(nspname) FROM pg_namespace, home WHERE oid = place"
    [schema] = connection.execute(f"{_FOREIGN} {home}").fetchone() or [""]
    relations, others = [], set()
    for kind, oid, name, is_relation in connection.execute(_FOREIGN + _HERE):
        if is_relation:
            relations.append(f"{schema}.{name}")
        else:
            others.add((kind, oid))
    for kind, oid, is_apart, what, needed in connection.execute(_FOREIGN + _DEPENDENT):
        if not is_apart:
            raise DomainError("postgres", f"Nothing was written: the {what} needs the {needed}, which is not Paraph's.")
        others.add((kind, oid))
    return Foreign(schema, relations, others)
