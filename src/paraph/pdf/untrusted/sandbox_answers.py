"""Answers shared between calls: simultaneous identical calls are answered once, recent ``too_complex`` refusals
repeated."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock

from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_KEPT_SECONDS = 600.0
_MOST_REFUSALS = 1000
_PATIENCE_SECONDS = 8.0  # to wait for the answer to an identical call


class SandboxAnswers:
    """Shared answers of one process; thread-safe. A question is the party (no party learns about another's files),
    the job with its arguments, and the file's digest."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._refusals: OrderedDict[Hashable, tuple[float, PdfRefused]] = OrderedDict()
        self._pending: dict[Hashable, Future[JobAnswer]] = {}

    def refuse(self, question: Hashable) -> None:
        """Raise PdfRefused again if the question was too complex less than ten minutes ago. Other refusals cost
        little to find out again."""
        with self._lock:
            since, refused = self._refusals.get(question, (0.0, None))
        if refused and time.monotonic() - since < _KEPT_SECONDS:
            raise _again(refused)

    def answer(self, question: Hashable, find: Callable[[], JobAnswer]) -> JobAnswer:
        """Return or raise what ``find`` does; if another thread is asking the same, wait for its outcome. Raises
        ReadersUnavailable if that takes too long."""
        with self._lock:
            other = self._pending.get(question)
            mine = other or self._pending.setdefault(question, Future())
        return _shared(other) if other else self._found(question, find, mine)

    def _found(self, question: Hashable, find: Callable[[], JobAnswer], future: Future[JobAnswer]) -> JobAnswer:
        try:
            answer = find()
        except BaseException as error:
            if isinstance(error, PdfRefused) and error.reason == too_complex().reason:
                self._keep(question, error)
            self._done(question)
            future.set_exception(error)
            raise
        self._done(question)
        future.set_result(answer)
        return answer

    def _done(self, question: Hashable) -> None:
        with self._lock:
            del self._pending[question]

    def _keep(self, question: Hashable, refused: PdfRefused) -> None:
        with self._lock:
            self._refusals[question] = (time.monotonic(), _again(refused))
            self._refusals.move_to_end(question)
            while len(self._refusals) > _MOST_REFUSALS:
                self._refusals.popitem(last=False)


def _shared(other: Future[JobAnswer]) -> JobAnswer:
    try:
        return other.result(_PATIENCE_SECONDS)
    except PdfRefused as refused:
        raise _again(refused) from None
    except (ReadersUnavailable, TimeoutError):
        raise ReadersUnavailable from None


def _again(refused: PdfRefused) -> PdfRefused:
    """Copy the refusal without its traceback."""
    return PdfRefused(refused.reason, refused.message, refused.facts)
