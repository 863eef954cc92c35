"""The nodes of a plan, as ``EXPLAIN (FORMAT JSON)`` tells it."""

from typing import Any


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", []) for node in nodes(part))]
