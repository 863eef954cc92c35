"""``paraph migrate``: brings the tables of the database to what this version expects."""

import click

from paraph.cli.options import data_dir_option, json_option, show
from paraph.cli.session import database
from paraph.kernel.errors import DomainError

_LOCK = 0x50415241  # any number, the same in every process


@click.command()
@data_dir_option
@json_option
def command(*, as_json: bool) -> None:
    """Bring the database's tables to this version."""
    with database():
        count = migrate()
    show({"applied": count}, as_json=as_json)


def migrate() -> int:
    """Applies what is missing and returns how many steps that were. Several processes may call it at once.

    Raises ``DomainError("database", …)`` when a newer version has already been at work.
    """
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            executor = MigrationExecutor(connection)
            loader = executor.loader
            unknown = [
                f"{app}.{name}"
                for app, name in loader.applied_migrations
                if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
            ]
            if unknown:
                raise DomainError("database", f"The database belongs to a newer Paraph: it has {', '.join(unknown)}.")
            plan = executor.migration_plan(loader.graph.leaf_nodes())
            if plan:
                call_command("migrate", verbosity=0, interactive=False)
            return len(plan)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
