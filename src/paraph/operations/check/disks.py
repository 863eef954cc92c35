"""How full the disks are that the service writes to."""

from collections.abc import Iterator

from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.operations.resources import folders, used_shares

_WARNING, _FAILED = 0.90, 0.97


def disks() -> Iterator[Outcome]:
    """``disk``: the fullest of them."""
    share, name = max((share, name) for name, share in used_shares().items())
    sentence = f"The disk of the {name} folder {folders()[name]} is {share:.0%} full"
    if share >= _FAILED:
        yield failed("disk", f"{sentence}: nothing more can be written soon.")
    elif share >= _WARNING:
        yield warning("disk", f"{sentence}.")
    else:
        yield ok("disk", f"{sentence}; no other one is fuller.")
