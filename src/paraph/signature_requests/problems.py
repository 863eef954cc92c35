"""What is wrong with a payload, gathered until everything was looked at, or too much was wrong."""

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError

MOST_NAMED = 50  # of a payload that is wrong all over, the rest is not looked at


class Problems:
    """Sentences, each with the path of what it is about. ``full``: more than are named were found, and looking for
    further ones helps nobody."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self.full = False

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def add(self, path: str, sentence: str) -> None:
        """``path`` is that of the field under the root key, such as ``signers[1].phone``; "" is the root itself."""
        if len(self._sentences) == MOST_NAMED:
            self.full = True
        else:
            self._sentences.append(f"{path}: {sentence}" if path else sentence)

    def message(self) -> str:
        return " ".join([*self._sentences, _("And more, which was not looked at.")] if self.full else self._sentences)

    def refuse(self) -> None:
        """Raises ``validation_error`` naming them, if there are any."""
        if self:
            raise DomainError("validation_error", self.message())
