"""What can go wrong."""


class ParaphError(Exception):
    """The service refused. ``code`` is stable; ``message`` is for people, in the language asked for.
    ``request_id`` names the call in the service's log."""

    def __init__(self, status: int, code: str, message: str, request_id: str = "") -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id


class InvalidSignatureError(Exception):
    """A webhook body does not carry the signature of your secret: do not process it."""
