"""``paraph verify`` ends within 10 s of processor and 600 MB with whatever is given to it, without a traceback."""

from pathlib import Path

import pytest

from lab.fuzz.altered.hostile_evidence import CASES, complaint


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_files_that_want_to_use_up_the_machine(name: str, tmp_path: Path) -> None:
    assert complaint(CASES[name](), tmp_path) == ""
