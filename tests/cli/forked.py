"""Commands in processes that are forked from one which has imported the libraries: a new interpreter for each command
would import them again, which is most of its time. Otherwise a command is on its own: it has its own environment,
sets Django up itself, and ends with its own exit status."""

import atexit
import importlib
import json
import os
import runpy
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import Any

from tests import first_start

_LIBRARIES = (
    "attr", "babel.core", "click.testing", "cryptography.x509", "django.contrib.auth.hashers",
    "django.core.management", "django.db.backends.postgresql.base", "django.db.migrations.autodetector",
    "django.forms", "django.urls", "procrastinate", "psycopg_pool", "rich.traceback",
    "structlog.dev", "paraph.cli.session",
    "aiohttp", "httpx", "pikepdf", "pyhanko.sign", "typst",  # imported by what reads and seals PDFs
)  # none of which reads a setting  # fmt: skip


def run(
    module: str, *arguments: str, environment: dict[str, str], given: str = ""
) -> "subprocess.CompletedProcess[str]":
    """The output and exit status of ``python -m module arguments…``. ``given`` is its standard input."""
    asked = {"module": module, "arguments": arguments, "environment": environment, "given": given}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(_address())
        connection.sendall(json.dumps(asked).encode() + b"\n")
        with connection.makefile("rb") as answer:
            told = json.loads(answer.read())
    return subprocess.CompletedProcess([module, *arguments], told["status"], told["output"], told["errors"])


@cache
def _address() -> str:
    """The socket of the process to fork from, which lives as long as this one."""
    folder = tempfile.mkdtemp(prefix="paraph-tests-forked-", dir=os.environ.get(first_start.FOLDER))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARAPH_", "DJANGO_"))}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")
    command = [sys.executable, "-m", __name__, f"{folder}/socket"]
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)
    atexit.register(_end, process, Path(folder))
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return f"{folder}/socket"


def _end(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    process.terminate()
    process.communicate()
    shutil.rmtree(folder, ignore_errors=True)  # at the end of a run of tests it is gone already


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 64

    def service_actions(self) -> None:
        super().service_actions()
        if os.getppid() != _PARENT:
            os._exit(0)


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            given.write(asked["given"].encode())
            given.seek(0)
            for number, file in enumerate((given, output, errors)):
                os.dup2(file.fileno(), number)
            status = _status(asked)
            told = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode() for file in (output, errors)]
        self.wfile.write(json.dumps({"status": status, "output": told[0], "errors": told[1]}).encode())


def _status(asked: dict[str, Any]) -> int:
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = [asked["module"], *asked["arguments"]]
    try:
        runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    except BaseException:  # noqa: BLE001  as an interpreter does
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    _PARENT = os.getppid()
    for library in _LIBRARIES:
        importlib.import_module(library)
    with _Server(sys.argv[1], _Handler) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        server.serve_forever()
