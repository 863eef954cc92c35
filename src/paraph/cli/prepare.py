"""Preparation of a start, before anything is served."""

import os
import sys
from typing import NamedTuple

from paraph.cli.supervisor import fork
from paraph.metrics import ledger
from paraph.operations.check.service_checks import require_start
from paraph.operations.migrations import migrate
from paraph.storage import store
from paraph.tenants.applications import new_application
from paraph.tenants.members import first_owner_link
from paraph.tenants.models import Organization
from paraph.tenants.organizations import UNNAMED


class FirstSteps(NamedTuple):
    """What the first start prints, else "": an API key, and without any account a link that makes the first owner."""

    api_key: str
    owner_link: str


def prepare(*, newer_tables: bool = False) -> FirstSteps:
    """Migrate the database, clean up after the last run and check that the service can work.

    The very first start also makes an organization with a sandbox application. Raise ``DomainError`` with one sentence
    for what is missing. ``newer_tables``: as :func:`paraph.operations.migrations.migrate` has it.
    """
    migrate(newer_tables=newer_tables)
    store.sweep()
    ledger.forget()
    require_start()
    return FirstSteps("" if Organization.objects.exists() else _first_key(), first_owner_link())


def _first_key() -> str:
    organization = Organization.objects.create(name=UNNAMED, plan="enterprise")
    return new_application(organization, "sandbox", "First application").api_key


def check_in_child() -> None:
    """Run :func:`require_start` in a child process, so that processes forked later inherit no connection or thread
    that the checks opened. Ends this process with status 1 when a check fails; the child has printed the reason."""
    _, status = os.waitpid(fork("check", require_start), 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(1)
