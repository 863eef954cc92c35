"""A sample of many cases in short, and all of them where tests take their time."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[str], every: int) -> list[Any]:
    """Parameters of which each so manyeth, from the first on, runs in `make test`; the others are marked thorough."""
    return [
        pytest.param(case, id=case, marks=pytest.mark.thorough if number % every else ())
        for number, case in enumerate(cases)
    ]
