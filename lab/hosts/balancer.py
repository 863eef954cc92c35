"""HAProxy in front of the hosts, with the configuration of docs/proxies.md for several."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.hosts.network import Host
from tests.attacks.front import HOST, documented


@dataclass(frozen=True)
class Balancer:
    control: Path

    def names(self, host: Host) -> bool:
        """Whether the balancer sends requests to that host."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.control))
            connection.sendall(b"show stat\n")
            with connection.makefile() as table:
                rows = [line.split(",") for line in table]
        return any(row[1] == host.name and row[17].startswith("UP") for row in rows if len(row) > 17)


@contextmanager
def balancer(folder: Path, port: int, certificate: Path, hosts: list[Host]) -> Iterator[Balancer]:
    """Yield a running HAProxy that serves HTTPS at that port of this machine."""
    control = folder / "control"
    first, second = hosts
    servers = {"one 10.0.0.11:": f"{first.name} {first.address}:", "two 10.0.0.12:": f"{second.name} {second.address}:"}
    changes = {
        "maxconn 8000": f"maxconn 8000\n    stats socket {control}",
        "bind :80\n": "bind 127.0.0.1:80\n",
        "bind :443 ": f"bind :{port} ",
        f"/etc/haproxy/{HOST}.pem": str(certificate),
        _backend(documented("haproxy", {})): documented("haproxy hosts", servers),
    }
    (folder / "haproxy.cfg").write_text(documented("haproxy", changes))
    with (folder / "haproxy.log").open("wb") as log:
        process = subprocess.Popen(["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], stdout=log, stderr=log)
    try:
        yield Balancer(control)
    finally:
        process.terminate()
        process.wait(30)


def _backend(configuration: str) -> str:
    """Return the last section of the configuration."""
    return configuration[configuration.index("\nbackend paraph\n") + 1 :]
