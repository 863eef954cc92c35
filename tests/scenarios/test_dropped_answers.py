"""Answers that are lost after the commit: the clients repeat their calls, and nothing is made twice."""

from pathlib import Path

import pytest

from lab.chaos.dropped_answers import create, judge
from tests.scenarios.conftest import Service

pytestmark = pytest.mark.thorough
CREATIONS = 40


def test_everything_is_there_once(service: Service, tmp_path: Path) -> None:
    key = service.new_key("enterprise", "sandbox")
    assert create(service.url, key, CREATIONS, tmp_path) >= CREATIONS / 2
    judge(service.url, key, service.inbox, CREATIONS)
