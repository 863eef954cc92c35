"""The bounds of these tests are real."""

from pathlib import Path

import pytest

from tests.attacks.conftest import Target
from tests.factories import pdf


@pytest.mark.thorough
def test_no_process_of_the_target_can_have_more_memory_than_the_test_gives(target: Target) -> None:
    target.backend().upload(pdf())
    limits = [Path(f"/proc/{number}/limits").read_text() for number in target.processes()]

    [bounds] = {line for text in limits for line in text.splitlines() if line.startswith("Max address space")}
    assert int(bounds.split()[4]) == target.memory
