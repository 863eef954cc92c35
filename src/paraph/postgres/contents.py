"""What of a database is Paraph's, and what others have put into it: extensions, schemas, tables, functions, indexes."""

import re
from dataclasses import dataclass
from typing import Any

import psycopg

from paraph.kernel.errors import DomainError

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

_KINDS = re.compile(
    rb"\d+; (\d+) (\d+) (?:SCHEMA|TYPE|FUNCTION|TABLE|SEQUENCE|SEQUENCE OWNED BY|DEFAULT|TABLE DATA|SEQUENCE SET|"
    rb"CONSTRAINT|CHECK CONSTRAINT|FK CONSTRAINT|INDEX|TRIGGER|TABLE ATTACH|INDEX ATTACH) [^\n]*\n"
)
"""The lines of ``pg_restore --list`` for what Paraph has: kind and oid of each."""


@dataclass(frozen=True)
class Foreign:
    """``schema``: where Paraph's tables are, ``relations``: what others have there, each as a pattern of ``pg_dump``.
    ``others``: kind and oid of their functions and types there, and of what they have put on Paraph's tables."""

    schema: str
    relations: list[str]
    others: set[tuple[int, int]]

    def without(self, listed: bytes) -> bytes:
        """Return those lines of a dump's table of contents that are Paraph's."""
        lines = _KINDS.finditer(listed)
        return b"".join(line[0] for line in lines if (int(line[1]), int(line[2])) not in self.others)


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
