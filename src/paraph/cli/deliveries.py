"""Webhook deliveries in the words of commands."""

from typing import Any


def last_outcome(delivery: dict[str, Any]) -> str:
    """The error of a delivery's last attempt, or the status of its answer; "" before the first attempt."""
    return delivery["last_error"] or (f"HTTP {delivery['last_status']}" if delivery["last_status"] else "")
