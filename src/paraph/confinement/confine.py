"""Takes all measures, in the order in which they are compatible."""

import sys
from collections.abc import Callable, Sequence

from paraph.confinement import account, landlock, namespaces, seccomp
from paraph.confinement.libc import PR_SET_NO_NEW_PRIVS, prctl
from paraph.confinement.report import MEASURES, Confinement


def confine(readable: Sequence[str] = (), *, programs: bool = False) -> Confinement:
    """Leave this process only its open descriptors, its memory, and read access to the files below ``readable``.

    This cannot be undone. The process must have a single thread and have imported whatever it needs. If neither
    namespaces nor Landlock can keep other files away, no file can be opened at all, not even in ``readable``.
    ``programs``: whether it may then become a program of one of these folders, which is confined alike. Raises nothing:
    the result says which measures are missing.
    """
    if sys.platform != "linux":
        return Confinement(dict.fromkeys(MEASURES, "this system has none"))
    missing: dict[str, str] = {}
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _attempt("namespaces", missing, lambda: namespaces.enter(readable, programs=programs))
    account.leave_root()
    _attempt("Landlock", missing, lambda: landlock.restrict(readable, programs=programs))
    account.drop_capabilities()
    opening = bool(readable) and not {"namespaces", "Landlock"} <= missing.keys()
    _attempt("seccomp", missing, lambda: seccomp.install(opening=opening, programs=programs))
    return Confinement(missing)


def _attempt(measure: str, missing: dict[str, str], take: Callable[[], None]) -> None:
    try:
        take()
    except (OSError, AttributeError) as error:  # the kernel or the C library does not offer it
        missing[measure] = str(getattr(error, "strerror", None) or error)
