"""Fixtures of tests of operators' verbs."""

from tests.flow.conftest import box

__all__ = ["box"]
