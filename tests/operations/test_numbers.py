"""A number is given out once, whatever a database has lost that went on from a standby or from a copy."""

import pytest
from django.db import connection

from paraph.operations.backup.restore import give_no_number_twice
from paraph.tenants.models import Installation
from tests.factories import scene
from tests.threads import beside_each_other


def follow() -> int | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT organizations_follow_timeline(), organizations_follow_timeline()")
    return Installation.objects.get().timeline


@pytest.fixture
def installation(db: None) -> Installation:
    return Installation.objects.update_or_create(pk=1, defaults={"secret_fingerprint": b"f", "timeline": None})[0]


def test_the_first_timeline_that_is_known_moves_nothing(installation: Installation) -> None:
    before = scene().request.pk
    assert follow()
    assert before < scene().request.pk < before + 100_000


def test_a_standby_that_takes_over_moves_every_number_on(installation: Installation) -> None:
    before, here = scene(), follow()
    Installation.objects.update(timeline=4711)
    assert follow() == here
    after = scene()
    assert before.request.pk + 100_000 < after.request.pk < before.request.pk + 200_000
    assert before.signers[0].pk + 100_000 < after.signers[0].pk < before.signers[0].pk + 200_000


def test_a_copy_of_the_database_moves_them_on_as_well(installation: Installation) -> None:
    before, here = scene().request.pk, follow()
    give_no_number_twice()
    assert follow() == here
    assert before + 100_000 < scene().request.pk < before + 200_000


@pytest.mark.django_db(transaction=True)
def test_connections_that_are_made_at_once_move_them_on_once(installation: Installation) -> None:
    before = scene().request.pk
    Installation.objects.update(timeline=4711)
    beside_each_other(*[_connect] * 8)
    assert before + 100_000 < scene().request.pk < before + 200_000


def _connect() -> None:
    connection.ensure_connection()  # that of the thread
