"""A sample of many cases for `make test`, and all cases for thorough runs."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[str], every: int) -> list[Any]:
    """Parameters: the first and each ``every``-th after it run in `make test`, the others are marked thorough."""
    return [
        pytest.param(case, id=case, marks=pytest.mark.thorough if number % every else ())
        for number, case in enumerate(cases)
    ]
