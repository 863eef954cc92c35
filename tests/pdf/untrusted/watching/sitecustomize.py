"""Loaded by Python at its start where this folder is on its path: watches a sandboxed process from its first job on.

Each module that the process then tries to import, and each file that it tries to open by name, is a line in the pipe
:data:`PIPE`. The process was confined before, so no attempt can succeed.
"""

import os
import resource
import sys
from pathlib import Path

PIPE = "watched.pipe"
_EVENTS = ("import", "open", "os.listdir", "os.scandir", "ctypes.dlopen", "subprocess.Popen", "os.posix_spawn")


class _Watch:
    """An audit hook. A process that cannot write to the pipe ends."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._works = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "resource.setrlimit" and arguments[0] == resource.RLIMIT_CPU:  # what a job begins with
            self._works = True
        elif self._works and event in _EVENTS and not isinstance(arguments[0], int):
            os.write(self._pipe, f"{event} {arguments[0]}\n".encode())


for _folder in sys.path:
    if (_path := Path(_folder, PIPE)).is_fifo():
        sys.addaudithook(_Watch(os.open(_path, os.O_WRONLY)))
