"""Become another program that reads hostile bytes, confined: ``python -P -m paraph.confinement.program``.

``argv``: the process id of the parent, bytes of memory, bytes that it may write, processor seconds, then the absolute
path of the program and its arguments. Files come as open descriptors. End with 125 where the machine's files cannot be
kept out of the program's reach, or only together with the libraries that it needs.
"""

import os
import resource
import sys

from paraph.confinement.confine import confine
from paraph.kernel.machine import follow_parent

FOLDERS = ("/usr", "/lib", "/lib64", "/etc/fonts", "/var/cache/fontconfig")
"""Programs, their libraries, and fonts: the same on every machine, and without data of the service."""
_CONFINED_TOO_LITTLE = 125
_NICENESS = 5  # requests that read no file come first


def main() -> None:
    parent, memory, written, seconds = map(int, sys.argv[1:5])
    program, *arguments = sys.argv[5:]
    follow_parent(parent)
    os.nice(_NICENESS)
    confinement = confine(FOLDERS, programs=True)
    if not confinement.holds or confinement.blind:
        sys.exit(_CONFINED_TOO_LITTLE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.execv(program, [program, *arguments])  # noqa: S606  no shell; the caller names the program


if __name__ == "__main__":
    main()
