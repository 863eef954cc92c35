"""Answers of sandboxed processes, kept or still awaited: a call with the same question needs no process of its own."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock

from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_KEPT_SECONDS = 600.0
_MOST_KEPT = 1000
_ANSWER_SECONDS = 8.0  # to wait for the answer to an identical call


class SandboxAnswers:
    """Shared answers of one process; thread-safe. A question is the tenant (no tenant learns about another's files),
    the job with its arguments, and the file's digest."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Hashable, tuple[float, Future[JobAnswer]]] = OrderedDict()

    def recall(self, question: Hashable) -> JobAnswer | None:
        """Return the answer kept for the question in the last ten minutes, if any; raise a kept refusal again."""
        with self._lock:
            known = self._fresh(question)
        return _outcome(known) if known and known.done() else None

    def answer(self, question: Hashable, find: Callable[[], JobAnswer], *, keep: bool) -> JobAnswer:
        """Return or raise what ``find`` does; if another thread is asking the same, wait for its outcome. ``keep`` the
        answer, which nobody may change; that a file is too complex is kept in any case. Raise ReadersUnavailable if
        the wait takes too long."""
        with self._lock:
            other, own = self._fresh(question), Future[JobAnswer]()
            if not other:
                self._known[question] = (time.monotonic(), own)
                self._known.move_to_end(question)
                if len(self._known) > _MOST_KEPT:
                    self._known.popitem(last=False)
        if other:
            return _outcome(other)
        try:
            answer = find()
            own.set_result(answer)
        except BaseException as error:
            keep = isinstance(error, PdfRefused) and error.reason == too_complex().reason  # other refusals cost little
            own.set_exception(_again(error) if isinstance(error, PdfRefused) else error)
            raise
        finally:
            if not keep:
                with self._lock:
                    self._known.pop(question, None)
        return answer

    def _fresh(self, question: Hashable) -> Future[JobAnswer] | None:
        since, known = self._known.get(question, (0.0, None))
        return known if known and (not known.done() or time.monotonic() - since < _KEPT_SECONDS) else None


def _outcome(known: Future[JobAnswer]) -> JobAnswer:
    try:
        return known.result(_ANSWER_SECONDS)
    except PdfRefused as refused:
        raise _again(refused) from None
    except (ReadersUnavailable, TimeoutError):
        raise ReadersUnavailable from None


def _again(refused: PdfRefused) -> PdfRefused:
    """Return the refusal without its trace, which holds the file."""
    return PdfRefused(refused.reason, refused.message, refused.facts)
