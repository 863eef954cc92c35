"""The verdict on a signature, a file or evidence, in the words of ETSI EN 319 102-1 V1.3.1 (5.1.3), and the one
place that decides it.

A verdict is decided from faults, each of which carries the sub-indication that it leads to. Only ``TOTAL-PASSED`` says
that something holds. ``TOTAL-FAILED`` needs proof: that bytes were changed, or that a signature was made by somebody
who could not have made it. All else, and whatever was not looked at, is ``INDETERMINATE``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

Indication = Literal["TOTAL-PASSED", "TOTAL-FAILED", "INDETERMINATE"]
SubIndication = Literal[
    "",
    "FORMAT_FAILURE",
    "HASH_FAILURE",
    "SIG_CRYPTO_FAILURE",
    "REVOKED",
    "EXPIRED",
    "NOT_YET_VALID",
    "SIG_CONSTRAINTS_FAILURE",
    "CHAIN_CONSTRAINTS_FAILURE",
    "CERTIFICATE_CHAIN_GENERAL_FAILURE",
    "CRYPTO_CONSTRAINTS_FAILURE",
    "CRYPTO_CONSTRAINTS_FAILURE_NO_POE",
    "NO_SIGNING_CERTIFICATE_FOUND",
    "NO_CERTIFICATE_CHAIN_FOUND",
    "REVOKED_NO_POE",
    "REVOKED_CA_NO_POE",
    "OUT_OF_BOUNDS_NO_POE",
    "NO_POE",
    "SIGNED_DATA_NOT_FOUND",
    "GENERIC",
]
Word = Literal["holds", "altered", "forged", "unknown"]
"""The verdict for people; the texts are the theme ``verdict`` of :mod:`paraph.words`."""

_FAILED: Mapping[str, Word] = {
    "FORMAT_FAILURE": "altered",
    "HASH_FAILURE": "altered",
    "SIG_CRYPTO_FAILURE": "forged",
    "REVOKED": "forged",
    "EXPIRED": "forged",
    "NOT_YET_VALID": "forged",
}
_NOTHING = "Nothing that was found proves it."
_Taken = ParamSpec("_Taken")
_Returned = TypeVar("_Returned")
_Default = TypeVar("_Default")


@dataclass(frozen=True)
class Fault:
    """Why something does not hold. ``sentence``: the reason for people."""

    kind: SubIndication
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """An indication with its sub-indication; ``why``: the reason as a sentence, empty for ``TOTAL-PASSED``."""

    indication: Indication
    sub_indication: SubIndication = ""
    why: str = ""

    @property
    def word(self) -> Word:
        return "holds" if self.indication == "TOTAL-PASSED" else _FAILED.get(self.sub_indication, "unknown")

    def to_json(self) -> dict[str, str]:
        return {"indication": self.indication, "sub_indication": self.sub_indication}


def decide(*, proven: bool, faults: Iterable[Fault]) -> Verdict:
    """Return the verdict. ``proven``: everything that must hold was looked at and holds; ``faults``: in the order in
    which they were found. The first that proves an alteration or a forgery counts, else the first of all."""
    gravest = min(faults, key=lambda fault: fault.kind not in _FAILED, default=None)
    if gravest is None and proven:
        return Verdict("TOTAL-PASSED")
    fault = gravest or Fault("GENERIC", _NOTHING)
    return Verdict("TOTAL-FAILED" if fault.kind in _FAILED else "INDETERMINATE", fault.kind, fault.sentence)


def or_else(default: _Default) -> Callable[[Callable[_Taken, _Returned]], Callable[_Taken, _Returned | _Default]]:
    """Make a function return ``default`` instead of raising: untrusted bytes can make a reader raise anything. Only
    ``MemoryError`` is left for the sandbox to report, as it might hide a revocation or an alteration."""

    def guarded(function: Callable[_Taken, _Returned]) -> Callable[_Taken, _Returned | _Default]:
        @wraps(function)
        def call(*arguments: _Taken.args, **named: _Taken.kwargs) -> _Returned | _Default:
            try:
                return function(*arguments, **named)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 — see above
                return default

        return call

    return guarded


class Refused(ValueError):
    """Something must not be relied on; the message is the reason, ``kind`` the sub-indication that follows from it."""

    kind: SubIndication = "SIG_CONSTRAINTS_FAILURE"

    def __init__(self, reason: str, kind: SubIndication | None = None) -> None:
        super().__init__(reason)
        self.kind = kind or self.kind
