"""``python -m tests.attacks.inside FACTS``: makes every attempt, each in a confined process of its own, and prints the
outcomes as JSON: ``done``, the name of an error, or the signal that ended the process.

``facts`` also has ``forbidden``: system calls for the kernel to refuse; ``free``: whether to confine nothing; and
``attempts``: which to make. The output has ``missing``: what confinement reports; ``offered``: what the kernel has.
"""

import contextlib
import ctypes
import errno
import json
import os
import signal
import sys
from typing import Any

from paraph.confinement import confine
from tests.attacks.inside.attempts import ALL
from tests.attacks.inside.kernel import forbid, offers

READABLE = ["/usr/share/fonts", "/nowhere"]


def main() -> None:
    secret = ctypes.create_string_buffer(b"the secret of a process of the service")
    where = {"victim": os.getpid(), "address": ctypes.addressof(secret), "length": len(secret)}
    facts = {**json.loads(sys.argv[1]), **where}
    offered = sorted(offers())
    forbid(facts["forbidden"])
    outcomes = {name: _in_a_process(name, facts) for name in facts["attempts"]}
    missing = json.loads(_in_a_process("", facts))
    json.dump({"offered": offered, "missing": missing, "outcomes": outcomes}, sys.stdout)


def _in_a_process(name: str, facts: dict[str, Any]) -> str:
    """Return the outcome of the attempt; without a name, the measures that confinement says are missing."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.write(write, _outcome(name, facts).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return signal.Signals(-status).name if status < 0 else told or "done"  # silent where a program took its place


def _outcome(name: str, facts: dict[str, Any]) -> str:
    found = None if facts["free"] else confine(READABLE)
    if not name:
        return json.dumps(found and dict(found.missing))
    try:
        ALL[name](facts)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


if __name__ == "__main__":
    main()
