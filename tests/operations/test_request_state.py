"""What operators see of a request."""

import pytest

from paraph.cli.request import lines_of
from paraph.operations.request_state import request_state
from tests.factories import scene

pytestmark = pytest.mark.django_db


def test_what_its_own_system_knows_it_by() -> None:
    made = scene(external_id="lease-4711", metadata={"street": "Lime Street"})
    state = request_state(made.request.pk)
    assert (state["external_id"], state["metadata"]) == ("lease-4711", {"street": "Lime Street"})
    lines = lines_of(state)
    assert "  external id lease-4711" in lines and "  street: Lime Street" in lines
    bare = request_state(scene().request.pk)
    assert (bare["external_id"], bare["metadata"]) == (None, {})
    assert len(lines_of(bare)) == len(lines) - 2
