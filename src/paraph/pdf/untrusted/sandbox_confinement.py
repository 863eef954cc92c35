"""The confinement of sandboxed processes on this machine."""

from functools import cache

from paraph.confinement import Confinement
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox_process import SandboxLimits, SandboxProcess


@cache
def sandbox_confinement() -> Confinement:
    """Return it, as told by a process started for that once: the kernel stays the same. Raises ReadersUnavailable if
    none can be started."""
    try:
        worker = SandboxProcess(SandboxLimits())
    except OSError as error:
        raise ReadersUnavailable from error
    try:
        return worker.confinement()
    finally:
        worker.end()
