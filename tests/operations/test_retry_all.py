"""``paraph request retry --all``: everything that waits, and nothing else."""

import pytest
from django.db import connection

from paraph.operations.retry import retry_all
from paraph.queue.jobs import defer
from tests.factories import jobs, scene, sign
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_what_waits_is_retried_and_nothing_else() -> None:
    done, lost, invited, waiting = scene(), scene(), scene(send_email=True), scene(send_email=True)
    sign(done)
    work_off()
    sign(lost)
    execute("DELETE FROM procrastinate_jobs")  # as a backup that was taken before them
    defer("invite", signer_id=invited.signers[0].pk)
    execute("UPDATE procrastinate_jobs SET status = 'failed'")
    defer("invite", signer_id=waiting.signers[0].pk)
    assert retry_all() == 2
    rows = {(name, *arguments.values()) for name, arguments in jobs()}
    assert rows == {
        ("invite", invited.signers[0].pk),
        ("invite", waiting.signers[0].pk),
        ("finalize", lost.request_documents[0].pk),
    }
