"""What can go wrong."""


class ParaphError(Exception):
    """The service refused. ``code`` is stable; ``message`` is one sentence in the language asked for."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


class InvalidSignatureError(Exception):
    """A webhook body does not carry the signature of your secret: do not process it."""
