"""A database is copied whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

import psycopg
import pytest

from paraph.kernel.errors import DomainError
from paraph.operations.backup.restore import is_empty
from paraph.operations.backup.write import foreign
from paraph.postgres import embedded_url, transfer
from paraph.postgres.transfer import dumping_programs

_LOOKS_LEFT_OUT = "SET transaction_timeout = 0;"

_OURS = """
    CREATE TABLE django_migrations (app text, name text); INSERT INTO django_migrations VALUES ('kept', '0001_initial');
    CREATE TYPE kept_kind AS ENUM ('a', 'b');
    CREATE TABLE kept_words (id serial PRIMARY KEY, words text, kind kept_kind DEFAULT 'a');
    CREATE FUNCTION kept_refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END';
    CREATE TRIGGER refuse BEFORE DELETE ON kept_words FOR EACH ROW EXECUTE FUNCTION kept_refuse();
    CREATE INDEX by_words ON kept_words (md5(words));
"""


@contextmanager
def new_database(name: str) -> Iterator[str]:
    url = embedded_url(Path(os.environ["PARAPH_DATA_DIR"]), None)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield url.removesuffix("/paraph") + f"/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def source() -> Iterator[str]:
    name = f"source_{os.getpid()}"
    with new_database(name) as url:
        with psycopg.connect(url) as connection:
            connection.execute(_OURS.encode())
            for words in ("é\n\t\\", _LOOKS_LEFT_OUT, None, os.urandom(50_000).hex()):
                connection.execute("INSERT INTO kept_words (words) VALUES (%s)", [words])
        yield url


@pytest.fixture
def target() -> Iterator[str]:
    with new_database(f"target_{os.getpid()}") as url:
        yield url


@dataclass
class Dump:
    file: BinaryIO
    contents: bytes
    rows: dict[str, int]

    def load(self, url: str) -> None:
        transfer.load(url, self.file, self.contents)


@contextmanager
def dumped(url: str, meanwhile: str = "SELECT 1") -> Iterator[Dump]:
    with psycopg.connect(url) as connection, TemporaryFile() as file:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT 1")
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(meanwhile.encode())
        binary = cast(BinaryIO, file)
        yield Dump(binary, *transfer.dump(url, binary, connection, foreign(connection)))


def rows(url: str) -> list[tuple[int, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT id, words FROM kept_words ORDER BY id").fetchall()


def test_what_the_snapshot_sees_is_copied(source: str, target: str) -> None:
    before = rows(source)
    with dumped(source, meanwhile="INSERT INTO kept_words (words) VALUES ('later')") as copy:
        assert copy.rows == {"public.django_migrations": 1, "public.kept_words": 4}
        assert is_empty(target) and not is_empty(source)
        copy.load(target)
    assert rows(target) == before and len(rows(source)) == len(before) + 1
    with psycopg.connect(target) as connection:
        [number] = connection.execute("INSERT INTO kept_words (words) VALUES ('next') RETURNING id").fetchone() or [0]
    assert number > len(before), "sequences go on"
    assert contents(target) == contents(source)


_OF_OTHERS = """
    CREATE EXTENSION vector; COMMENT ON EXTENSION vector IS 'of the provider';
    CREATE SCHEMA cron; CREATE TABLE cron.job (id serial PRIMARY KEY, kept_words int REFERENCES kept_words);
    CREATE TABLE reports (id serial, near vector(3)); CREATE VIEW kept AS SELECT words FROM kept_words;
    CREATE ROLE "Other"; CREATE TABLE kept_by_other (id int); ALTER TABLE kept_by_other OWNER TO "Other";
    CREATE TABLE "Odd, name" (id int); CREATE TYPE mood AS ENUM ('well'); CREATE DOMAIN short AS varchar(9);
    CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE FUNCTION cron.noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE FUNCTION near(text) RETURNS vector IMMUTABLE LANGUAGE sql AS $$SELECT '[1,2,3]'::public.vector$$;
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
    CREATE AGGREGATE first_of (text) (SFUNC = textcat, STYPE = text);
    CREATE TRIGGER audited AFTER INSERT ON kept_words FOR EACH ROW EXECUTE FUNCTION noted();
    CREATE TRIGGER audited_too AFTER INSERT ON kept_words FOR EACH ROW EXECUTE FUNCTION cron.noted();
    CREATE INDEX kept_near ON kept_words USING hnsw ((near(words)::vector(3)) vector_l2_ops);
    CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE CAST') EXECUTE FUNCTION refuse();
    CREATE PUBLICATION replica FOR TABLE kept_words, reports;
    CREATE POLICY all_of_them ON kept_words USING (true);
    CREATE STATISTICS kept_both ON id, words FROM kept_words;
    CREATE RULE quiet AS ON DELETE TO kept_words WHERE false DO INSTEAD NOTHING;
    GRANT SELECT ON kept_words TO "Other"; COMMENT ON TABLE kept_words IS 'of Paraph';
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO "Other";
"""


@pytest.fixture
def shared(source: str) -> Iterator[str]:
    """The address of the database, which others use as well."""
    with psycopg.connect(source, autocommit=True) as connection:
        connection.execute(_OF_OTHERS.encode())
        yield source
        connection.execute('DROP OWNED BY "Other"')
        connection.execute('DROP ROLE "Other"')


def contents(url: str) -> list[tuple[str, str]]:
    """The kind and name of each thing in the database that is not PostgreSQL's own."""
    statement = """
        SELECT relkind::text, relname::text FROM pg_class
        WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace
        UNION ALL SELECT 'function', proname FROM pg_proc WHERE oid >= 16384
        UNION ALL SELECT 'type', typname FROM pg_type WHERE oid >= 16384
        UNION ALL SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'constraint', conname FROM pg_constraint WHERE oid >= 16384
        UNION ALL SELECT 'schema', nspname FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_'
        UNION ALL SELECT 'extension', extname FROM pg_extension WHERE oid >= 16384
        UNION ALL SELECT 'publication', pubname FROM pg_publication
        UNION ALL SELECT 'event trigger', evtname FROM pg_event_trigger
        UNION ALL SELECT 'policy', polname FROM pg_policy
        UNION ALL SELECT 'default', defaclrole::text FROM pg_default_acl
        UNION ALL SELECT 'statistics', stxname FROM pg_statistic_ext
        UNION ALL SELECT 'rule', rulename FROM pg_rewrite WHERE oid >= 16384
        ORDER BY 1, 2
    """
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def test_what_others_have_in_the_database_is_not_copied(
    source: str, target: str, request: pytest.FixtureRequest
) -> None:
    ours = contents(source)
    request.getfixturevalue("shared")
    assert len(contents(source)) > len(ours) + 20
    with dumped(source) as copy:
        copy.load(target)
        for word in (b"EXTENSION", b"reports", b"cron", b"Other", b"audited", b"first_of", b"mood", b"near"):
            assert word not in copy.contents
        copy.file.seek(0)
        assert b"reports" not in copy.file.read(), "no row and no table of others is in the file"
    assert contents(target) == ours and rows(target) == rows(source)


def test_a_database_that_others_use_as_well_takes_a_copy(source: str, target: str) -> None:
    with psycopg.connect(target, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector; CREATE SCHEMA cron; CREATE TABLE cron.job (id int)")
        connection.execute('CREATE ROLE "Guest"')
        connection.execute('CREATE TABLE guests (id int); ALTER TABLE guests OWNER TO "Guest"')
        try:
            assert is_empty(target)
            with dumped(source) as copy:
                copy.load(target)
            assert rows(target) == rows(source) and not is_empty(target)
        finally:
            connection.execute('DROP OWNED BY "Guest"; DROP ROLE "Guest"')


@pytest.mark.parametrize("of", ["ALTER TABLE kept_words ADD near vector(3)", "ALTER TABLE kept_words ADD told mood"])
def test_a_table_that_needs_what_others_have_is_told(shared: str, of: str) -> None:
    words = r"column .* of table kept_words needs the type .*, which is not Paraph's"
    with psycopg.connect(shared) as connection:
        connection.execute(of.encode())
    with pytest.raises(DomainError, match=words), dumped(shared):
        pass


def test_a_schema_of_its_own_is_copied_to_whoever_looks_there(source: str, target: str) -> None:
    with psycopg.connect(source) as connection:
        connection.execute("CREATE SCHEMA signing")
        for what in ("TABLE django_migrations", "TABLE kept_words", "FUNCTION kept_refuse", "TYPE kept_kind"):
            connection.execute(f"ALTER {what} SET SCHEMA signing".encode())
    looking = "?options=-csearch_path%3Dsigning"
    with dumped(source + looking) as copy:
        with pytest.raises(DomainError, match="DATABASE_URL does not lead to the schema"):
            copy.load(target)
        assert is_empty(target)
        copy.load(target + looking)
    assert rows(target + looking) == rows(source + looking)
    with psycopg.connect(target, autocommit=True) as connection:
        connection.execute("DROP SCHEMA signing CASCADE; CREATE SCHEMA signing")
    with dumped(source + looking) as copy:
        copy.load(target + looking)
    assert rows(target + looking) == rows(source + looking)


def test_a_dump_that_lost_a_row_is_told(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_rows_written", lambda *_: {"public.kept_words": 3})
    words = "The dump has 3 rows of public.kept_words, and the database 4"
    with pytest.raises(DomainError, match=words), dumped(source):
        pass


def test_a_dump_that_ends_too_early_leaves_nothing(source: str, target: str) -> None:
    with dumped(source) as copy:
        copy.file.truncate(copy.file.seek(0, os.SEEK_END) - 20_000)
        with pytest.raises(DomainError, match="failed"):
            copy.load(target)
    assert is_empty(target)


def test_what_cannot_be_made_leaves_nothing(source: str, target: str) -> None:
    with psycopg.connect(target) as connection:
        # the name of an index that is made after the rows
        connection.execute("CREATE VIEW kept_words_pkey AS SELECT 1")
    with dumped(source) as copy, pytest.raises(DomainError, match=r"psql failed: .*kept_words_pkey"):
        copy.load(target)
    assert is_empty(target)


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        (b"SET transaction_timeout = 0;\n", True),
        (b"ALTER TABLE ONLY public.a ALTER COLUMN b SET (pg_attver=28043880);\n", True),
        (b"ALTER TABLE ONLY public.a ALTER COLUMN b SET (n_distinct=5);\n", False),
        (b"1\tSET transaction_timeout = 0;\n", False),
    ],
)
def test_statements_that_say_nothing_of_the_data_are_left_out(line: bytes, left_out: bool) -> None:
    assert bool(transfer._LEFT_OUT.fullmatch(line)) is left_out


def test_a_server_newer_than_every_program_is_told() -> None:
    with pytest.raises(DomainError, match="install postgresql-client-99"):
        dumping_programs(99)
