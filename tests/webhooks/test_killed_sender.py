"""A worker process that is killed in the middle of sending loses nothing."""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.db import connection

from paraph.webhooks.claim import LEASE
from paraph.webhooks.models import Attempt, Delivery
from tests import receiver as receivers
from tests.receiver import answer, receiver
from tests.webhooks.parties import record, told
from tests.webhooks.test_dispatcher import delivered, dispatching, wait_for

_PROCESS = """
import django; django.setup()
from paraph.outbound.exchange import NetworkAccess
from paraph.webhooks.dispatcher import Dispatcher
Dispatcher(NetworkAccess(allow_private=True)).start()
import time; time.sleep(60)
"""


@pytest.mark.django_db(transaction=True)
def test_killed_while_sending_then_sent_by_another_under_the_same_id() -> None:
    with receiver(receivers.silent) as hooks:
        made, _ = told(hooks.url())
        record(made.request, "request.expired")
        settings = connection.get_connection_params()
        url = f"postgresql://{settings['user']}@/{settings['dbname']}?host={settings['host']}"
        process = subprocess.Popen(
            [sys.executable, "-c", _PROCESS],
            env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "paraph.config.settings"},
        )
        wait_for(lambda: len(hooks.received) == 1, 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        hooks.behave = answer()
        delivery = Delivery.objects.get()
        assert delivery.claimed_at
        Delivery.objects.update(claimed_at=delivery.claimed_at - LEASE - timedelta(seconds=1))  # the lease passes
        with dispatching():
            wait_for(delivered(1))
    ids = [received.headers["X-Service-Delivery"] for received in hooks.received]
    assert ids == [str(Attempt.objects.get().pk)] * 2
