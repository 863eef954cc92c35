"""What is wrong with a payload, gathered until everything was looked at."""

from django.utils.translation import ngettext

from paraph.kernel.errors import DomainError

MOST_NAMED = 50  # of a payload that is wrong all over, the rest is only counted


class Problems:
    """Sentences, each with the path of what it is about."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def add(self, path: str, sentence: str) -> None:
        """``path`` is that of the field under the root key, such as ``signers[1].phone``; "" is the root itself."""
        self._sentences.append(f"{path}: {sentence}" if path else sentence)

    def message(self) -> str:
        named = self._sentences[:MOST_NAMED]
        more = len(self._sentences) - len(named)
        if more:
            named.append(ngettext("And %(count)d more.", "And %(count)d more.", more) % {"count": more})
        return " ".join(named)

    def refuse(self) -> None:
        """Raises ``validation_error`` naming all of them, if there are any."""
        if self:
            raise DomainError("validation_error", self.message())
