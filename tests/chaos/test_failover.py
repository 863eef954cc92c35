"""A standby takes over, in step or behind; ``make chaos`` does it as well."""

from pathlib import Path

import pytest

from lab.chaos.failover import SCENARIOS, place


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_in_step_and_no_number_given_out_twice(name: str, tmp_path: Path) -> None:
    with place(tmp_path) as here:
        SCENARIOS[name](here)
