"""What a start does before anything is served."""

import os
import sys

from paraph.cli.supervisor import fork
from paraph.measures import ledger_files
from paraph.operations.check.start import require_start
from paraph.operations.migrations import migrate
from paraph.organizations.models import Organization
from paraph.organizations.registration import create_application, create_organization
from paraph.storage import store


def prepare() -> str:
    """Tables, storage, keys; at the very first start an organization with a sandbox application, whose API key is
    returned ("" later). Raises ``DomainError`` with one sentence for what is missing."""
    migrate()
    store.sweep()
    ledger_files.forget()
    require_start()
    if Organization.objects.exists():
        return ""
    organization = create_organization("First organization", "enterprise")
    return create_application(organization.pk, "sandbox", "First application").api_key


def check_in_child() -> None:
    """:func:`require_start` in a child, which ends with what it opened: processes forked later must inherit none of
    it. When it fails, so do we; it has said why."""
    pid = fork("check", require_start)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(1)
