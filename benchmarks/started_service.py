"""A service that benchmarks and the cameras of README.md start: ``paraph serve`` in a folder, and commands for it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

_HOST = "127.0.0.1"
_START_SECONDS = 600  # for a service that hangs: it ends by itself where a part does not start within a minute
_STOP_SECONDS = 30


class StartedService:
    """``paraph serve`` on a free port. ``url``: its address, without a slash at the end."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        """``settings``: the only ones it has, by the names of their variables. Others in the environment may be of a
        real service on this machine, and name databases, stores and gateways that must not be touched."""
        self.data_dir = data_dir
        self._environment = {**_environment_without_settings(), **settings}
        with socket.socket() as probe:
            probe.bind((_HOST, 0))
            self._port = probe.getsockname()[1]
        self.url = f"http://{_HOST}:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id of the supervisor. Raise ``RuntimeError`` before :meth:`start`."""
        if self._process is None:
            raise RuntimeError("the service was not started")
        return self._process.pid

    def start(self) -> None:
        """Start the service and wait until it answers, for as long as it lives. Raise ``RuntimeError`` with the
        last lines of its log when it ends instead, or hangs."""
        with (self.data_dir / "serve.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*_PARAPH, "serve", "--data-dir", str(self.data_dir), "--host", _HOST, "--port", str(self._port)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                lines = (self.data_dir / "serve.log").read_text(errors="replace").splitlines()
                raise RuntimeError("The service did not start:\n" + "\n".join(lines[-15:]))
            time.sleep(0.05)

    def new_sandbox_application(self, webhook_url: str) -> dict[str, Any]:
        """Make an organization with a sandbox application. Return ``api_key``, ``webhook_secret`` and more."""
        organization = self.operate("organization", "create", "Demo", "--plan", "free")
        application: dict[str, Any] = self.operate(
            "application", "create", "--organization", str(organization["id"]),
            "--environment", "sandbox", "--name", "Demo", "--webhook-url", webhook_url,
        )  # fmt: skip
        return application

    def stop(self) -> None:
        """Stop the service and remove its database."""
        self.pause()
        # As root, the folder of the cluster is a link to a folder elsewhere.
        shutil.rmtree((self.data_dir / "postgres").resolve(), ignore_errors=True)

    def pause(self) -> None:
        """Stop the service, which can be started again."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v1/health", timeout=10).status_code == httpx.codes.UNAUTHORIZED
        except httpx.HTTPError:
            return False

    def operate(self, *arguments: str) -> Any:
        done = subprocess.run(
            [*_PARAPH, *arguments, "--data-dir", str(self.data_dir), "--json"],
            capture_output=True,
            check=False,
            env=self._environment,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace").strip())
        return json.loads(done.stdout)


def _environment_without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PARAPH_", "DATABASE_URL"))}


_PARAPH = [sys.executable, "-m", "paraph"]
