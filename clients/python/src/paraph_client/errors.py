"""What can go wrong."""


class ParaphError(Exception):
    """The service refused. ``code`` is stable; ``message`` is for people, in the language asked for.
    ``request_id`` names the call in the service's log. ``retry_after``: seconds after which the same call may succeed,
    where the service names them."""

    def __init__(
        self, status: int, code: str, message: str, request_id: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after


class InvalidSignatureError(Exception):
    """A webhook body does not carry the signature of your secret: do not process it."""
