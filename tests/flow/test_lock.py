"""Request before signer, and both as they stand once the locks are had."""

import threading

import pytest
from django.db import connection, transaction

from paraph.flow.events import lock_signer
from paraph.signature_requests.models import SignatureRequest, Signer
from tests.factories import Scene

pytestmark = pytest.mark.django_db(transaction=True)


def lock_beside(signer: Signer) -> tuple[threading.Thread, list[Signer]]:
    """Somebody else who locks the signer and lets go at once; in the list is how they stood then."""
    found: list[Signer] = []

    def lock() -> None:
        try:
            with transaction.atomic():
                found.append(lock_signer(signer.pk))
        finally:
            connection.close()

    thread = threading.Thread(target=lock)
    thread.start()
    return thread, found


def wait_for_a_waiter() -> None:
    with connection.cursor() as cursor:
        for _ in range(5000):
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return
    raise AssertionError("nobody waits")


def test_who_waits_for_the_request_does_not_hold_the_signer(made: Scene) -> None:
    with transaction.atomic():
        SignatureRequest.objects.select_for_update().get(pk=made.request.pk)
        thread, _ = lock_beside(made.signers[0])
        wait_for_a_waiter()
        Signer.objects.select_for_update(nowait=True).get(pk=made.signers[0].pk)
    thread.join()


def test_both_are_as_the_one_before_left_them(made: Scene) -> None:
    with transaction.atomic():
        request = SignatureRequest.objects.select_for_update().get(pk=made.request.pk)
        thread, found = lock_beside(made.signers[0])
        wait_for_a_waiter()
        request.status = "completed"
        request.save()
        Signer.objects.filter(pk=made.signers[0].pk).update(status="signed")
    thread.join()
    assert [(signer.status, signer.request.status) for signer in found] == [("signed", "completed")]
