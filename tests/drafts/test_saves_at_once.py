"""Two saves of the same draft, as from two windows or from a button pressed twice."""

import threading
import time

import pytest
from django.db import connection, transaction

from paraph.drafts import editing
from paraph.drafts.models import Draft, Placed
from tests.drafts import stored
from tests.drafts.author import author


@pytest.mark.django_db(transaction=True)
def test_the_stamps_of_the_later_save_stand_alone() -> None:
    draft = author().draft()

    def save(x: float) -> None:
        [document], [signer] = draft.files(), draft.signers
        stamp = Placed(document, signer, page_number=1, x=x, y=50, width=200, height=80)
        editing.replace_places(Draft.objects.get(pk=draft.pk), [stamp])

    def save_later() -> None:
        save(2)
        connection.close()

    later = threading.Thread(target=save_later)
    with transaction.atomic():
        save(1)
        later.start()
        time.sleep(0.5)  # it waits for this transaction by now, or will find it done
    later.join()
    assert [stamp.x for stamp in stored.stamps()] == [2]
