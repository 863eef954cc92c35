"""Gathering the problems of a payload, up to a number."""

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError

MOST_NAMED = 50


class Problems:
    """Sentences, each with the path of its field. ``full`` says that there are more than are named, so that callers
    need not look for others."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self.full = False

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def add(self, path: str, sentence: str) -> None:
        """Adds a problem. ``path`` is that of a field under the root key, such as ``signers[1].phone``; "" is the
        root."""
        if len(self._sentences) == MOST_NAMED:
            self.full = True
        else:
            self._sentences.append(f"{path}: {sentence}" if path else sentence)

    def message(self) -> str:
        return " ".join([*self._sentences, _("And more, which was not looked at.")] if self.full else self._sentences)

    def refuse(self) -> None:
        """Raises ``validation_error`` with all problems, if there are any."""
        if self:
            raise DomainError("validation_error", self.message())
