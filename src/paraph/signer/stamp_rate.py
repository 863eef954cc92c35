"""How many previews of a stamp, and of values, a signer may ask for: setting one takes up to 20 ms of a processor."""

from paraph.kernel.errors import DomainError
from paraph.kernel.rates import MinuteRate

PER_MINUTE = 60  # of one signer, in each web process
ENTRIES_PER_MINUTE = 240
VALUES_PER_MINUTE = 240  # pages with values: each entry changes one

_rate = MinuteRate(PER_MINUTE)
_entries = MinuteRate(ENTRIES_PER_MINUTE)
_values = MinuteRate(VALUES_PER_MINUTE)


class TooManyStampsError(DomainError):
    """``retry_after``: seconds until the signer may ask again."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__("rate_limited", f"Too many pictures were drawn; try again in {retry_after} seconds.")


def count_stamp(signer_id: int) -> None:
    """Raise :class:`TooManyStampsError` beyond :data:`PER_MINUTE`."""
    if retry_after := _rate.count(signer_id):
        raise TooManyStampsError(retry_after)


def count_entry(signer_id: int) -> None:
    """Count what is kept of fields, each with a picture. Raise :class:`TooManyStampsError` beyond
    :data:`ENTRIES_PER_MINUTE`."""
    if retry_after := _entries.count(signer_id):
        raise TooManyStampsError(retry_after)


def count_values(signer_id: int) -> None:
    """Count a picture of the values on a page. Raise :class:`TooManyStampsError` beyond :data:`VALUES_PER_MINUTE`."""
    if retry_after := _values.count(signer_id):
        raise TooManyStampsError(retry_after)
