"""What is being read and what was too complex: the same question about the same file is answered once."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any

from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex

JobAnswer = tuple[dict[str, Any], bytes]

_KEPT_SECONDS = 600.0
_MOST_REFUSALS = 1000
_PATIENCE_SECONDS = 8.0  # to wait for the answer to an identical call


class SandboxAnswers:
    """Of one process, thread-safe. A question is whoever asks (no party learns what another's files are like), the
    job with its arguments, and the digest of the file."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._refusals: OrderedDict[Hashable, tuple[float, PdfRefused]] = OrderedDict()
        self._pending: dict[Hashable, Future[JobAnswer]] = {}

    def refuse(self, question: Hashable) -> None:
        """Raises PdfRefused again where this was too complex less than ten minutes ago. What is refused for other
        reasons costs little to find out."""
        with self._lock:
            since, refused = self._refusals.get(question, (0.0, None))
        if refused and time.monotonic() - since < _KEPT_SECONDS:
            raise _again(refused)

    def answer(self, question: Hashable, find: Callable[[], JobAnswer]) -> JobAnswer:
        """What ``find`` returns or raises; while another thread is at it, what it does there. Raises
        ReadersUnavailable where that takes it long."""
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
    """Without the way that it was raised on."""
    return PdfRefused(refused.reason, refused.message, refused.facts)
