"""What of a database is Paraph's, and what others have put into it: extensions, schemas, tables, functions, indexes."""

from typing import Any

import psycopg

from paraph.kernel.errors import DomainError
from paraph.postgres.transfer import Foreign

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
"""What is Paraph's stands in one schema, belongs to the owner of its tables, and is named after one of the apps whose
migrations the database has, those of newer versions among them, or begins with one of three further words. Oids below
16384 are PostgreSQL's own."""

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
    """Return what is not Paraph's in its schema. Raise ``DomainError("postgres", …)`` where its tables need what is
    not: they could be made nowhere else."""
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


_OURS = """
    SELECT to_regclass('django_migrations') IS NOT NULL OR EXISTS (
        SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_roles AS r ON r.oid = relowner
        WHERE relkind IN ('r', 'p') AND nspname = current_schema() AND rolname = current_user AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
        )
    )
"""


def is_empty(url: str) -> bool:
    """Return whether the database has nothing of Paraph's, and no table of ours in its place; what extensions and
    others have does not matter. Raise ``DomainError("database", …)`` where it does not answer."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            found = connection.execute(_OURS).fetchone()
    except psycopg.OperationalError as error:
        raise DomainError("database", f"The database is not responding: {' '.join(str(error).split())}") from error
    return found == (False,)
