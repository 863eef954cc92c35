"""The measures in the order in which they go together."""

import sys
from collections.abc import Callable, Sequence

from paraph.confinement import account, landlock, namespaces, seccomp
from paraph.confinement.libc import PR_SET_NO_NEW_PRIVS, prctl
from paraph.confinement.report import MEASURES, Confinement


def confine(readable: Sequence[str] = ()) -> Confinement:
    """From here on this process has its open descriptors, its memory, and the files below the folders ``readable``, to
    be read. For good, and for a process of one thread, which starts no other: whatever it needs is imported before.

    Where neither namespaces nor Landlock keep other files away, nothing can be opened any more, ``readable`` or not.
    Takes what the kernel has and raises nothing.
    """
    if sys.platform != "linux":
        return Confinement(dict.fromkeys(MEASURES, "this system has none"))
    missing: dict[str, str] = {}
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _attempt("namespaces", missing, lambda: namespaces.enter(readable))
    account.leave_root()
    _attempt("Landlock", missing, lambda: landlock.restrict(readable))
    account.drop_capabilities()
    opening = bool(readable) and not {"namespaces", "Landlock"} <= missing.keys()
    _attempt("seccomp", missing, lambda: seccomp.install(opening=opening))
    return Confinement(missing)


def _attempt(measure: str, missing: dict[str, str], take: Callable[[], None]) -> None:
    try:
        take()
    except (OSError, AttributeError) as error:  # the kernel has not got it, or the C library
        missing[measure] = str(getattr(error, "strerror", None) or error)
