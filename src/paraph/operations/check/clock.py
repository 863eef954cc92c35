"""A comparison of clocks: expiry, codes and seals depend on this machine's."""

from datetime import datetime, timedelta

from paraph.operations.check.outcome import Outcome, failed, ok, warning

_NOTICEABLE = timedelta(seconds=3)  # timestamps are whole seconds, and an answer takes a while
_WRONG = timedelta(seconds=60)


def compare_clocks(name: str, whose: str, theirs: datetime, ours: datetime) -> Outcome:
    """Compares two readings taken at about the same moment. ``whose`` names the other clock in the sentence."""
    apart = abs(theirs - ours)
    if apart < _NOTICEABLE:
        return ok(name, f"This machine's clock and {whose} agree within {max(apart.total_seconds(), 0.1):.1f} s.")
    ahead = "behind" if theirs > ours else "ahead of"
    sentence = f"This machine's clock is {apart.total_seconds():.0f} s {ahead} {whose}: set it by NTP."
    return failed(name, sentence) if apart > _WRONG else warning(name, sentence)
