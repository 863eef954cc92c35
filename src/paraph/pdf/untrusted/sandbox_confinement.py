"""What keeps the sandboxed processes from the rest of the machine, as one of them tells it."""

from functools import cache

from paraph.confinement import Confinement
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox_process import SandboxLimits, SandboxProcess


@cache
def sandbox_confinement() -> Confinement:
    """Starts a process for it, once: the kernel stays the same. Raises ReadersUnavailable where none can be started."""
    try:
        worker = SandboxProcess(SandboxLimits())
    except OSError as error:
        raise ReadersUnavailable from error
    try:
        return worker.confinement()
    finally:
        worker.end()
