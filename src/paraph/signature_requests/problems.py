"""Gathering the problems of a payload, up to a number."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError

MOST_NAMED = 50


class Problem(NamedTuple):
    """``path`` is that of a field under the root key, such as ``signers[1].phone``; "" is the root."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


class InvalidPayloadError(DomainError):
    """A payload is refused for these ``problems``; ``code`` is that of the first."""

    def __init__(self, code: str, message: str, problems: Sequence[Problem]) -> None:
        super().__init__(code, message)
        self.problems = list(problems)


class Flood:
    """How many problems a reading has met. ``full`` says that there are more than are named."""

    def __init__(self) -> None:
        self.problems = 0

    @property
    def full(self) -> bool:
        return self.problems > MOST_NAMED


class Problems:
    """Problems of fields. ``full`` says that there are more than are named, so that callers need not look for
    others; from then on every path counts as wrong, as the problems that are not named may be there."""

    def __init__(self) -> None:
        self.named: list[Problem] = []
        self.full = False

    def __bool__(self) -> bool:
        return bool(self.named)

    def has(self, path: str) -> bool:
        return self.full or any(problem.path == path for problem in self.named)

    def has_below(self, path: str) -> bool:
        """Return whether something is wrong at the path or within it."""
        return self.full or any(re.match(rf"{re.escape(path)}(\W|$)", problem.path) for problem in self.named)

    def add(self, path: str, sentence: str) -> None:
        if len(self.named) == MOST_NAMED:
            self.full = True
        else:
            self.named.append(Problem(path, sentence))

    def message(self) -> str:
        sentences = [str(problem) for problem in self.named]
        return " ".join([*sentences, _("There may be more; checking stopped here.")] if self.full else sentences)

    def refuse(self) -> None:
        """Raise ``validation_error`` with all problems, if there are any."""
        if self:
            raise InvalidPayloadError("validation_error", self.message(), self.named)


def restated(refused: InvalidPayloadError, path_of: Callable[[str], str], known: Problems) -> InvalidPayloadError:
    """Return the refusal of a payload in terms of the source that it was made from: with the paths that its problems
    have there, and with the problems ``known`` there, which replace others at the same path."""
    told, known_paths = Problems(), {problem.path for problem in known.named}
    for problem in refused.problems:
        path = path_of(problem.path)
        if path not in known_paths:
            told.add(path, problem.sentence.removeprefix(f"{problem.path}: "))
    for problem in known.named:
        told.add(problem.path, problem.sentence)
    told.full = told.full or known.full or len(refused.problems) >= MOST_NAMED
    return InvalidPayloadError(refused.code, told.message(), told.named)
