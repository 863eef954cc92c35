"""A call of the API as data: what to send, how to read its answer, when to send it again. Both clients run these."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx

from paraph_client.errors import ParaphError

T_co = TypeVar("T_co", covariant=True)
Json = dict[str, Any]
_PASSING = {429, 500, 502, 503, 504}  # statuses after which the same call may succeed
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0  # seconds


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """``options`` are keyword arguments of ``httpx.Client.request``. ``parse`` is given the answer of a success."""

    method: str
    path: str
    parse: Callable[[httpx.Response], T_co]
    options: Json = field(default_factory=dict)

    def read(self, answer: httpx.Response) -> T_co:
        """Raises :class:`ParaphError` for anything but a success."""
        if answer.is_success:
            return self.parse(answer)
        error = _error(answer)
        message = f"The service answered {answer.status_code} without an error body."
        code, message = error.get("code", "unexpected_answer"), error.get("message", message)
        request_id = answer.headers.get("X-Request-Id", "")
        raise ParaphError(answer.status_code, code, message, request_id, retry_after(answer))

    def asking(self, parameters: Json) -> "Call[T_co]":
        """The same call with these parameters in its query instead of those of the same names."""
        return Call(self.method, self.path, self.parse, self.options | {"params": self.parameters | parameters})

    @property
    def parameters(self) -> Json:
        found: Json = self.options.get("params", {})
        return found


class Attempts:
    """The attempts of one call. Every call may be repeated: those that create or change something have an idempotency
    key."""

    def __init__(self, retries: int, seconds: float) -> None:
        self._tried, self._retries = 0, retries
        self._end = time.monotonic() + seconds

    def wait(self, outcome: httpx.Response | httpx.TransportError) -> float | None:
        """Seconds after which the same call is sent again; ``None`` where that is of no use, or would be too late."""
        asked = 0.0
        if isinstance(outcome, httpx.Response):
            if outcome.status_code not in _PASSING and _error(outcome).get("code") != "idempotency_key_in_use":
                return None
            asked = retry_after(outcome) or 0.0
        longest = min(_FIRST_WAIT * 2**self._tried, _LONGEST_WAIT)
        wait = max(asked, random.uniform(longest / 2, longest))  # noqa: S311  so that clients do not come back together
        self._tried += 1
        return wait if self._tried <= self._retries and time.monotonic() + wait <= self._end else None


def retry_after(answer: httpx.Response) -> float | None:
    """Seconds that the answer says to wait; ``None`` where it says nothing."""
    said = answer.headers.get("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else None


def _error(answer: httpx.Response) -> Json:
    """What the envelope of a refusal holds; nothing of an answer that a proxy made."""
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}
